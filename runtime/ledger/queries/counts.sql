-- What waits, for metrics and health pages; unresolved: pending for longer than $1 ms since its first claim.
-- Reads only the partial indexes, never the whole table.
SELECT
  (SELECT count(*) FROM billing_records WHERE claim_expires_at IS NOT NULL AND status = 'pending') AS pending,
  (SELECT count(*) FROM billing_records WHERE claim_expires_at <= now() AND status = 'pending') AS expired,
  (SELECT count(*) FROM billing_records WHERE claim_expires_at IS NOT NULL AND status = 'pending'
    AND first_attempted_at <= now() - $1::bigint * interval '1 ms') AS unresolved,
  (SELECT count(*) FROM billing_records WHERE status IN ('processing', 'action_required')) AS waiting
