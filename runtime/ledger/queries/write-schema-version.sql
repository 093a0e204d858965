INSERT INTO ledger_meta (schema_version) VALUES ($1::integer)
ON CONFLICT (one) DO UPDATE SET schema_version = greatest(ledger_meta.schema_version, excluded.schema_version)
