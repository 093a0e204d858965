-- The same identity with another amount or currency: recorded once each, never charged.
CREATE TABLE billing_conflicts (
  customer_id text COLLATE "C" NOT NULL,
  billing_period text COLLATE "C" NOT NULL,
  amount_cents bigint NOT NULL,
  currency text COLLATE "C" NOT NULL,
  source text,
  source_position text,
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (customer_id, billing_period, amount_cents, currency)
)
