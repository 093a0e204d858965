-- Rows that are not finished, oldest first, for people. Reads only the partial indexes, never the whole table.
WITH open AS (
  SELECT customer_id, billing_period FROM billing_records
    WHERE claim_expires_at IS NOT NULL AND status = 'pending'
  UNION ALL
  SELECT customer_id, billing_period FROM billing_records
    WHERE status IN ('processing', 'action_required')
  UNION ALL
  SELECT customer_id, billing_period FROM billing_records
    WHERE status IN ('card_declined', 'rejected') AND payment_intent_id IS NOT NULL AND settled_at IS NULL
), total AS (
  SELECT count(*) AS rows FROM open
)
SELECT b.customer_id, b.billing_period, b.status, b.amount_cents, b.currency, b.attempt, b.payment_intent_id,
  b.confirm_started_at IS NOT NULL AS confirm_started, b.error, b.decline_code, b.source, b.source_position,
  CASE WHEN b.claim_expires_at > now() THEN b.claimed_by END AS claimed_by,
  floor(extract(epoch FROM now() - b.first_attempted_at) * 1000)::bigint AS age_ms,
  total.rows AS total
FROM open JOIN billing_records b USING (customer_id, billing_period) CROSS JOIN total
ORDER BY b.first_attempted_at, b.customer_id, b.billing_period
LIMIT $1::integer
