/** The schema as text, read from the catalog, the same for the same schema. */
import type { LedgerDatabase } from '../support/ledger-database';

const TABLES = `
  SELECT c.relname AS name, string_agg(concat_ws(' ', '  ' || quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
      CASE WHEN l.collname = 'C' THEN 'COLLATE "C"' END, CASE WHEN a.attnotnull THEN 'NOT NULL' END,
      CASE WHEN a.attidentity = 'a' THEN 'GENERATED ALWAYS AS IDENTITY' END,
      'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)), E',\\n' ORDER BY a.attnum) AS body
  FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  LEFT JOIN pg_collation l ON l.oid = a.attcollation
  WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
  GROUP BY c.relname ORDER BY c.relname COLLATE "C"`;
const CONSTRAINTS = `
  SELECT format('ALTER TABLE %s ADD CONSTRAINT %s %s;', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS text
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
  ORDER BY conrelid::regclass::text COLLATE "C", conname COLLATE "C"`;
const INDEXES = `
  SELECT indexdef || ';' AS text FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname COLLATE "C"`;
const FUNCTIONS = `
  SELECT pg_get_functiondef(oid) || ';' AS text FROM pg_proc
  WHERE pronamespace = 'public'::regnamespace ORDER BY proname COLLATE "C"`;

export async function dumpSchema(database: LedgerDatabase): Promise<string> {
  const tables = await database.query<{ name: string; body: string }>(TABLES);
  const texts = async (sql: string) => (await database.query<{ text: string }>(sql)).map(({ text }) => text);
  return [
    '-- The ledger as its migrations leave it. Made by the test of the schema; `npx vitest -u` writes it anew.',
    ...tables.map(({ name, body }) => `CREATE TABLE ${name} (\n${body}\n);`),
    (await texts(CONSTRAINTS)).join('\n'),
    (await texts(INDEXES)).join('\n'),
    ...(await texts(FUNCTIONS)),
    '',
  ].join('\n\n');
}
