-- What makes the worker's role log in as its identity, as statements of the database postgres.
WITH worker AS (SELECT rolcanlogin FROM pg_roles WHERE rolname = $1::text)
SELECT format('SELECT pg_catalog.pgaadauth_create_principal_with_oid(%L, %L, %L, false, false)',
  $1::text, $2::text, 'service') AS statement
WHERE NOT EXISTS (SELECT FROM worker)
UNION ALL
SELECT format('ALTER ROLE %I LOGIN', $1::text) FROM worker WHERE NOT rolcanlogin
