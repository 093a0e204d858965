-- Holds the amounts of the claim's rows against their caps, in batch order; what does not fit becomes cap_blocked.
-- Called by claim_batch after the records are locked: caps are always locked last, and in order. The room is read under
-- the cap's lock, by a statement of its own. A cap without a limit (mode off) is kept all the same, so that the sums are
-- right whatever the mode was; when a limit is enforced, the missing one is set to the currency's default.
CREATE FUNCTION reserve_claimed(
  p_token text, p_enforce boolean, p_default_currencies text[], p_default_cents bigint[],
  p_customer text[], p_period text[]
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  need record;
  cap record;
  allowed bigint;
  room bigint;
  taken bigint;
  fits text[];
BEGIN
  FOR need IN
    SELECT b.billing_period, b.currency, sum(b.amount_cents)::bigint AS total,
      array_agg(b.customer_id ORDER BY i.ord) AS customers, array_agg(b.amount_cents ORDER BY i.ord) AS amounts
    FROM (SELECT customer_id, billing_period, min(ord) AS ord
      FROM unnest(p_customer, p_period) WITH ORDINALITY AS u(customer_id, billing_period, ord)
      GROUP BY customer_id, billing_period) i
    JOIN billing_records b USING (customer_id, billing_period)
    WHERE b.status = 'pending' AND b.claimed_by = p_token AND NOT b.reserved
    GROUP BY b.billing_period, b.currency
    ORDER BY b.billing_period COLLATE "C", b.currency COLLATE "C"
  LOOP
    LOOP
      SELECT * INTO cap FROM spend_caps s
      WHERE s.billing_period = need.billing_period AND s.currency = need.currency FOR UPDATE;
      EXIT WHEN FOUND;
      INSERT INTO spend_caps (billing_period, currency) VALUES (need.billing_period, need.currency)
      ON CONFLICT DO NOTHING;
    END LOOP;
    allowed := coalesce(cap.limit_cents, p_default_cents[array_position(p_default_currencies, need.currency)]);
    room := allowed - cap.reserved_cents - cap.spent_cents;
    taken := 0;
    fits := '{}';
    IF NOT p_enforce OR need.total <= room THEN
      taken := need.total;
      fits := need.customers;
    ELSIF room IS NOT NULL THEN
      FOR n IN 1 .. cardinality(need.customers) LOOP
        CONTINUE WHEN taken + need.amounts[n] > room;
        taken := taken + need.amounts[n];
        fits := fits || need.customers[n];
      END LOOP;
    END IF;
    UPDATE spend_caps s SET reserved_cents = s.reserved_cents + taken, updated_at = now(),
      limit_cents = CASE WHEN p_enforce THEN allowed ELSE s.limit_cents END
    WHERE s.billing_period = need.billing_period AND s.currency = need.currency;
    UPDATE billing_records b SET reserved = true
    WHERE b.billing_period = need.billing_period AND b.customer_id = ANY (fits);
    UPDATE billing_records b
    SET status = 'cap_blocked', claimed_by = NULL, claim_expires_at = NULL, updated_at = now()
    WHERE b.billing_period = need.billing_period AND b.customer_id = ANY (need.customers)
      AND b.claimed_by = p_token AND NOT b.reserved;
  END LOOP;
END $$
