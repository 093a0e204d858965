-- One row for each (customer, billing period), for ever. Keys compare bytewise, so that every client sorts them alike.
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
)
