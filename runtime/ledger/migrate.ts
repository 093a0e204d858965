/** Brings a database to this runtime's schema. */
import type { Client } from 'pg';
import { LedgerClient } from './client';
import { connectionConfig, type LedgerConnection } from './connection';
import { ENTRA_DATABASE } from './entra-role';
import { SchemaTooNew } from './errors';
import { MIGRATIONS, QUERIES } from './generated/sql';
import { SCHEMA_VERSION } from './schema-version';
import {
  applyWorkerRole,
  type MigrationClients,
  planWorkerRole,
  type WorkerRole,
  type WorkerRoleResult,
} from './worker-role';

export interface MigrateOptions {
  readonly connection: LedgerConnection;
  /** Only says what would be applied. Default: false. */
  readonly plan?: boolean;
  /** Is made, and given exactly what a worker needs, in the same transaction. Absent: no role is touched. */
  readonly workerRole?: WorkerRole;
}

export interface MigrateResult {
  /** Names of the migrations that were applied (or would be), in order. */
  readonly applied: string[];
  /** The schema's version now (or then). */
  readonly version: number;
  /** Absent when no worker's role was asked for. */
  readonly worker?: WorkerRoleResult;
}

/**
 * Applies what is missing in one transaction: all or nothing. Any number of processes may call this at once; an
 * advisory lock makes them take turns, and those who come late find nothing to do. A worker's role gets, at every call,
 * what new tables need. Rejects with SchemaTooNew when the schema was migrated by a newer release in a way that this one
 * cannot work with, otherwise with PostgreSQL's error.
 */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const client = await connect(options.connection);
  let entra: Promise<Client> | undefined;
  const clients: MigrationClients = {
    ledger: client,
    entra: () => {
      entra ??= connect({ ...options.connection, database: ENTRA_DATABASE });
      return entra;
    },
  };
  try {
    await requireUtf8(client);
    if (options.plan) return await plan(clients, options.workerRole);
    return await apply(clients, options.workerRole);
  } catch (error) {
    throw await withOwner(client, error);
  } finally {
    await client.end();
    // One that could not be opened has been reported by whoever asked for it.
    await entra?.then((opened) => opened.end()).catch(() => undefined);
  }
}

async function connect(connection: LedgerConnection): Promise<Client> {
  const client = new LedgerClient({
    ...connectionConfig(connection, { refused: false }),
    application_name: 'chargeonce migrate',
    connectionTimeoutMillis: 10_000,
  });
  // An error of a broken connection also rejects the statement under way; without a listener it would end the process.
  client.on('error', () => undefined);
  return client.connect();
}

/** Any other encoding lacks characters, and an event that holds one of them could never be written. */
async function requireUtf8(client: Client): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(QUERIES.readEncoding);
  const encoding = rows[0]?.encoding;
  if (encoding === 'UTF8') return;
  throw new Error(
    `The database's encoding is ${encoding}, which cannot hold every text; the ledger needs UTF8. ` +
      "Make a new one: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
  );
}

/** Whoever migrates in another's place is refused in words that name no owner: these do. */
async function withOwner(client: Client, error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('code' in error) || error.code !== '42501') return error;
  const found = await client.query<{ owner: string }>(QUERIES.findLedgerOwner).catch(() => undefined);
  const owner = found?.rows[0]?.owner;
  if (owner === undefined) return error;
  return new Error(
    `${error.message}. The ledger's tables belong to the role ${owner}: migrate as that role or as one that has its ` +
      `rights, or let one that has both give them to yours: REASSIGN OWNED BY "${owner}" TO …`,
    { cause: error },
  );
}

async function plan(clients: MigrationClients, role: WorkerRole | undefined): Promise<MigrateResult> {
  const client = clients.ledger;
  const missing = await missingMigrations(client);
  const version = await versionWith(client, missing.at(-1)?.version);
  const worker = role && (await planWorkerRole(clients, role, version));
  return { applied: missing.map(({ name }) => name), version, ...(worker && { worker }) };
}

async function apply(clients: MigrationClients, role: WorkerRole | undefined): Promise<MigrateResult> {
  const client = clients.ledger;
  await client.query('BEGIN');
  try {
    await client.query(QUERIES.lockMigrations);
    await client.query(QUERIES.createMigrationsTable);
    const missing = await missingMigrations(client);
    for (const { version, name, sql } of missing) {
      await client.query(sql);
      await client.query(QUERIES.recordMigration, [version, name]);
    }
    const last = missing.at(-1);
    if (last) await client.query(QUERIES.writeSchemaVersion, [last.version]);
    const version = await versionWith(client, undefined);
    const worker = role && (await applyWorkerRole(clients, role, version));
    await client.query('COMMIT');
    return { applied: missing.map(({ name }) => name), version, ...(worker && { worker }) };
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function missingMigrations(client: Client): Promise<(typeof MIGRATIONS)[number][]> {
  const { rows: found } = await client.query<{ present: boolean }>(QUERIES.findMigrationsTable);
  if (!found[0]?.present) return [...MIGRATIONS];
  const { rows } = await client.query<{ version: number }>(QUERIES.readMigrations);
  const applied = new Set(rows.map(({ version }) => version));
  return MIGRATIONS.filter(({ version }) => !applied.has(version));
}

/** The schema's version, or the one it will have; refuses a schema that a newer release has broken with. */
async function versionWith(client: Client, next: number | undefined): Promise<number> {
  const { rows: found } = await client.query<{ present: boolean }>(QUERIES.findMigrationsTable);
  if (!found[0]?.present) return next ?? 0;
  const { rows } = await client.query<{ schema_version: number; min_runtime_version: number }>(QUERIES.readMeta);
  const meta = rows[0];
  if (!meta) return next ?? 0;
  if (meta.min_runtime_version > SCHEMA_VERSION) {
    throw new SchemaTooNew(meta.schema_version, meta.min_runtime_version, SCHEMA_VERSION);
  }
  return Math.max(meta.schema_version, next ?? 0);
}
