-- Held until the transaction ends, so it works through a pooler in transaction mode. The number is ours alone.
SELECT pg_advisory_xact_lock(4921367284512067)
