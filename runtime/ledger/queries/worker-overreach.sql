-- What the worker's role may write although it must not and although everything it was given by the owner is taken back:
-- through PUBLIC, a role that it belongs to, or somebody else's grant.
WITH wanted AS (
  SELECT w.table_name, w.privilege, u.column_name
  FROM jsonb_to_recordset($2::jsonb) AS w(table_name text, privilege text, columns text[])
  LEFT JOIN LATERAL unnest(w.columns) AS u(column_name) ON true
), ledger AS (
  SELECT t.name, to_regclass(t.name)::oid AS relation FROM unnest($3::text[]) AS t(name)
), whole AS (
  SELECT l.name, p.privilege
  FROM ledger l, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS p(privilege)
  WHERE has_table_privilege($1::text, l.relation, p.privilege) AND NOT EXISTS (
    SELECT FROM wanted w WHERE w.table_name = l.name AND w.privilege = p.privilege AND w.column_name IS NULL)
)
SELECT format('%s %s', privilege, name) AS what FROM whole
UNION ALL
SELECT format('%s %s (%s)', p.privilege, l.name, a.attname)
FROM ledger l
JOIN pg_attribute a ON a.attrelid = l.relation AND a.attnum > 0 AND NOT a.attisdropped
CROSS JOIN unnest(ARRAY['INSERT', 'UPDATE']) AS p(privilege)
WHERE has_column_privilege($1::text, l.relation, a.attnum, p.privilege)
  AND NOT EXISTS (SELECT FROM whole w WHERE w.name = l.name AND w.privilege = p.privilege)
  AND NOT EXISTS (SELECT FROM wanted w WHERE w.table_name = l.name AND w.privilege = p.privilege
    AND (w.column_name IS NULL OR w.column_name = a.attname))
UNION ALL
SELECT format('CREATE in schema %s', current_schema())
WHERE has_schema_privilege($1::text, current_schema(), 'CREATE')
ORDER BY what
