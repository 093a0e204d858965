-- One row: which schema this is, and which Stripe account and mode it is bound to.
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
)
