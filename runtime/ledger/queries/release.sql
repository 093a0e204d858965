-- Lets the claim expire now. Fenced, so that nobody else's claim is given away.
WITH input AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::integer[]) WITH ORDINALITY
    AS i(customer_id, billing_period, fence, attempt, ord)
), locked AS MATERIALIZED (
  SELECT i.* FROM billing_records b JOIN input i USING (customer_id, billing_period)
  WHERE b.fence = i.fence AND b.status = 'pending' AND b.claim_expires_at > now()
  ORDER BY b.customer_id COLLATE "C", b.billing_period COLLATE "C" FOR UPDATE OF b
)
UPDATE billing_records b SET claim_expires_at = now()
FROM locked l WHERE b.customer_id = l.customer_id AND b.billing_period = l.billing_period
RETURNING l.ord::integer
