-- The claim of a batch, in one round trip. VOLATILE plpgsql: under READ COMMITTED each statement below takes a new
-- snapshot, so the answers are read after the inserts and never miss a row that was committed meanwhile.
-- A function and not a transaction of separate statements: one round trip instead of six, and the hot cap rows are not
-- locked across them. Measured on loopback, median for 1 row: 4.0 ms against 7.2 ms; for 500 rows: 26 ms against 52 ms.
-- Lock order, the same in every writer: billing_records by key COLLATE "C", then billing_conflicts, then spend_caps.
-- p_token names this call: a repeat after a lost answer finds its own rows and gets them at the same fence.
-- The planner is kept to index lookups: a plan made while the table was small is cached by the connection.
-- A lock is waited for less long than the worker waits for an answer: a statement that it gave up must not stay behind.
-- An amount of zero is settled on the spot as zero_amount.
CREATE FUNCTION claim_batch(
  p_token text, p_ttl_ms bigint, p_enforce boolean, p_default_currencies text[], p_default_cents bigint[],
  p_customer text[], p_period text[], p_stripe_customer text[], p_payment_method text[], p_amount bigint[],
  p_currency text[], p_description text[], p_metadata text[], p_key text[], p_source text[], p_position text[]
) RETURNS TABLE (
  ord integer, outcome text, retry_in_ms bigint, customer_id text, billing_period text, stripe_customer_id text,
  payment_method text, amount_cents bigint, currency text, description text, metadata jsonb, status text,
  idempotency_key text, attempt integer, payment_intent_id text, confirm_started boolean, reserved boolean, fence bigint
) LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET lock_timeout = '5s' AS $$
#variable_conflict use_column
BEGIN
  -- 1. Insert the missing rows and take over the expired ones. Read first: a row that cannot be claimed is never
  -- locked. DISTINCT ON: one row for each identity, the first of the batch decides. Sorted: no deadlock.
  WITH input AS (
    SELECT * FROM unnest(p_customer, p_period, p_stripe_customer, p_payment_method, p_amount, p_currency,
      p_description, p_metadata, p_key, p_source, p_position) WITH ORDINALITY
      AS i(customer_id, billing_period, stripe_customer_id, payment_method, amount_cents, currency,
        description, metadata, idempotency_key, source, source_position, ord)
  ), wanted AS (
    SELECT DISTINCT ON (i.customer_id COLLATE "C", i.billing_period COLLATE "C") i.*
    FROM input i LEFT JOIN billing_records b USING (customer_id, billing_period)
    WHERE b.customer_id IS NULL
      OR (b.status = 'pending' AND b.claim_expires_at <= now()
        AND b.amount_cents = i.amount_cents AND b.currency = i.currency)
    ORDER BY i.customer_id COLLATE "C", i.billing_period COLLATE "C", i.ord
  )
  INSERT INTO billing_records AS b (customer_id, billing_period, stripe_customer_id, payment_method, amount_cents,
    currency, description, metadata, status, idempotency_key, claimed_by, claim_expires_at, source, source_position,
    settled_at)
  SELECT w.customer_id, w.billing_period, w.stripe_customer_id, w.payment_method, w.amount_cents, w.currency,
    w.description, w.metadata::jsonb, CASE WHEN w.amount_cents = 0 THEN 'zero_amount' ELSE 'pending' END,
    w.idempotency_key, CASE WHEN w.amount_cents > 0 THEN p_token END,
    CASE WHEN w.amount_cents > 0 THEN now() + p_ttl_ms * interval '1 ms' END, w.source, w.source_position,
    CASE WHEN w.amount_cents = 0 THEN now() END
  FROM wanted w
  ON CONFLICT (customer_id, billing_period) DO UPDATE
    SET claimed_by = excluded.claimed_by, claim_expires_at = excluded.claim_expires_at, fence = b.fence + 1
    WHERE b.status = 'pending' AND b.claim_expires_at <= now()
      AND b.amount_cents = excluded.amount_cents AND b.currency = excluded.currency;

  -- 2. Conflicts, against the rows as they are now, whoever wrote them.
  INSERT INTO billing_conflicts (customer_id, billing_period, amount_cents, currency, source, source_position)
  SELECT DISTINCT ON (i.customer_id COLLATE "C", i.billing_period COLLATE "C", i.amount_cents, i.currency COLLATE "C")
    i.customer_id, i.billing_period, i.amount_cents, i.currency, i.source, i.source_position
  FROM unnest(p_customer, p_period, p_amount, p_currency, p_source, p_position)
    AS i(customer_id, billing_period, amount_cents, currency, source, source_position)
  JOIN billing_records b USING (customer_id, billing_period)
  WHERE b.amount_cents <> i.amount_cents OR b.currency <> i.currency
  ORDER BY i.customer_id COLLATE "C", i.billing_period COLLATE "C", i.amount_cents, i.currency COLLATE "C"
  ON CONFLICT DO NOTHING;

  -- 3. Hold the amounts of the rows that are ours and have no hold yet.
  PERFORM reserve_claimed(p_token, p_enforce, p_default_currencies, p_default_cents, p_customer, p_period);

  -- 4. One answer for every input.
  RETURN QUERY
  SELECT i.ord::integer,
    CASE
      WHEN b.amount_cents <> i.amount_cents OR b.currency <> i.currency THEN 'conflict'
      WHEN b.status = 'cap_blocked' THEN 'cap_blocked'
      WHEN b.status <> 'pending' THEN 'settled'
      WHEN b.claimed_by IS DISTINCT FROM p_token THEN 'in_flight'
      WHEN i.ord = min(i.ord) FILTER (WHERE b.amount_cents = i.amount_cents AND b.currency = i.currency)
        OVER (PARTITION BY i.customer_id, i.billing_period) THEN 'mine'
      ELSE 'duplicate'
    END,
    greatest(0, ceil(extract(epoch FROM b.claim_expires_at - now()) * 1000))::bigint,
    b.customer_id, b.billing_period, b.stripe_customer_id, b.payment_method, b.amount_cents, b.currency,
    b.description, b.metadata, b.status, b.idempotency_key, b.attempt, b.payment_intent_id,
    b.confirm_started_at IS NOT NULL, b.reserved, b.fence
  FROM unnest(p_customer, p_period, p_amount, p_currency) WITH ORDINALITY
    AS i(customer_id, billing_period, amount_cents, currency, ord)
  JOIN billing_records b USING (customer_id, billing_period)
  ORDER BY i.ord;
END $$
