-- What the worker's role was given on the ledger's tables and may not have, as statements. Before PostgreSQL 15 anybody
-- may create in the schema public; who owns the schema can end that.
WITH worker AS (SELECT oid FROM pg_roles WHERE rolname = $1::text),
wanted AS (
  SELECT w.table_name, w.privilege, u.column_name
  FROM jsonb_to_recordset($2::jsonb) AS w(table_name text, privilege text, columns text[])
  LEFT JOIN LATERAL unnest(w.columns) AS u(column_name) ON true
), held AS (
  SELECT c.oid AS relation, NULL::text AS column_name, a.privilege_type AS privilege
  FROM worker, pg_class c, aclexplode(c.relacl) a WHERE a.grantee = worker.oid
  UNION ALL
  SELECT t.attrelid, t.attname::text, a.privilege_type
  FROM worker, pg_attribute t, aclexplode(t.attacl) a WHERE a.grantee = worker.oid AND NOT t.attisdropped
)
SELECT format('REVOKE %s%s ON %s FROM %I', h.privilege, ' (' || quote_ident(h.column_name) || ')',
  h.relation::regclass, $1::text) AS statement
FROM held h
WHERE h.relation = ANY (SELECT to_regclass(t.name) FROM unnest($3::text[]) AS t(name))
  AND NOT EXISTS (SELECT FROM wanted w WHERE to_regclass(w.table_name) = h.relation AND w.privilege = h.privilege
    AND w.column_name IS NOT DISTINCT FROM h.column_name)
UNION ALL
SELECT format('REVOKE CREATE ON SCHEMA %I FROM %s', n.nspname, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident($1::text) END)
FROM pg_namespace n, aclexplode(n.nspacl) a
WHERE n.nspname = current_schema() AND a.privilege_type = 'CREATE' AND pg_has_role(n.nspowner, 'USAGE')
  AND (a.grantee = 0 OR a.grantee = (SELECT oid FROM worker))
ORDER BY statement
