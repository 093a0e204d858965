// Made by `npm run gen` from migrations/ and queries/. Do not edit.

export const MIGRATIONS = [
  { version: 1, name: 'create_ledger_meta', sql: `-- One row: which schema this is, and which Stripe account and mode it is bound to.
CREATE TABLE ledger_meta (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  schema_version integer NOT NULL,
  -- The lowest schema version a runtime must know to work here; raised only by a breaking migration.
  min_runtime_version integer NOT NULL DEFAULT 1,
  -- Stands in the metadata of every intent, so that the intents of a restored ledger can be told from another's.
  ledger_id uuid NOT NULL DEFAULT gen_random_uuid(),
  livemode boolean,
  stripe_account text COLLATE "C",
  created_at timestamptz NOT NULL DEFAULT now()
)` },
  { version: 2, name: 'create_billing_records', sql: `-- One row for each (customer, billing period), for ever. Keys compare bytewise, so that every client sorts them alike.
CREATE TABLE billing_records (
  customer_id text COLLATE "C" NOT NULL,
  billing_period text COLLATE "C" NOT NULL,
  stripe_customer_id text NOT NULL,
  payment_method text,
  amount_cents bigint NOT NULL CHECK (amount_cents >= 0),
  currency text COLLATE "C" NOT NULL,
  description text,
  metadata jsonb,
  status text COLLATE "C" NOT NULL CHECK (status IN (
    'pending', 'charged', 'processing', 'card_declined', 'action_required',
    'cap_blocked', 'rejected', 'zero_amount', 'abandoned')),
  idempotency_key text NOT NULL CHECK (idempotency_key <> ''),
  attempt integer NOT NULL DEFAULT 1,
  payment_intent_id text COLLATE "C" UNIQUE,
  -- Belongs to the intent: null behind a raised fence proves that nothing was confirmed.
  confirm_started_at timestamptz,
  charge_id text,
  error text,
  decline_code text,
  -- Whether the amount is held against the cap; flipped in the same transaction as the cap.
  reserved boolean NOT NULL DEFAULT false,
  claimed_by text COLLATE "C",
  claim_expires_at timestamptz,
  fence bigint NOT NULL DEFAULT 1,
  source text,
  source_position text,
  first_attempted_at timestamptz NOT NULL DEFAULT now(),
  settled_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Last change of the row's state; a claim alone does not count.
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (customer_id, billing_period),
  -- A pending row always has a claim that can expire, so that it never belongs to nobody.
  CHECK (status <> 'pending' OR claim_expires_at IS NOT NULL),
  CHECK (status <> 'charged' OR (payment_intent_id IS NOT NULL AND NOT reserved))
)` },
  { version: 3, name: 'index_claims', sql: `CREATE INDEX billing_records_claims ON billing_records (claim_expires_at) WHERE claim_expires_at IS NOT NULL` },
  { version: 4, name: 'index_waiting', sql: `CREATE INDEX billing_records_waiting ON billing_records (updated_at) WHERE status IN ('processing', 'action_required')` },
  { version: 5, name: 'index_unread_declines', sql: `CREATE INDEX billing_records_unread_declines ON billing_records (updated_at)
  WHERE status IN ('card_declined', 'rejected') AND payment_intent_id IS NOT NULL AND settled_at IS NULL` },
  { version: 6, name: 'create_billing_conflicts', sql: `-- The same identity with another amount or currency: recorded once each, never charged.
CREATE TABLE billing_conflicts (
  customer_id text COLLATE "C" NOT NULL,
  billing_period text COLLATE "C" NOT NULL,
  amount_cents bigint NOT NULL,
  currency text COLLATE "C" NOT NULL,
  source text,
  source_position text,
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (customer_id, billing_period, amount_cents, currency)
)` },
  { version: 7, name: 'create_spend_caps', sql: `-- What a period may cost, holds and has cost. Sums are kept whether or not a limit is set.
CREATE TABLE spend_caps (
  billing_period text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  -- Null: no limit.
  limit_cents bigint CHECK (limit_cents >= 0),
  reserved_cents bigint NOT NULL DEFAULT 0 CHECK (reserved_cents >= 0),
  spent_cents bigint NOT NULL DEFAULT 0 CHECK (spent_cents >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (billing_period, currency)
)` },
  { version: 8, name: 'create_dead_letters', sql: `-- Deliveries that are no event, as they arrived. One for each source position, so that a redelivery adds none.
CREATE TABLE dead_letters (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  source text COLLATE "C" NOT NULL,
  source_position text COLLATE "C" NOT NULL,
  partition_key text NOT NULL,
  body bytea NOT NULL,
  reason text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  UNIQUE (source, source_position)
)` },
  { version: 9, name: 'create_reserve_claimed', sql: `-- Holds the amounts of the claim's rows against their caps, in batch order; what does not fit becomes cap_blocked.
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
END $$` },
  { version: 10, name: 'create_claim_batch', sql: `-- The claim of a batch, in one round trip. VOLATILE plpgsql: under READ COMMITTED each statement below takes a new
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
END $$` },
  { version: 11, name: 'create_freeze_payment_methods', sql: `-- R15: fenced, and only once; the same method again is a success.
CREATE FUNCTION freeze_payment_methods(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  UPDATE billing_records b SET payment_method = i.payment_method, updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_method text)
  WHERE i.op = 'freeze_payment_method' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.attempt = i.attempt AND b.status = 'pending'
    AND (b.payment_method IS NULL OR b.payment_method = i.payment_method)
  RETURNING i.ord
$$` },
  { version: 12, name: 'create_save_intents', sql: `-- R3, R4: fenced, held, and insert-once; the same intent again (its answer was lost) is a success.
CREATE FUNCTION save_intents(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  UPDATE billing_records b SET payment_intent_id = i.payment_intent_id, updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_intent_id text)
  WHERE i.op = 'save_intent' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.attempt = i.attempt AND b.status = 'pending' AND b.reserved
    AND (b.payment_intent_id IS NULL OR b.payment_intent_id = i.payment_intent_id)
  RETURNING i.ord
$$` },
  { version: 13, name: 'create_open_gates', sql: `-- R12: the last write before a confirm. The first time stands: it belongs to the intent, not to the attempt.
CREATE FUNCTION open_gates(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  UPDATE billing_records b SET confirm_started_at = coalesce(b.confirm_started_at, now()), updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_intent_id text)
  WHERE i.op = 'gate' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.attempt = i.attempt AND b.payment_intent_id = i.payment_intent_id
    AND b.status = 'pending' AND b.reserved
  RETURNING i.ord
$$` },
  { version: 14, name: 'create_drop_intents', sql: `-- R6: the intent was seen canceled. Clears it, raises the attempt and sets the key of the next create; hold and claim
-- stay. A repeat after a lost answer finds the row as this call left it.
CREATE FUNCTION drop_intents(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  UPDATE billing_records b
  SET payment_intent_id = NULL, confirm_started_at = NULL, status = 'pending', settled_at = NULL,
    attempt = i.attempt + 1, idempotency_key = i.idempotency_key,
    claim_expires_at = coalesce(b.claim_expires_at, now()), updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_intent_id text, idempotency_key text)
  WHERE i.op = 'drop_intent' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence
    AND ((b.attempt = i.attempt AND b.payment_intent_id = i.payment_intent_id
        AND b.status IN ('pending', 'processing', 'action_required', 'card_declined', 'rejected'))
      OR (b.attempt = i.attempt + 1 AND b.payment_intent_id IS NULL AND b.idempotency_key = i.idempotency_key
        AND b.status = 'pending'))
  RETURNING i.ord
$$` },
  { version: 15, name: 'create_next_attempts', sql: `-- R7: attempt n+1 on the same intent, or with a new create key while there is no intent. confirm_started_at stays: it
-- belongs to the intent. A repeat after a lost answer finds the row as this call left it.
CREATE FUNCTION next_attempts(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  UPDATE billing_records b
  SET attempt = i.attempt + 1, idempotency_key = coalesce(i.idempotency_key, b.idempotency_key), updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_intent_id text, idempotency_key text)
  WHERE i.op = 'next_attempt' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.status = 'pending' AND b.payment_intent_id IS NOT DISTINCT FROM i.payment_intent_id
    AND (i.idempotency_key IS NULL OR b.payment_intent_id IS NULL)
    AND (b.attempt = i.attempt
      OR (b.attempt = i.attempt + 1 AND b.idempotency_key = coalesce(i.idempotency_key, b.idempotency_key)))
  RETURNING i.ord
$$` },
  { version: 16, name: 'create_release_claims', sql: `-- Lets a claim expire now. Fenced, so that nobody else's claim is given away.
CREATE FUNCTION release_claims(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  UPDATE billing_records b SET claim_expires_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint)
  WHERE i.op = 'release' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.status = 'pending' AND b.claim_expires_at > now()
  RETURNING i.ord
$$` },
  { version: 17, name: 'create_settle_rows', sql: `-- Writes outcomes and moves their holds. The only function that ends a row:
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
$$` },
  { version: 18, name: 'create_write_batch', sql: `-- Writes of one row each, of any kind, in one round trip: at most one for a row. First all rows are locked in order;
-- each function then takes a new snapshot, so it sees them as they are and waits for nobody but the caps.
-- The planner is kept to index lookups: a plan made while the table was small is cached by the connection.
-- A lock is waited for less long than the worker waits for an answer: a statement that it gave up must not stay behind.
-- Answers the input of each write whose row was as expected, with the row as it is then where the writer goes on with it.
CREATE FUNCTION write_batch(p_writes jsonb) RETURNS TABLE (ord integer, record jsonb) LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET lock_timeout = '5s' AS $$
#variable_conflict use_column
DECLARE
  moved integer[];
BEGIN
  PERFORM FROM billing_records b
  JOIN jsonb_to_recordset(p_writes) AS i(customer_id text, billing_period text) USING (customer_id, billing_period)
  ORDER BY b.customer_id COLLATE "C", b.billing_period COLLATE "C"
  FOR UPDATE OF b;

  RETURN QUERY SELECT freeze_payment_methods(p_writes), NULL::jsonb;
  RETURN QUERY SELECT save_intents(p_writes), NULL::jsonb;
  RETURN QUERY SELECT open_gates(p_writes), NULL::jsonb;
  RETURN QUERY SELECT release_claims(p_writes), NULL::jsonb;
  moved := ARRAY(SELECT drop_intents(p_writes) UNION ALL SELECT next_attempts(p_writes));
  RETURN QUERY
  SELECT i.ord, jsonb_build_object('customer_id', b.customer_id, 'billing_period', b.billing_period,
    'stripe_customer_id', b.stripe_customer_id, 'payment_method', b.payment_method,
    'amount_cents', b.amount_cents::text, 'currency', b.currency, 'description', b.description,
    'metadata', b.metadata, 'status', b.status, 'idempotency_key', b.idempotency_key, 'attempt', b.attempt,
    'payment_intent_id', b.payment_intent_id, 'confirm_started', b.confirm_started_at IS NOT NULL,
    'reserved', b.reserved, 'fence', b.fence::text)
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, customer_id text, billing_period text)
  JOIN billing_records b USING (customer_id, billing_period)
  WHERE i.ord = ANY (moved);
  RETURN QUERY SELECT settle_rows(p_writes), NULL::jsonb;
END $$` },
  { version: 19, name: 'create_claim_due', sql: `-- Takes over rows that nobody works on, oldest first: expired claims, accepted charges that are due for another look,
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
$$` },
] as const;

