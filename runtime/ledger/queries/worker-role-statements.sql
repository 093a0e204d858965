-- What makes the worker's role log in, as statements. It inherits: pg_hba.conf of Amazon RDS asks for membership alone.
WITH worker AS (SELECT oid, rolcanlogin FROM pg_roles WHERE rolname = $1::text)
SELECT s.statement
FROM (VALUES
  (1, format('CREATE ROLE %I LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS', $1::text),
    NOT EXISTS (SELECT FROM worker)),
  (2, format('ALTER ROLE %I LOGIN', $1::text), EXISTS (SELECT FROM worker WHERE NOT rolcanlogin)),
  (3, format('GRANT rds_iam TO %I', $1::text), $2::boolean AND NOT EXISTS (
    SELECT FROM worker JOIN pg_auth_members m ON m.member = worker.oid JOIN pg_roles g ON g.oid = m.roleid
    WHERE g.rolname = 'rds_iam'))
) AS s(ord, statement, needed)
WHERE s.needed
ORDER BY s.ord
