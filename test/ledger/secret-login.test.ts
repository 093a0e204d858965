/** DATABASE_SECRET_ARN at a real server: the secret is rotated under a ledger that goes on. */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest';
import { readDatabaseConfig } from '../../runtime/config';
import type { Ledger, LedgerConnection } from '../../runtime/ledger';
import { ledgerConnection } from '../../runtime/ops/ledger-connection';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import { startPostgresProxy } from '../support/postgres-proxy';
import { KeptLog } from '../support/quiet';
import { type SecretsManager, startSecretsManager } from '../support/secrets-manager';
import { until } from '../support/until';
import { openTestLedger } from './support';

const ARN = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:ledger-AbCdEf';
const USER = `rotated_${randomBytes(6).toString('hex')}`;
let database: LedgerDatabase;
let manager: SecretsManager;
const log = new KeptLog();
const opened: Ledger[] = [];

beforeAll(async () => {
  [database, manager] = await Promise.all([ledgerDatabase(), startSecretsManager()]);
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', manager.endpoint);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'not a secret');
  await database.query(`CREATE ROLE ${USER} LOGIN`);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((ledger) => ledger.close()));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await database.query(`DROP ROLE ${USER}`);
  await database.drop();
  await manager.stop();
});

/** As a rotation does: the new password is the server's first, then the secret's; sessions that are open stay open. */
async function rotate(password: string): Promise<void> {
  await database.query(`ALTER ROLE ${USER} PASSWORD '${password}'`);
  manager.secrets.set(ARN, JSON.stringify({ username: USER, password, dbname: database.name }));
}

async function connect(): Promise<LedgerConnection> {
  const { hostname, port } = new URL(inject('postgresUrl'));
  const env = { DATABASE_SECRET_ARN: ARN, PGHOST: hostname, PGPORT: port, PGSSLMODE: 'disable' };
  const read = readDatabaseConfig(env);
  if (!read.ok) throw new Error(read.problems.join());
  return ledgerConnection(read.config);
}

function open(connection: LedgerConnection): Ledger {
  const ledger = openTestLedger('', { connection, log, retryForMs: 3_000, maxConnections: 1 });
  opened.push(ledger);
  return ledger;
}

/** A statement, a rotation that ends the session, and another statement. */
async function across(ledger: Ledger, password: string): Promise<void> {
  await ledger.ping();
  await rotate(password);
  await database.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1', [USER]);
  await ledger.ping();
}

test('a rotated secret is read again without a restart, and its password is in no line of the log', async () => {
  await rotate('first-password');
  const ledger = open(await connect());
  manager.reads.length = 0;
  await across(ledger, 'second-password');
  expect(manager.reads).toEqual([ARN]);
  await across(ledger, 'third-password');
  expect(manager.reads).toEqual([ARN, ARN]);
  expect(JSON.stringify(log.lines)).not.toMatch(/(first|second|third)-password/);
});

test('which a login that keeps what it read would not survive', async () => {
  await rotate('first-password');
  const { password, ...rest } = await connect();
  const kept = typeof password === 'function' ? () => password({ refresh: false }) : '';
  await expect(across(open({ ...rest, password: kept }), 'second-password')).rejects.toThrow(
    'password authentication failed',
  );
});

test('a secret that cannot be read when it is needed again is said so, with what to do', async () => {
  await rotate('first-password');
  const ledger = open(await connect());
  manager.refuse('AccessDeniedException');
  await expect(across(ledger, 'second-password')).rejects.toThrow(
    /The password of the ledger could not be read: the secret .*AccessDeniedException.*secretsmanager:GetSecretValue/,
  );
  manager.refuse(undefined);
  await ledger.ping();
});

test('no connection is left behind at the server when there is no password to go on with', async () => {
  const proxy = await startPostgresProxy(database.url);
  const password = () => Promise.reject(new Error('no password today'));
  const ledger = openTestLedger('', { connection: { url: proxy.url, password }, log, retryForMs: 500 });
  opened.push(ledger);
  const closed = (withinMs: number) => until('all are closed', () => Promise.resolve(proxy.open === 0), withinMs);
  await expect(Promise.all([ledger.ping(), ledger.ping(), ledger.ping()])).rejects.toThrow('no password today');
  await closed(5_000);
  // The driver alone leaves it open; the server would count it for a minute.
  const { hostname, port, username } = new URL(proxy.url);
  const client = new Client({ host: hostname, port: Number(port), user: username, database: database.name, password });
  client.on('error', () => undefined);
  await expect(client.connect()).rejects.toThrow('no password today');
  await expect(closed(300)).rejects.toThrow();
  await client.end();
  await proxy.stop();
});
