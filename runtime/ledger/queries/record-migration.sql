INSERT INTO ledger_migrations (version, name) VALUES ($1::integer, $2::text)
