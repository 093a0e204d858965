-- R12: the last write before a confirm. The first time stands: it belongs to the intent, not to the attempt.
CREATE FUNCTION open_gates(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  UPDATE billing_records b SET confirm_started_at = coalesce(b.confirm_started_at, now()), updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_intent_id text)
  WHERE i.op = 'gate' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.attempt = i.attempt AND b.payment_intent_id = i.payment_intent_id
    AND b.status = 'pending' AND b.reserved
  RETURNING i.ord
$$
