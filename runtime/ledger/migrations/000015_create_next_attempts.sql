-- R7: attempt n+1 on the same intent, or with a new create key while there is no intent. confirm_started_at stays: it
-- belongs to the intent. A repeat after a lost answer finds the row as this call left it.
CREATE FUNCTION next_attempts(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  UPDATE billing_records b
  SET attempt = i.attempt + 1, idempotency_key = coalesce(i.idempotency_key, b.idempotency_key), updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_intent_id text, idempotency_key text)
  WHERE i.op = 'next_attempt' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.status = 'pending' AND b.payment_intent_id IS NOT DISTINCT FROM i.payment_intent_id
    AND (i.idempotency_key IS NULL OR b.payment_intent_id IS NULL)
    AND (b.attempt = i.attempt
      OR (b.attempt = i.attempt + 1 AND b.idempotency_key = coalesce(i.idempotency_key, b.idempotency_key)))
  RETURNING i.ord
$$
