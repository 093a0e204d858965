-- What the worker's role lacks, as statements. Of a table that is not there yet everything is missing.
WITH worker AS (SELECT oid FROM pg_roles WHERE rolname = $1::text),
held AS (
  SELECT c.oid AS relation, NULL::text AS column_name, a.privilege_type AS privilege
  FROM worker, pg_class c, aclexplode(c.relacl) a WHERE a.grantee = worker.oid
  UNION ALL
  SELECT t.attrelid, t.attname::text, a.privilege_type
  FROM worker, pg_attribute t, aclexplode(t.attacl) a WHERE a.grantee = worker.oid AND NOT t.attisdropped
), wanted AS (
  SELECT w.ord, w.table_name, w.privilege, u.column_name, u.place
  FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (table_name text, privilege text, columns text[]))
    WITH ORDINALITY AS w(table_name, privilege, columns, ord)
  LEFT JOIN LATERAL unnest(w.columns) WITH ORDINALITY AS u(column_name, place) ON true
), everybody AS (SELECT coalesce((SELECT oid FROM worker), 0::oid) AS oid)
SELECT statement FROM (
  SELECT 1 AS part, 0 AS ord, format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), $1::text) AS statement
  FROM everybody WHERE NOT has_database_privilege(everybody.oid, current_database(), 'CONNECT')
  UNION ALL
  SELECT 2, 0, format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), $1::text)
  FROM everybody WHERE NOT has_schema_privilege(everybody.oid, current_schema(), 'USAGE')
  UNION ALL
  SELECT 3, w.ord, format('GRANT %s%s ON %I TO %I', w.privilege,
    ' (' || string_agg(quote_ident(w.column_name), ', ' ORDER BY w.place) || ')', w.table_name, $1::text)
  FROM wanted w
  WHERE NOT EXISTS (SELECT FROM held h WHERE h.relation = to_regclass(w.table_name) AND h.privilege = w.privilege
    AND h.column_name IS NOT DISTINCT FROM w.column_name)
  GROUP BY w.ord, w.table_name, w.privilege
  UNION ALL
  SELECT 4, f.ord, format('GRANT EXECUTE ON FUNCTION %I TO %I', f.name, $1::text)
  FROM unnest($3::text[]) WITH ORDINALITY AS f(name, ord)
  WHERE NOT EXISTS (SELECT FROM worker, pg_proc p, aclexplode(p.proacl) a
    WHERE p.oid = to_regproc(f.name) AND a.grantee = worker.oid AND a.privilege_type = 'EXECUTE')
) AS missing
ORDER BY part, ord