export const QUERIES = {
  bindAccount: `-- Binds an empty ledger; a bound one stays what it is. An account that is not known yet may be added later.
UPDATE ledger_meta
SET livemode = coalesce(livemode, $1::boolean), stripe_account = coalesce(stripe_account, $2::text)
WHERE livemode IS NULL OR (livemode = $1::boolean AND stripe_account IS NULL AND $2::text IS NOT NULL)`,
  claimDue: `SELECT customer_id, billing_period, stripe_customer_id, payment_method, amount_cents, currency, description, metadata,
  status, idempotency_key, attempt, payment_intent_id, confirm_started_at IS NOT NULL AS confirm_started, reserved, fence
FROM claim_due($1::text, $2::bigint, $3::integer, $4::bigint, $5::bigint, $6::bigint)`,
  claim: `SELECT * FROM claim_batch($1::text, $2::bigint, $3::boolean, $4::text[], $5::bigint[],
  $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[],
  $15::text[], $16::text[])`,
  counts: `-- What waits, for metrics and health pages; unresolved: pending for longer than $1 ms since its first claim.
-- Reads only the partial indexes, never the whole table.
SELECT
  (SELECT count(*) FROM billing_records WHERE claim_expires_at IS NOT NULL AND status = 'pending') AS pending,
  (SELECT count(*) FROM billing_records WHERE claim_expires_at <= now() AND status = 'pending') AS expired,
  (SELECT count(*) FROM billing_records WHERE claim_expires_at IS NOT NULL AND status = 'pending'
    AND first_attempted_at <= now() - $1::bigint * interval '1 ms') AS unresolved,
  (SELECT count(*) FROM billing_records WHERE status IN ('processing', 'action_required')) AS waiting`,
  createMigrationsTable: `CREATE TABLE IF NOT EXISTS ledger_migrations (
  version integer PRIMARY KEY,
  name text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)`,
  deadLetter: `-- One for each source position: a redelivery adds none.
INSERT INTO dead_letters (source, source_position, partition_key, body, reason)
SELECT DISTINCT ON (i.source COLLATE "C", i.source_position COLLATE "C") i.*
FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[])
  AS i(source, source_position, partition_key, body, reason)
ORDER BY i.source COLLATE "C", i.source_position COLLATE "C"
ON CONFLICT (source, source_position) DO NOTHING`,
  entraRoleStatements: `-- What makes the worker's role log in as its identity, as statements of the database postgres.
WITH worker AS (SELECT rolcanlogin FROM pg_roles WHERE rolname = $1::text)
SELECT format('SELECT pg_catalog.pgaadauth_create_principal_with_oid(%L, %L, %L, false, false)',
  $1::text, $2::text, 'service') AS statement
WHERE NOT EXISTS (SELECT FROM worker)
UNION ALL
SELECT format('ALTER ROLE %I LOGIN', $1::text) FROM worker WHERE NOT rolcanlogin`,
  excessWorkerGrants: `-- What the worker's role was given on the ledger's tables and may not have, as statements. Before PostgreSQL 15 anybody
-- may create in the schema public; who owns the schema can end that.
WITH worker AS (SELECT oid FROM pg_roles WHERE rolname = $1::text),
wanted AS (
  SELECT w.table_name, w.privilege, u.column_name
  FROM jsonb_to_recordset($2::jsonb) AS w(table_name text, privilege text, columns text[])
  LEFT JOIN LATERAL unnest(w.columns) AS u(column_name) ON true
), held AS (
  SELECT c.oid AS relation, NULL::text AS column_name, a.privilege_type AS privilege
  FROM worker, pg_class c, aclexplode(c.relacl) a WHERE a.grantee = worker.oid
  UNION ALL
  SELECT t.attrelid, t.attname::text, a.privilege_type
  FROM worker, pg_attribute t, aclexplode(t.attacl) a WHERE a.grantee = worker.oid AND NOT t.attisdropped
)
SELECT format('REVOKE %s%s ON %s FROM %I', h.privilege, ' (' || quote_ident(h.column_name) || ')',
  h.relation::regclass, $1::text) AS statement
FROM held h
WHERE h.relation = ANY (SELECT to_regclass(t.name) FROM unnest($3::text[]) AS t(name))
  AND NOT EXISTS (SELECT FROM wanted w WHERE to_regclass(w.table_name) = h.relation AND w.privilege = h.privilege
    AND w.column_name IS NOT DISTINCT FROM h.column_name)
UNION ALL
SELECT format('REVOKE CREATE ON SCHEMA %I FROM %s', n.nspname, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident($1::text) END)
FROM pg_namespace n, aclexplode(n.nspacl) a
WHERE n.nspname = current_schema() AND a.privilege_type = 'CREATE' AND pg_has_role(n.nspowner, 'USAGE')
  AND (a.grantee = 0 OR a.grantee = (SELECT oid FROM worker))
ORDER BY statement`,
  findEntraFunctions: `SELECT count(DISTINCT proname) = 2 AS present
FROM pg_proc WHERE proname IN ('pgaadauth_create_principal_with_oid', 'pgaadauth_list_principals')`,
  findEntraPrincipal: `-- Whom the role is mapped to. The columns are named here: their names have changed over the years.
SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1::text) AS present,
  (SELECT object_id FROM pg_catalog.pgaadauth_list_principals(false)
      AS p(role_name, principal_type, object_id, tenant_id, is_mfa, is_admin)
    WHERE role_name = $1::text) AS object_id`,
  findLedgerOwner: `SELECT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE oid = to_regclass('ledger_migrations')`,
  findMigrationsTable: `SELECT to_regclass('ledger_migrations') IS NOT NULL AS present`,
  findRole: `SELECT rolname = current_user AS migrates,
  array_remove(ARRAY[CASE WHEN rolsuper THEN 'SUPERUSER' END, CASE WHEN rolcreatedb THEN 'CREATEDB' END,
    CASE WHEN rolcreaterole THEN 'CREATEROLE' END, CASE WHEN rolreplication THEN 'REPLICATION' END,
    CASE WHEN rolbypassrls THEN 'BYPASSRLS' END], NULL) AS powers
FROM pg_roles WHERE rolname = $1::text`,
  listOpen: `-- Rows that are not finished, oldest first, for people. Reads only the partial indexes, never the whole table.
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
LIMIT $1::integer`,
  lockMigrations: `-- Held until the transaction ends, so it works through a pooler in transaction mode. The number is ours alone.
SELECT pg_advisory_xact_lock(4921367284512067)`,
  look: `-- Reads many identities, each by its key; nothing is locked.
SELECT i.ord::integer,
  CASE
    WHEN b.customer_id IS NULL THEN 'claimable'
    WHEN b.amount_cents <> i.amount_cents OR b.currency <> i.currency THEN 'differs'
    WHEN b.status <> 'pending' THEN 'settled'
    WHEN b.claim_expires_at <= now() THEN 'claimable'
    ELSE 'in_flight'
  END AS outcome,
  b.status,
  greatest(0, ceil(extract(epoch FROM b.claim_expires_at - now()) * 1000))::bigint AS retry_in_ms
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) WITH ORDINALITY
  AS i(customer_id, billing_period, amount_cents, currency, ord)
LEFT JOIN LATERAL (
  SELECT r.customer_id, r.amount_cents, r.currency, r.status, r.claim_expires_at FROM billing_records r
  WHERE r.customer_id = i.customer_id AND r.billing_period = i.billing_period LIMIT 1
) b ON true
ORDER BY i.ord`,
  missingWorkerGrants: `-- What the worker's role lacks, as statements. Of a table that is not there yet everything is missing.
WITH worker AS (SELECT oid FROM pg_roles WHERE rolname = $1::text),
held AS (
  SELECT c.oid AS relation, NULL::text AS column_name, a.privilege_type AS privilege
  FROM worker, pg_class c, aclexplode(c.relacl) a WHERE a.grantee = worker.oid
  UNION ALL
  SELECT t.attrelid, t.attname::text, a.privilege_type
  FROM worker, pg_attribute t, aclexplode(t.attacl) a WHERE a.grantee = worker.oid AND NOT t.attisdropped
), wanted AS (
  SELECT w.ord, w.table_name, w.privilege, u.column_name, u.place
  FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (table_name text, privilege text, columns text[]))
    WITH ORDINALITY AS w(table_name, privilege, columns, ord)
  LEFT JOIN LATERAL unnest(w.columns) WITH ORDINALITY AS u(column_name, place) ON true
), everybody AS (SELECT coalesce((SELECT oid FROM worker), 0::oid) AS oid)
SELECT statement FROM (
  SELECT 1 AS part, 0 AS ord, format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), $1::text) AS statement
  FROM everybody WHERE NOT has_database_privilege(everybody.oid, current_database(), 'CONNECT')
  UNION ALL
  SELECT 2, 0, format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), $1::text)
  FROM everybody WHERE NOT has_schema_privilege(everybody.oid, current_schema(), 'USAGE')
  UNION ALL
  SELECT 3, w.ord, format('GRANT %s%s ON %I TO %I', w.privilege,
    ' (' || string_agg(quote_ident(w.column_name), ', ' ORDER BY w.place) || ')', w.table_name, $1::text)
  FROM wanted w
  WHERE NOT EXISTS (SELECT FROM held h WHERE h.relation = to_regclass(w.table_name) AND h.privilege = w.privilege
    AND h.column_name IS NOT DISTINCT FROM w.column_name)
  GROUP BY w.ord, w.table_name, w.privilege
  UNION ALL
  SELECT 4, f.ord, format('GRANT EXECUTE ON FUNCTION %I TO %I', f.name, $1::text)
  FROM unnest($3::text[]) WITH ORDINALITY AS f(name, ord)
  WHERE NOT EXISTS (SELECT FROM worker, pg_proc p, aclexplode(p.proacl) a
    WHERE p.oid = to_regproc(f.name) AND a.grantee = worker.oid AND a.privilege_type = 'EXECUTE')
) AS missing
ORDER BY part, ord`,
  ping: `SELECT 1`,
  readEncoding: `SELECT current_setting('server_encoding') AS encoding`,
  readMeta: `SELECT schema_version, min_runtime_version, ledger_id, livemode, stripe_account FROM ledger_meta`,
  readMigrations: `SELECT version, name FROM ledger_migrations ORDER BY version`,
  recordMigration: `INSERT INTO ledger_migrations (version, name) VALUES ($1::integer, $2::text)`,
  workerOverreach: `-- What the worker's role may write although it must not and although everything it was given by the owner is taken back:
-- through PUBLIC, a role that it belongs to, or somebody else's grant.
WITH wanted AS (
  SELECT w.table_name, w.privilege, u.column_name
  FROM jsonb_to_recordset($2::jsonb) AS w(table_name text, privilege text, columns text[])
  LEFT JOIN LATERAL unnest(w.columns) AS u(column_name) ON true
), ledger AS (
  SELECT t.name, to_regclass(t.name)::oid AS relation FROM unnest($3::text[]) AS t(name)
), whole AS (
  SELECT l.name, p.privilege
  FROM ledger l, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS p(privilege)
  WHERE has_table_privilege($1::text, l.relation, p.privilege) AND NOT EXISTS (
    SELECT FROM wanted w WHERE w.table_name = l.name AND w.privilege = p.privilege AND w.column_name IS NULL)
)
SELECT format('%s %s', privilege, name) AS what FROM whole
UNION ALL
SELECT format('%s %s (%s)', p.privilege, l.name, a.attname)
FROM ledger l
JOIN pg_attribute a ON a.attrelid = l.relation AND a.attnum > 0 AND NOT a.attisdropped
CROSS JOIN unnest(ARRAY['INSERT', 'UPDATE']) AS p(privilege)
WHERE has_column_privilege($1::text, l.relation, a.attnum, p.privilege)
  AND NOT EXISTS (SELECT FROM whole w WHERE w.name = l.name AND w.privilege = p.privilege)
  AND NOT EXISTS (SELECT FROM wanted w WHERE w.table_name = l.name AND w.privilege = p.privilege
    AND (w.column_name IS NULL OR w.column_name = a.attname))
UNION ALL
SELECT format('CREATE in schema %s', current_schema())
WHERE has_schema_privilege($1::text, current_schema(), 'CREATE')
ORDER BY what`,
  workerRoleStatements: `-- What makes the worker's role log in, as statements. It inherits: pg_hba.conf of Amazon RDS asks for membership alone.
WITH worker AS (SELECT oid, rolcanlogin FROM pg_roles WHERE rolname = $1::text)
SELECT s.statement
FROM (VALUES
  (1, format('CREATE ROLE %I LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', $1::text),
    NOT EXISTS (SELECT FROM worker)),
  (2, format('ALTER ROLE %I LOGIN', $1::text), EXISTS (SELECT FROM worker WHERE NOT rolcanlogin)),
  (3, format('GRANT rds_iam TO %I', $1::text), $2::boolean AND NOT EXISTS (
    SELECT FROM worker JOIN pg_auth_members m ON m.member = worker.oid JOIN pg_roles g ON g.oid = m.roleid
    WHERE g.rolname = 'rds_iam'))
) AS s(ord, statement, needed)
WHERE s.needed
ORDER BY s.ord`,
  writeSchemaVersion: `INSERT INTO ledger_meta (schema_version) VALUES ($1::integer)
ON CONFLICT (one) DO UPDATE SET schema_version = greatest(ledger_meta.schema_version, excluded.schema_version)`,
  write: `SELECT ord, record FROM write_batch($1::jsonb)`,
} as const;
