/** A PostgreSQL server with login rules of its own, as managed servers have them. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type PostgresServer, startPostgres } from '../emulators/postgres';

/** Where the rules let logins come from. */
export const LOOPBACK = '127.0.0.1/32';

/** `rules`: lines of a pg_hba.conf. */
export async function startRuledPostgres(
  rules: readonly string[],
): Promise<{ server: PostgresServer; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-ruled-'));
  const file = join(folder, 'pg_hba.conf');
  writeFileSync(file, [...rules, ''].join('\n'));
  // The server may run as another user than this process.
  chmodSync(folder, 0o755);
  const removed = () => rmSync(folder, { recursive: true, force: true });
  try {
    const server = await startPostgres({ flags: [`hba_file=${file}`] });
    return { server, stop: () => server.stop().finally(removed) };
  } catch (error) {
    removed();
    throw error;
  }
}

/** Runs SQL on a connection of its own. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
