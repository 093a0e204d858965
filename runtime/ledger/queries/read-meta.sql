SELECT schema_version, min_runtime_version, ledger_id, livemode, stripe_account FROM ledger_meta
