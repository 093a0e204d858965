-- Reads many identities; nothing is locked.
SELECT i.ord::integer,
  CASE
    WHEN b.customer_id IS NULL THEN 'claimable'
    WHEN b.amount_cents <> i.amount_cents OR b.currency <> i.currency THEN 'differs'
    WHEN b.status <> 'pending' THEN 'settled'
    WHEN b.claim_expires_at <= now() THEN 'claimable'
    ELSE 'in_flight'
  END AS outcome,
  b.status,
  greatest(0, ceil(extract(epoch FROM b.claim_expires_at - now()) * 1000))::bigint AS retry_in_ms
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) WITH ORDINALITY
  AS i(customer_id, billing_period, amount_cents, currency, ord)
LEFT JOIN billing_records b USING (customer_id, billing_period)
ORDER BY i.ord
