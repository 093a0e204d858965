-- Takes over rows that nobody works on, oldest first: expired claims, accepted charges that are due for another look,
-- and declines that are read once more before they are closed. Rows locked by others are skipped, so this never waits.
-- Rows that this very call took before its answer was lost ($1) are answered again at the same fence.
WITH candidates AS (
  (SELECT customer_id, billing_period, 0 AS rank, claim_expires_at AS since FROM billing_records
    WHERE claimed_by = $1::text AND claim_expires_at > now())
  UNION ALL
  (SELECT customer_id, billing_period, 1, claim_expires_at FROM billing_records
    WHERE claim_expires_at <= now() AND status = 'pending' ORDER BY claim_expires_at LIMIT $3::integer)
  UNION ALL
  (SELECT customer_id, billing_period, 1, updated_at FROM billing_records
    WHERE status IN ('processing', 'action_required')
      AND updated_at <= now() - least(greatest((now() - first_attempted_at) / 8, $4::bigint * interval '1 ms'), interval '6 hours')
      AND (claim_expires_at IS NULL OR claim_expires_at <= now())
    ORDER BY updated_at LIMIT $3::integer)
  UNION ALL
  (SELECT customer_id, billing_period, 1, updated_at FROM billing_records
    WHERE status IN ('card_declined', 'rejected') AND payment_intent_id IS NOT NULL AND settled_at IS NULL
      AND updated_at <= now() - $5::bigint * interval '1 ms'
      AND (claim_expires_at IS NULL OR claim_expires_at <= now())
    ORDER BY updated_at LIMIT $3::integer)
), locked AS MATERIALIZED (
  SELECT b.customer_id, b.billing_period, b.claimed_by IS NOT DISTINCT FROM $1 AND b.claim_expires_at > now() AS own
  FROM candidates c JOIN billing_records b USING (customer_id, billing_period)
  WHERE (b.claimed_by = $1 AND b.claim_expires_at > now())
    OR ((b.claim_expires_at IS NULL OR b.claim_expires_at <= now())
      AND (b.status = 'pending'
        OR (b.status IN ('processing', 'action_required') AND b.updated_at <= now()
          - least(greatest((now() - b.first_attempted_at) / 8, $4::bigint * interval '1 ms'), interval '6 hours'))
        OR (b.status IN ('card_declined', 'rejected') AND b.payment_intent_id IS NOT NULL AND b.settled_at IS NULL
          AND b.updated_at <= now() - $5::bigint * interval '1 ms')))
  ORDER BY c.rank, c.since
  LIMIT $3::integer
  FOR UPDATE OF b SKIP LOCKED
)
UPDATE billing_records b
SET claimed_by = $1, claim_expires_at = now() + $2::bigint * interval '1 ms',
  fence = CASE WHEN l.own THEN b.fence ELSE b.fence + 1 END
FROM locked l
WHERE b.customer_id = l.customer_id AND b.billing_period = l.billing_period
RETURNING b.customer_id, b.billing_period, b.stripe_customer_id, b.payment_method, b.amount_cents, b.currency,
  b.description, b.metadata, b.status, b.idempotency_key, b.attempt, b.payment_intent_id,
  b.confirm_started_at IS NOT NULL AS confirm_started, b.reserved, b.fence
