-- Holds the amounts of the claim's rows against their caps, in batch order; what does not fit becomes cap_blocked.
-- Called by claim_batch after the records are locked: caps are always locked last, in order. The room is read under
-- the cap's lock. A cap without a limit (mode off) is kept all the same, so that changing the mode keeps the sums.
CREATE FUNCTION reserve_claimed(
  p_token text, p_enforce boolean, p_default_currencies text[], p_default_cents bigint[],
  p_customer text[], p_period text[]
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  cap record;
  item record;
  room bigint;
  taken bigint;
  fits integer[];
  blocked integer[];
BEGIN
  -- The caps that are missing, in lock order.
  INSERT INTO spend_caps (billing_period, currency, limit_cents)
  SELECT DISTINCT b.billing_period, b.currency, CASE WHEN p_enforce THEN d.cents END
  FROM unnest(p_customer, p_period) AS i(customer_id, billing_period)
  JOIN billing_records b USING (customer_id, billing_period)
  LEFT JOIN unnest(p_default_currencies, p_default_cents) AS d(currency, cents) ON d.currency = b.currency
  LEFT JOIN spend_caps s ON s.billing_period = b.billing_period AND s.currency = b.currency
  WHERE b.status = 'pending' AND b.claimed_by = p_token AND NOT b.reserved AND s.billing_period IS NULL
  ORDER BY b.billing_period, b.currency
  ON CONFLICT (billing_period, currency) DO NOTHING;

  FOR cap IN
    SELECT s.billing_period, s.currency, s.reserved_cents, s.spent_cents, d.cents AS default_cents,
      CASE WHEN p_enforce THEN coalesce(s.limit_cents, d.cents) END AS allowed, s.limit_cents
    FROM spend_caps s
    LEFT JOIN unnest(p_default_currencies, p_default_cents) AS d(currency, cents) ON d.currency = s.currency
    WHERE EXISTS (
      SELECT FROM unnest(p_customer, p_period) AS i(customer_id, billing_period)
      JOIN billing_records b USING (customer_id, billing_period)
      WHERE b.billing_period = s.billing_period AND b.currency = s.currency
        AND b.status = 'pending' AND b.claimed_by = p_token AND NOT b.reserved)
    ORDER BY s.billing_period COLLATE "C", s.currency COLLATE "C"
    FOR UPDATE OF s
  LOOP
    room := cap.allowed - cap.reserved_cents - cap.spent_cents;
    taken := 0;
    fits := '{}';
    blocked := '{}';
    FOR item IN
      SELECT min(i.ord)::integer AS ord, b.amount_cents
      FROM unnest(p_customer, p_period) WITH ORDINALITY AS i(customer_id, billing_period, ord)
      JOIN billing_records b USING (customer_id, billing_period)
      WHERE b.billing_period = cap.billing_period AND b.currency = cap.currency
        AND b.status = 'pending' AND b.claimed_by = p_token AND NOT b.reserved
      GROUP BY b.customer_id, b.billing_period, b.amount_cents
      ORDER BY 1
    LOOP
      IF NOT p_enforce OR (cap.allowed IS NOT NULL AND taken + item.amount_cents <= room) THEN
        taken := taken + item.amount_cents;
        fits := fits || item.ord;
      ELSE
        blocked := blocked || item.ord;
      END IF;
    END LOOP;
    UPDATE spend_caps s
    SET reserved_cents = s.reserved_cents + taken, updated_at = now(),
      limit_cents = CASE WHEN p_enforce THEN cap.allowed ELSE s.limit_cents END
    WHERE s.billing_period = cap.billing_period AND s.currency = cap.currency;
    UPDATE billing_records b SET reserved = true
    FROM unnest(fits) AS f(ord)
    WHERE b.customer_id = p_customer[f.ord] AND b.billing_period = p_period[f.ord];
    UPDATE billing_records b
    SET status = 'cap_blocked', claimed_by = NULL, claim_expires_at = NULL, updated_at = now()
    FROM unnest(blocked) AS f(ord)
    WHERE b.customer_id = p_customer[f.ord] AND b.billing_period = p_period[f.ord];
  END LOOP;
END $$
