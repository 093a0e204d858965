-- The ledger as its migrations leave it. Made by the test of the schema; `npx vitest -u` writes it anew.

CREATE TABLE billing_conflicts (
  customer_id text COLLATE "C" NOT NULL,
  billing_period text COLLATE "C" NOT NULL,
  amount_cents bigint NOT NULL,
  currency text COLLATE "C" NOT NULL,
  source text,
  source_position text,
  seen_at timestamp with time zone NOT NULL DEFAULT now()
);

CREATE TABLE billing_records (
  customer_id text COLLATE "C" NOT NULL,
  billing_period text COLLATE "C" NOT NULL,
  stripe_customer_id text NOT NULL,
  payment_method text,
  amount_cents bigint NOT NULL,
  currency text COLLATE "C" NOT NULL,
  description text,
  metadata jsonb,
  status text COLLATE "C" NOT NULL,
  idempotency_key text NOT NULL,
  attempt integer NOT NULL DEFAULT 1,
  payment_intent_id text COLLATE "C",
  confirm_started_at timestamp with time zone,
  charge_id text,
  error text,
  decline_code text,
  reserved boolean NOT NULL DEFAULT false,
  claimed_by text COLLATE "C",
  claim_expires_at timestamp with time zone,
  fence bigint NOT NULL DEFAULT 1,
  source text,
  source_position text,
  first_attempted_at timestamp with time zone NOT NULL DEFAULT now(),
  settled_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);

CREATE TABLE dead_letters (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  source text COLLATE "C" NOT NULL,
  source_position text COLLATE "C" NOT NULL,
  partition_key text NOT NULL,
  body bytea NOT NULL,
  reason text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  resolved_at timestamp with time zone
);

CREATE TABLE ledger_meta (
  one boolean NOT NULL DEFAULT true,
  schema_version integer NOT NULL,
  min_runtime_version integer NOT NULL DEFAULT 1,
  ledger_id uuid NOT NULL DEFAULT gen_random_uuid(),
  livemode boolean,
  stripe_account text COLLATE "C",
  created_at timestamp with time zone NOT NULL DEFAULT now()
);

CREATE TABLE ledger_migrations (
  version integer NOT NULL,
  name text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now()
);

CREATE TABLE spend_caps (
  billing_period text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  limit_cents bigint,
  reserved_cents bigint NOT NULL DEFAULT 0,
  spent_cents bigint NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now()
);

ALTER TABLE billing_conflicts ADD CONSTRAINT billing_conflicts_pkey PRIMARY KEY (customer_id, billing_period, amount_cents, currency);
ALTER TABLE billing_records ADD CONSTRAINT billing_records_amount_cents_check CHECK ((amount_cents >= 0));
ALTER TABLE billing_records ADD CONSTRAINT billing_records_check CHECK (((status <> 'pending'::text) OR (claim_expires_at IS NOT NULL)));
ALTER TABLE billing_records ADD CONSTRAINT billing_records_check1 CHECK (((status <> 'charged'::text) OR ((payment_intent_id IS NOT NULL) AND (NOT reserved))));
ALTER TABLE billing_records ADD CONSTRAINT billing_records_idempotency_key_check CHECK ((idempotency_key <> ''::text));
ALTER TABLE billing_records ADD CONSTRAINT billing_records_payment_intent_id_key UNIQUE (payment_intent_id);
ALTER TABLE billing_records ADD CONSTRAINT billing_records_pkey PRIMARY KEY (customer_id, billing_period);
ALTER TABLE billing_records ADD CONSTRAINT billing_records_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'charged'::text, 'processing'::text, 'card_declined'::text, 'action_required'::text, 'cap_blocked'::text, 'rejected'::text, 'zero_amount'::text, 'abandoned'::text])));
ALTER TABLE dead_letters ADD CONSTRAINT dead_letters_pkey PRIMARY KEY (id);
ALTER TABLE dead_letters ADD CONSTRAINT dead_letters_source_source_position_key UNIQUE (source, source_position);
ALTER TABLE ledger_meta ADD CONSTRAINT ledger_meta_one_check CHECK (one);
ALTER TABLE ledger_meta ADD CONSTRAINT ledger_meta_pkey PRIMARY KEY (one);
ALTER TABLE ledger_migrations ADD CONSTRAINT ledger_migrations_pkey PRIMARY KEY (version);
ALTER TABLE spend_caps ADD CONSTRAINT spend_caps_limit_cents_check CHECK ((limit_cents >= 0));
ALTER TABLE spend_caps ADD CONSTRAINT spend_caps_pkey PRIMARY KEY (billing_period, currency);
ALTER TABLE spend_caps ADD CONSTRAINT spend_caps_reserved_cents_check CHECK ((reserved_cents >= 0));
ALTER TABLE spend_caps ADD CONSTRAINT spend_caps_spent_cents_check CHECK ((spent_cents >= 0));

