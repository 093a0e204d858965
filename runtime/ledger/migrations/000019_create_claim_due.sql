-- Takes over rows that nobody works on, oldest first: expired claims, accepted charges that are due for another look,
-- and declines that are read once more before they are closed. Oldest: since its last claim, if that came to nothing, so
-- that rows which never move on take turns with the others. Rows locked by others are skipped, so this never waits.
-- Rows that this very call took before its answer was lost (p_token) are answered again at the same fence.
CREATE FUNCTION claim_due(
  p_token text, p_ttl_ms bigint, p_limit integer, p_overdue_ms bigint, p_recheck_ms bigint, p_closing_ms bigint
) RETURNS SETOF billing_records LANGUAGE sql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  WITH candidates AS MATERIALIZED (
    (SELECT customer_id, billing_period, 0 AS rank, claim_expires_at AS since FROM billing_records
      WHERE claim_expires_at > now() AND claimed_by = p_token)
    UNION ALL
    (SELECT customer_id, billing_period, 1, claim_expires_at FROM billing_records
      WHERE claim_expires_at <= now() - p_overdue_ms * interval '1 ms' AND status = 'pending'
      ORDER BY claim_expires_at LIMIT p_limit)
    UNION ALL
    (SELECT customer_id, billing_period, 1, greatest(updated_at, claim_expires_at) AS since FROM billing_records
      WHERE status IN ('processing', 'action_required') AND (claim_expires_at IS NULL OR claim_expires_at <= now())
        AND updated_at <= now()
          - least(greatest((now() - first_attempted_at) / 8, p_recheck_ms * interval '1 ms'), interval '6 hours')
      ORDER BY since LIMIT p_limit)
    UNION ALL
    (SELECT customer_id, billing_period, 1, greatest(updated_at, claim_expires_at) AS since FROM billing_records
      WHERE status IN ('card_declined', 'rejected') AND payment_intent_id IS NOT NULL AND settled_at IS NULL
        AND (claim_expires_at IS NULL OR claim_expires_at <= now())
        AND updated_at <= now() - p_closing_ms * interval '1 ms'
      ORDER BY since LIMIT p_limit)
  ), locked AS MATERIALIZED (
    SELECT b.customer_id, b.billing_period, c.rank = 0 AS own
    FROM candidates c JOIN billing_records b USING (customer_id, billing_period)
    -- Again, because somebody may have moved the row between the read and the lock.
    WHERE CASE
      WHEN c.rank = 0 THEN b.claimed_by = p_token
      WHEN b.claim_expires_at > now() THEN false
      WHEN b.status = 'pending' THEN b.claim_expires_at <= now() - p_overdue_ms * interval '1 ms'
      WHEN b.status IN ('processing', 'action_required') THEN b.updated_at <= now()
        - least(greatest((now() - b.first_attempted_at) / 8, p_recheck_ms * interval '1 ms'), interval '6 hours')
      WHEN b.status IN ('card_declined', 'rejected') THEN b.payment_intent_id IS NOT NULL AND b.settled_at IS NULL
        AND b.updated_at <= now() - p_closing_ms * interval '1 ms'
      ELSE false
    END
    ORDER BY c.rank, c.since
    LIMIT p_limit
    FOR UPDATE OF b SKIP LOCKED
  )
  UPDATE billing_records b
  SET claimed_by = p_token, claim_expires_at = now() + p_ttl_ms * interval '1 ms',
    fence = CASE WHEN l.own THEN b.fence ELSE b.fence + 1 END
  FROM locked l
  WHERE b.customer_id = l.customer_id AND b.billing_period = l.billing_period
  RETURNING b.*
$$
