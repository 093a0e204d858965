SELECT version, name FROM ledger_migrations ORDER BY version
