SELECT to_regclass('ledger_migrations') IS NOT NULL AS present
