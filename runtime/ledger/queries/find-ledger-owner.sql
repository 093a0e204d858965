SELECT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE oid = to_regclass('ledger_migrations')
