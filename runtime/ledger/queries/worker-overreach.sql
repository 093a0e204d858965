-- What the worker's role may do although nobody gave it to itself: through PUBLIC, or a role that it belongs to.
SELECT format('%s %s', p.privilege, t.name) AS what
FROM unnest($2::text[]) AS t(name), unnest(ARRAY['DELETE', 'TRUNCATE', 'TRIGGER']) AS p(privilege)
WHERE has_table_privilege($1::text, to_regclass(t.name)::oid, p.privilege)
UNION ALL
SELECT format('UPDATE %s (amount_cents)', t.name)
FROM (VALUES ('billing_records')) AS t(name)
WHERE has_column_privilege($1::text, to_regclass(t.name)::oid, 'amount_cents', 'UPDATE')
UNION ALL
SELECT format('CREATE in schema %s', current_schema())
WHERE has_schema_privilege($1::text, current_schema(), 'CREATE')
ORDER BY what
