-- Reads many identities, each by its key; nothing is locked.
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
LEFT JOIN LATERAL (
  SELECT r.customer_id, r.amount_cents, r.currency, r.status, r.claim_expires_at FROM billing_records r
  WHERE r.customer_id = i.customer_id AND r.billing_period = i.billing_period LIMIT 1
) b ON true
ORDER BY i.ord
