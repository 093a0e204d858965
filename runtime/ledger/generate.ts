/** `npm run gen`: compiles the .sql files into generated/sql.ts, so that the bundle needs no files at run time. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const statement = (path: string) => readFileSync(path, 'utf8').trimEnd();
const sqlFiles = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
const literal = (text: string) => `\`${text.replace(/[\\`]|\$\{/g, (found) => `\\${found}`)}\``;

/** The text of generated/sql.ts for the folder that holds `migrations/` and `queries/`. */
export function generateSql(folder: string): string {
  const migrations = sqlFiles(join(folder, 'migrations')).map((file) => {
    const match = /^(\d{6})_([a-z0-9_]+)\.sql$/.exec(file);
    if (!match) throw new Error(`migrations/${file}: a migration is named 000001_what_it_does.sql`);
    return `  { version: ${Number(match[1])}, name: '${match[2]}', sql: ${literal(statement(join(folder, 'migrations', file)))} },`;
  });
  const queries = sqlFiles(join(folder, 'queries')).map((file) => {
    const name = file.slice(0, -'.sql'.length).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    return `  ${name}: ${literal(statement(join(folder, 'queries', file)))},`;
  });
  return [
    '// Made by `npm run gen` from migrations/ and queries/. Do not edit.',
    '',
    'export const MIGRATIONS = [',
    ...migrations,
    '] as const;',
    '',
    'export const QUERIES = {',
    ...queries,
    '} as const;',
    '',
  ].join('\n');
}

if (require.main === module) writeFileSync(join(__dirname, 'generated', 'sql.ts'), generateSql(__dirname));
