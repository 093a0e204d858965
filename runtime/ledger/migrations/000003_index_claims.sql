CREATE INDEX billing_records_claims ON billing_records (claim_expires_at) WHERE claim_expires_at IS NOT NULL
