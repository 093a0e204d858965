-- What a period may cost, holds and has cost. Sums are kept whether or not a limit is set.
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
)
