-- Writes outcomes and moves their holds. R13: charged at any fence, if the intent is the row's. R11: everything else
-- needs fence, attempt and intent. R8: charged and zero_amount are never overwritten. R9: a hold becomes spend when
-- charged, and is freed only by a rejection before there was an intent. R10: the hold flips with the cap, so a
-- repeated settlement moves nothing twice; it is answered like the first.
WITH input AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::integer[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::boolean[]) WITH ORDINALITY
    AS i(customer_id, billing_period, fence, attempt, payment_intent_id, status, charge_id, error, decline_code,
      closed, ord)
), locked AS MATERIALIZED (
  SELECT i.*, b.status AS was, b.reserved AS held FROM billing_records b JOIN input i USING (customer_id, billing_period)
  WHERE b.payment_intent_id IS NOT DISTINCT FROM i.payment_intent_id
    AND ((i.status = 'charged' AND i.payment_intent_id IS NOT NULL AND b.status <> 'zero_amount')
      OR (i.status <> 'charged' AND b.fence = i.fence AND b.attempt = i.attempt
        AND b.status IN ('pending', 'processing', 'action_required', 'card_declined', 'rejected')))
  ORDER BY b.customer_id COLLATE "C", b.billing_period COLLATE "C" FOR UPDATE OF b
), written AS (
  UPDATE billing_records b SET status = l.status, charge_id = coalesce(l.charge_id, b.charge_id), error = l.error,
    decline_code = l.decline_code, claimed_by = NULL, claim_expires_at = NULL, updated_at = now(),
    reserved = b.reserved AND l.status <> 'charged' AND NOT (l.status = 'rejected' AND b.payment_intent_id IS NULL),
    settled_at = CASE
      WHEN l.status = 'charged' OR (l.status = 'rejected' AND b.payment_intent_id IS NULL) THEN now()
      WHEN l.closed AND l.status IN ('card_declined', 'rejected') THEN now()
    END
  FROM locked l
  WHERE b.customer_id = l.customer_id AND b.billing_period = l.billing_period
    AND b.status NOT IN ('charged', 'zero_amount')
  RETURNING b.billing_period, b.currency, b.status, b.amount_cents, l.held AND NOT b.reserved AS freed
), moved AS (
  SELECT billing_period, currency, coalesce(sum(amount_cents) FILTER (WHERE freed), 0) AS freed,
    coalesce(sum(amount_cents) FILTER (WHERE status = 'charged'), 0) AS spent
  FROM written GROUP BY billing_period, currency
), caps AS MATERIALIZED (
  SELECT s.billing_period, s.currency, m.freed, m.spent
  FROM spend_caps s JOIN moved m USING (billing_period, currency)
  WHERE m.freed > 0 OR m.spent > 0
  ORDER BY s.billing_period COLLATE "C", s.currency COLLATE "C" FOR UPDATE OF s
), spend AS (
  UPDATE spend_caps s SET reserved_cents = s.reserved_cents - c.freed, spent_cents = s.spent_cents + c.spent,
    updated_at = now()
  FROM caps c WHERE s.billing_period = c.billing_period AND s.currency = c.currency
)
SELECT ord::integer FROM locked
