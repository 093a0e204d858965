-- What waits, for health pages: reads only the partial indexes, never the whole table.
SELECT
  (SELECT count(*) FROM billing_records WHERE claim_expires_at IS NOT NULL AND status = 'pending') AS pending,
  (SELECT count(*) FROM billing_records WHERE claim_expires_at <= now() AND status = 'pending') AS expired,
  (SELECT count(*) FROM billing_records WHERE status IN ('processing', 'action_required')) AS waiting
