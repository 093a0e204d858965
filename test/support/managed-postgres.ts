/**
 * A PostgreSQL server as Amazon RDS has it: its owner is no superuser, but may make roles and give them rds_iam. Members
 * of rds_iam are let in without being asked: `startRdsEndpoint` in front of it asks them for a token.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { type PostgresServer, startPostgres } from '../emulators/postgres';

export const OWNER = 'chargeonce_owner';
const OWNER_PASSWORD = 'owner-password';
const DATABASE = 'chargeonce';

export interface ManagedPostgres {
  readonly server: PostgresServer;
  /** By the owner. */
  readonly ownerUrl: string;
  urlOf(user: string, password: string): string;
  /** Runs SQL as the superuser, which on a managed server is the provider alone. */
  asProvider(sql: string): Promise<Record<string, unknown>[]>;
  /** An empty database of the owner's in place of the one there is, and no role but the provider's and the owner's. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

export interface ManagedPostgresOptions {
  readonly owner?: string;
  readonly ownerPassword?: string;
  readonly database?: string;
}

export async function startManagedPostgres(options: ManagedPostgresOptions = {}): Promise<ManagedPostgres> {
  const { owner = OWNER, ownerPassword = OWNER_PASSWORD, database = DATABASE } = options;
  const { server, stop } = await startWithRules(owner);
  const urlOf = (user: string, password: string) =>
    `postgres://${user}:${password}@${server.host}:${server.port}/${database}`;
  const run = (sql: string, where = 'postgres') => query(server.url(where), sql);
  const [name, role] = [database, owner].map(escapeIdentifier);
  const create = `CREATE DATABASE ${name} OWNER ${role}`;
  const attributes = 'LOGIN NOSUPERUSER CREATEROLE CREATEDB';
  await run(`CREATE ROLE ${role} ${attributes} PASSWORD ${escapeLiteral(ownerPassword)}`);
  await run(`CREATE ROLE rds_iam NOLOGIN ADMIN ${role}`);
  await run(create);
  return {
    server,
    ownerUrl: urlOf(owner, ownerPassword),
    urlOf,
    asProvider: (sql) => run(sql, database),
    async reset() {
      await run(`DROP DATABASE ${name} WITH (FORCE)`);
      const made = await run(
        `SELECT quote_ident(rolname) AS name FROM pg_roles
         WHERE rolname NOT IN ('postgres', ${escapeLiteral(owner)}, 'rds_iam') AND rolname NOT LIKE 'pg\\_%'`,
      );
      for (const each of made) await run(`DROP ROLE ${each.name}`);
      await run(create);
    },
    stop,
  };
}

/** Who may give rds_iam away is a member of it, but goes on logging in with a password. */
async function startWithRules(owner: string): Promise<{ server: PostgresServer; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-rds-'));
  const rules = join(folder, 'pg_hba.conf');
  const place = '127.0.0.1/32';
  writeFileSync(
    rules,
    [
      `host all "${owner}" ${place} scram-sha-256`,
      `host all +rds_iam ${place} trust`,
      `host all all ${place} scram-sha-256`,
      '',
    ].join('\n'),
  );
  // The server may run as another user than this process.
  chmodSync(folder, 0o755);
  const removed = () => rmSync(folder, { recursive: true, force: true });
  try {
    const server = await startPostgres({ flags: [`hba_file=${rules}`] });
    return { server, stop: () => server.stop().finally(removed) };
  } catch (error) {
    removed();
    throw error;
  }
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
