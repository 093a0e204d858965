-- Writes outcomes and moves their holds. The only function that ends a row:
--   pending, processing, action_required, card_declined, rejected -> processing, action_required, card_declined, rejected
--   anything but zero_amount -> charged
-- R13: charged at any fence, if the intent is the row's. R11: everything else needs fence, attempt and intent. R8:
-- charged and zero_amount are never overwritten. R9: a hold becomes spend when charged, and is freed only by a rejection
-- before there was an intent. R10: the hold flips with the cap, so a repeated settlement moves nothing twice.
-- The same status again, without a reason, keeps the reason it has: a closing read must not forget why it was declined.
-- The caps are locked after the records, in order.
CREATE FUNCTION settle_rows(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  WITH allowed AS (
    SELECT i.*, b.reserved AS held
    FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
      attempt integer, payment_intent_id text, status text, charge_id text, error text, decline_code text,
      closed boolean)
    JOIN billing_records b USING (customer_id, billing_period)
    WHERE i.op = 'settle' AND b.payment_intent_id IS NOT DISTINCT FROM i.payment_intent_id
      AND ((i.status = 'charged' AND i.payment_intent_id IS NOT NULL AND b.status <> 'zero_amount')
        OR (i.status <> 'charged' AND b.fence = i.fence AND b.attempt = i.attempt
          AND b.status IN ('pending', 'processing', 'action_required', 'card_declined', 'rejected')))
  ), written AS (
    UPDATE billing_records b SET status = a.status, charge_id = coalesce(a.charge_id, b.charge_id),
      error = coalesce(a.error, CASE WHEN a.status = b.status THEN b.error END),
      decline_code = coalesce(a.decline_code, CASE WHEN a.status = b.status THEN b.decline_code END),
      claimed_by = NULL, claim_expires_at = NULL, updated_at = now(),
      reserved = b.reserved AND a.status <> 'charged' AND NOT (a.status = 'rejected' AND b.payment_intent_id IS NULL),
      settled_at = CASE
        WHEN a.status = 'charged' OR (a.status = 'rejected' AND b.payment_intent_id IS NULL) THEN now()
        WHEN a.closed AND a.status IN ('card_declined', 'rejected') THEN now()
      END
    FROM allowed a
    WHERE b.customer_id = a.customer_id AND b.billing_period = a.billing_period
      AND b.status NOT IN ('charged', 'zero_amount')
    RETURNING b.billing_period, b.currency, b.status, b.amount_cents, a.held AND NOT b.reserved AS freed
  ), moved AS (
    SELECT billing_period, currency, coalesce(sum(amount_cents) FILTER (WHERE freed), 0) AS freed,
      coalesce(sum(amount_cents) FILTER (WHERE status = 'charged'), 0) AS spent
    FROM written GROUP BY billing_period, currency
  ), caps AS MATERIALIZED (
    SELECT s.billing_period, s.currency, m.freed, m.spent
    FROM spend_caps s JOIN moved m USING (billing_period, currency)
    WHERE m.freed > 0 OR m.spent > 0
    ORDER BY s.billing_period COLLATE "C", s.currency COLLATE "C" FOR UPDATE OF s
  ), counted AS (
    UPDATE spend_caps s SET reserved_cents = s.reserved_cents - c.freed, spent_cents = s.spent_cents + c.spent,
      updated_at = now()
    FROM caps c WHERE s.billing_period = c.billing_period AND s.currency = c.currency
  )
  SELECT ord FROM allowed
$$
