-- R12: the last write before a confirm. The first time stands: it belongs to the intent, not to the attempt.
WITH input AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::integer[], $5::text[]) WITH ORDINALITY
    AS i(customer_id, billing_period, fence, attempt, payment_intent_id, ord)
), locked AS MATERIALIZED (
  SELECT i.* FROM billing_records b JOIN input i USING (customer_id, billing_period)
  WHERE b.fence = i.fence AND b.attempt = i.attempt AND b.payment_intent_id = i.payment_intent_id
    AND b.status = 'pending' AND b.reserved
  ORDER BY b.customer_id COLLATE "C", b.billing_period COLLATE "C" FOR UPDATE OF b
)
UPDATE billing_records b SET confirm_started_at = coalesce(b.confirm_started_at, now()), updated_at = now()
FROM locked l WHERE b.customer_id = l.customer_id AND b.billing_period = l.billing_period
RETURNING l.ord::integer
