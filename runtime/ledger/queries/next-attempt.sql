-- R7: attempt n+1 on the same intent, or with a new create key while there is no intent. confirm_started_at stays: it
-- belongs to the intent. A repeat after a lost answer finds the row as this call left it.
WITH input AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::integer[], $5::text[], $6::text[]) WITH ORDINALITY
    AS i(customer_id, billing_period, fence, attempt, payment_intent_id, idempotency_key, ord)
), locked AS MATERIALIZED (
  SELECT i.* FROM billing_records b JOIN input i USING (customer_id, billing_period)
  WHERE b.fence = i.fence AND b.status = 'pending' AND b.payment_intent_id IS NOT DISTINCT FROM i.payment_intent_id
    AND (i.idempotency_key IS NULL OR b.payment_intent_id IS NULL)
    AND (b.attempt = i.attempt
      OR (b.attempt = i.attempt + 1 AND b.idempotency_key = coalesce(i.idempotency_key, b.idempotency_key)))
  ORDER BY b.customer_id COLLATE "C", b.billing_period COLLATE "C" FOR UPDATE OF b
)
UPDATE billing_records b
SET attempt = l.attempt + 1, idempotency_key = coalesce(l.idempotency_key, b.idempotency_key), updated_at = now()
FROM locked l WHERE b.customer_id = l.customer_id AND b.billing_period = l.billing_period
RETURNING l.ord::integer, b.customer_id, b.billing_period, b.stripe_customer_id, b.payment_method, b.amount_cents,
  b.currency, b.description, b.metadata, b.status, b.idempotency_key, b.attempt, b.payment_intent_id,
  b.confirm_started_at IS NOT NULL AS confirm_started, b.reserved, b.fence