CREATE UNIQUE INDEX billing_conflicts_pkey ON public.billing_conflicts USING btree (customer_id, billing_period, amount_cents, currency);
CREATE INDEX billing_records_claims ON public.billing_records USING btree (claim_expires_at) WHERE (claim_expires_at IS NOT NULL);
CREATE UNIQUE INDEX billing_records_payment_intent_id_key ON public.billing_records USING btree (payment_intent_id);
CREATE UNIQUE INDEX billing_records_pkey ON public.billing_records USING btree (customer_id, billing_period);
CREATE INDEX billing_records_unread_declines ON public.billing_records USING btree (updated_at) WHERE ((status = ANY (ARRAY['card_declined'::text, 'rejected'::text])) AND (payment_intent_id IS NOT NULL) AND (settled_at IS NULL));
CREATE INDEX billing_records_waiting ON public.billing_records USING btree (updated_at) WHERE (status = ANY (ARRAY['processing'::text, 'action_required'::text]));
CREATE UNIQUE INDEX dead_letters_pkey ON public.dead_letters USING btree (id);
CREATE UNIQUE INDEX dead_letters_source_source_position_key ON public.dead_letters USING btree (source, source_position);
CREATE UNIQUE INDEX ledger_meta_pkey ON public.ledger_meta USING btree (one);
CREATE UNIQUE INDEX ledger_migrations_pkey ON public.ledger_migrations USING btree (version);
CREATE UNIQUE INDEX spend_caps_pkey ON public.spend_caps USING btree (billing_period, currency);

CREATE OR REPLACE FUNCTION public.claim_batch(p_token text, p_ttl_ms bigint, p_enforce boolean, p_default_currencies text[], p_default_cents bigint[], p_customer text[], p_period text[], p_stripe_customer text[], p_payment_method text[], p_amount bigint[], p_currency text[], p_description text[], p_metadata text[], p_key text[], p_source text[], p_position text[])
 RETURNS TABLE(ord integer, outcome text, retry_in_ms bigint, customer_id text, billing_period text, stripe_customer_id text, payment_method text, amount_cents bigint, currency text, description text, metadata jsonb, status text, idempotency_key text, attempt integer, payment_intent_id text, confirm_started boolean, reserved boolean, fence bigint)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET lock_timeout TO '5s'
AS $function$
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
END $function$
;

CREATE OR REPLACE FUNCTION public.claim_due(p_token text, p_ttl_ms bigint, p_limit integer, p_overdue_ms bigint, p_recheck_ms bigint, p_closing_ms bigint)
 RETURNS SETOF billing_records
 LANGUAGE sql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.drop_intents(p_writes jsonb)
 RETURNS SETOF integer
 LANGUAGE sql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.freeze_payment_methods(p_writes jsonb)
 RETURNS SETOF integer
 LANGUAGE sql
AS $function$
  UPDATE billing_records b SET payment_method = i.payment_method, updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_method text)
  WHERE i.op = 'freeze_payment_method' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.attempt = i.attempt AND b.status = 'pending'
    AND (b.payment_method IS NULL OR b.payment_method = i.payment_method)
  RETURNING i.ord
$function$
;

CREATE OR REPLACE FUNCTION public.next_attempts(p_writes jsonb)
 RETURNS SETOF integer
 LANGUAGE sql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.open_gates(p_writes jsonb)
 RETURNS SETOF integer
 LANGUAGE sql
AS $function$
  UPDATE billing_records b SET confirm_started_at = coalesce(b.confirm_started_at, now()), updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_intent_id text)
  WHERE i.op = 'gate' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.attempt = i.attempt AND b.payment_intent_id = i.payment_intent_id
    AND b.status = 'pending' AND b.reserved
  RETURNING i.ord
$function$
;

CREATE OR REPLACE FUNCTION public.release_claims(p_writes jsonb)
 RETURNS SETOF integer
 LANGUAGE sql
AS $function$
  UPDATE billing_records b SET claim_expires_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint)
  WHERE i.op = 'release' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.status = 'pending' AND b.claim_expires_at > now()
  RETURNING i.ord
$function$
;

CREATE OR REPLACE FUNCTION public.reserve_claimed(p_token text, p_enforce boolean, p_default_currencies text[], p_default_cents bigint[], p_customer text[], p_period text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
END $function$
;

CREATE OR REPLACE FUNCTION public.save_intents(p_writes jsonb)
 RETURNS SETOF integer
 LANGUAGE sql
AS $function$
  UPDATE billing_records b SET payment_intent_id = i.payment_intent_id, updated_at = now()
  FROM jsonb_to_recordset(p_writes) AS i(ord integer, op text, customer_id text, billing_period text, fence bigint,
    attempt integer, payment_intent_id text)
  WHERE i.op = 'save_intent' AND b.customer_id = i.customer_id AND b.billing_period = i.billing_period
    AND b.fence = i.fence AND b.attempt = i.attempt AND b.status = 'pending' AND b.reserved
    AND (b.payment_intent_id IS NULL OR b.payment_intent_id = i.payment_intent_id)
  RETURNING i.ord
$function$
;

CREATE OR REPLACE FUNCTION public.settle_rows(p_writes jsonb)
 RETURNS SETOF integer
 LANGUAGE sql
AS $function$
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
$function$
;

CREATE OR REPLACE FUNCTION public.write_batch(p_writes jsonb)
 RETURNS TABLE(ord integer, record jsonb)
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET lock_timeout TO '5s'
AS $function$
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
END $function$
;

