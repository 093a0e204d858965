-- R3, R4: fenced, held, and insert-once; the same intent again (its answer was lost) is a success.
CREATE FUNCTION save_intents(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  UPDATE billing_records b SET payment_intent_id = i.payment_intent_id, updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_intent_id text)
  WHERE i.op = 'save_intent' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.attempt = i.attempt AND b.status = 'pending' AND b.reserved
    AND (b.payment_intent_id IS NULL OR b.payment_intent_id = i.payment_intent_id)
  RETURNING i.ord
$$
