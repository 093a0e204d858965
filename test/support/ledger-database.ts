/** A migrated database of a test's own, copied from the suite's template in milliseconds. */
import { randomBytes } from 'node:crypto';
import { Client, type QueryResultRow } from 'pg';
import { inject } from 'vitest';

export interface LedgerDatabase {
  readonly name: string;
  readonly url: string;
  /** Runs SQL of the test's, as the superuser, on a connection of its own. */
  query<Row extends QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Drops the database, whoever is connected. */
  drop(): Promise<void>;
}

/** With `empty`, the database has no schema: whoever uses it migrates it. */
export async function ledgerDatabase(options: { readonly empty?: boolean } = {}): Promise<LedgerDatabase> {
  const serverUrl = inject('postgresUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await createDatabase(serverUrl, name, options.empty ? undefined : inject('postgresTemplate'));
  const url = databaseUrl(serverUrl, name);
  let client: Promise<Client> | undefined;
  return {
    name,
    url,
    async query<Row extends QueryResultRow>(sql: string, values: unknown[] = []) {
      client ??= connect(url);
      return (await (await client).query<Row>(sql, values)).rows;
    },
    async drop() {
      if (client) await (await client).end();
      await dropDatabase(serverUrl, name);
    },
  };
}

export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Copies of one template wait for each other on the server. */
export async function createDatabase(serverUrl: string, name: string, template?: string): Promise<void> {
  await once(serverUrl, `CREATE DATABASE "${name}"${template === undefined ? '' : ` TEMPLATE "${template}"`}`);
}

export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await once(serverUrl, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  // A server that a test restarts ends this connection too; the next query of the test says so.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function once(serverUrl: string, sql: string): Promise<void> {
  const client = await connect(serverUrl);
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
