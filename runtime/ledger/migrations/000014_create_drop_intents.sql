-- R6: the intent was seen canceled. Clears it, raises the attempt and sets the key of the next create; hold and claim
-- stay. A repeat after a lost answer finds the row as this call left it.
CREATE FUNCTION drop_intents(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  UPDATE billing_records b
  SET payment_intent_id = NULL, confirm_started_at = NULL, status = 'pending', settled_at = NULL,
    attempt = i.attempt + 1, idempotency_key = i.idempotency_key,
    claim_expires_at = coalesce(b.claim_expires_at, now()), updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_intent_id text, idempotency_key text)
  WHERE i.op = 'drop_intent' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence
    AND ((b.attempt = i.attempt AND b.payment_intent_id = i.payment_intent_id
        AND b.status IN ('pending', 'processing', 'action_required', 'card_declined', 'rejected'))
      OR (b.attempt = i.attempt + 1 AND b.payment_intent_id IS NULL AND b.idempotency_key = i.idempotency_key
        AND b.status = 'pending'))
  RETURNING i.ord
$$
