-- R6: the intent was seen canceled. Clears it, raises the attempt and sets the key of the next create; hold and claim
-- stay. A repeat after a lost answer finds the row as this call left it.
WITH input AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::integer[], $5::text[], $6::text[]) WITH ORDINALITY
    AS i(customer_id, billing_period, fence, attempt, payment_intent_id, idempotency_key, ord)
), locked AS MATERIALIZED (
  SELECT i.* FROM billing_records b JOIN input i USING (customer_id, billing_period)
  WHERE b.fence = i.fence
    AND ((b.attempt = i.attempt AND b.payment_intent_id = i.payment_intent_id
        AND b.status IN ('pending', 'processing', 'action_required', 'card_declined', 'rejected'))
      OR (b.attempt = i.attempt + 1 AND b.payment_intent_id IS NULL AND b.idempotency_key = i.idempotency_key
        AND b.status = 'pending'))
  ORDER BY b.customer_id COLLATE "C", b.billing_period COLLATE "C" FOR UPDATE OF b
)
UPDATE billing_records b
SET payment_intent_id = NULL, confirm_started_at = NULL, status = 'pending', settled_at = NULL,
  attempt = l.attempt + 1, idempotency_key = l.idempotency_key,
  claim_expires_at = coalesce(b.claim_expires_at, now()), updated_at = now()
FROM locked l WHERE b.customer_id = l.customer_id AND b.billing_period = l.billing_period
RETURNING l.ord::integer, b.customer_id, b.billing_period, b.stripe_customer_id, b.payment_method, b.amount_cents,
  b.currency, b.description, b.metadata, b.status, b.idempotency_key, b.attempt, b.payment_intent_id,
  b.confirm_started_at IS NOT NULL AS confirm_started, b.reserved, b.fence
