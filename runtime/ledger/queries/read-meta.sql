SELECT schema_version, min_runtime_version, livemode, stripe_account FROM ledger_meta
