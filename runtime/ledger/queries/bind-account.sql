-- Binds an empty ledger; a bound one stays what it is. An account that is not known yet may be added later.
UPDATE ledger_meta
SET livemode = coalesce(livemode, $1::boolean), stripe_account = coalesce(stripe_account, $2::text)
WHERE livemode IS NULL OR (livemode = $1::boolean AND stripe_account IS NULL AND $2::text IS NOT NULL)
