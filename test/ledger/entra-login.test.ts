/** DATABASE_AUTH=entra, from the settings to the session, at an endpoint that checks tokens as Azure's PostgreSQL does. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { readDatabaseConfig } from '../../runtime/config';
import { systemHost } from '../../runtime/host';
import { type Ledger, type LedgerConnection, migrate } from '../../runtime/ledger';
import { runCli } from '../../runtime/ops/cli';
import { ledgerConnection } from '../../runtime/ops/ledger-connection';
import { migrateVerb } from '../../runtime/ops/migrate';
import {
  type Entra,
  type EntraEndpoint,
  type EntraIdentity,
  type EntraPostgres,
  POSTGRES_SERVICE,
  startEntra,
  startEntraEndpoint,
  startEntraPostgres,
} from '../support/entra';
import { KeptLog } from '../support/quiet';
import { fakeShell } from '../unit/ops/fake-shell';
import { claimWithIntent, openTestLedger } from './support';

/** The SDK keeps tokens for the whole process by client id: a test that counts requests uses a new identity. */
let made = 0;
function identity(name: string): EntraIdentity {
  made += 1;
  const tail = String(made).padStart(12, '0');
  return { name, clientId: `c1e7a000-0000-4000-8000-${tail}`, principalId: `0b1ec700-0000-4000-8000-${tail}` };
}

const MIGRATOR = identity('usage-migrator');
const WORKER = identity('usage-worker');
const HOUR_MS = 3_600_000;
let entra: Entra;
let postgres: EntraPostgres;
let endpoint: EntraEndpoint;
let folder: string;
const identities = [MIGRATOR, WORKER];
const log = new KeptLog();
const opened: Ledger[] = [];

beforeAll(async () => {
  entra = await startEntra({ identities });
  postgres = await startEntraPostgres({ administrators: [MIGRATOR] });
  endpoint = await startEntraEndpoint({ postgres, entra });
  folder = mkdtempSync(join(tmpdir(), 'chargeonce-entra-login-'));
  writeFileSync(join(folder, 'ca.pem'), endpoint.authority.pem);
  const workerRole = { name: WORKER.name, auth: 'entra', principalId: WORKER.principalId } as const;
  await migrate({ connection: await connectionOf(MIGRATOR), workerRole });
});
afterAll(async () => {
  await endpoint.stop();
  await postgres.stop();
  await entra.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  endpoint.logins.length = 0;
  entra.requests.length = 0;
  log.lines.length = 0;
});
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  endpoint.refuse(0);
  entra.refuse(0);
  await Promise.all(opened.splice(0).map((ledger) => ledger.close()));
});

/** The settings of a process that has this identity and says that it is `user`; the SDK reads the process's own. */
function settingsOf(who: EntraIdentity, user = who.name): Record<string, string> {
  const environment = entra.environment(who.clientId);
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  return {
    ...environment,
    PGHOST: endpoint.host,
    PGPORT: String(endpoint.port),
    PGDATABASE: postgres.database,
    PGUSER: user,
    DATABASE_AUTH: 'entra',
    PGSSLROOTCERT: join(folder, 'ca.pem'),
  };
}

function connectionOf(who: EntraIdentity, user = who.name): Promise<LedgerConnection> {
  const read = readDatabaseConfig(settingsOf(who, user));
  if (!read.ok) throw new Error(read.problems.join());
  return ledgerConnection(read.config);
}

function open(connection: LedgerConnection, retryForMs = 5_000): Ledger {
  const ledger = openTestLedger('', { connection, log, retryForMs, maxConnections: 1 });
  opened.push(ledger);
  return ledger;
}

const refusals = () => endpoint.logins.map(({ refused }) => refused);

async function mapped(name: string): Promise<EntraIdentity> {
  const who = identity(name);
  identities.push(who);
  await postgres.asProvider(
    `SELECT pgaadauth_create_principal_with_oid('${name}', '${who.principalId}', 'service', false, false)`,
    'postgres',
  );
  return who;
}

describe('a worker with a managed identity', () => {
  test('logs in with a token, under TLS, and charges', async () => {
    await claimWithIntent(open(await connectionOf(WORKER)), 'token');
    expect(refusals()).toEqual([undefined]);
    expect(endpoint.logins[0]?.user).toBe(WORKER.name);
    expect(entra.requests).toEqual([{ clientId: WORKER.clientId, resource: POSTGRES_SERVICE, status: 200 }]);
  });

  test('asks for one token for many connections, and for a new one when it has ended', async () => {
    const who = await mapped('patient');
    const ledger = open(await connectionOf(who));
    await ledger.ping();
    await reconnect(who, ledger);
    expect(entra.requests).toHaveLength(1);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * HOUR_MS });
    await reconnect(who, ledger);
    expect(entra.requests).toHaveLength(2);
    expect(refusals()).toEqual([undefined, undefined, undefined]);
  });

  test('which a login that keeps its token would not survive', async () => {
    const who = await mapped('stubborn');
    const { password, ...rest } = await connectionOf(who);
    const kept = typeof password === 'function' ? await password({ refresh: false }) : password;
    const ledger = open({ ...rest, password: kept ?? '' }, 1_000);
    await ledger.ping();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * HOUR_MS });
    await expect(reconnect(who, ledger)).rejects.toThrow('The access token has expired');
  });

  async function reconnect(who: EntraIdentity, ledger: Ledger): Promise<void> {
    await postgres.asProvider(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '${who.name}'`,
    );
    await ledger.ping();
  }

  test.each(['28P01', '28000'])('tries again when it is refused with %s, and no token is logged', async (code) => {
    endpoint.refuse(2, code);
    await open(await connectionOf(WORKER)).ping();
    expect(refusals()).toEqual(['a test wanted it so', 'a test wanted it so', undefined]);
    expect(log.matching('the ledger answers again')).toHaveLength(1);
    const said = JSON.stringify(log.lines);
    for (const { token } of endpoint.logins) expect(said).not.toContain(token.slice(-64));
  });

  test('goes on when the identity endpoint is not ready at first', async () => {
    const who = await mapped('early');
    const connection = await connectionOf(who);
    entra.refuse(1);
    await open(connection, 20_000).ping();
    expect(entra.requests.map(({ status }) => status)).toEqual([503, 200]);
  }, 30_000);

  test('says what is missing when nobody has the client id', async () => {
    const stranger = identity('stranger');
    const error = await open(await connectionOf(stranger), 500)
      .ping()
      .catch((fault: Error) => fault.message);
    expect(error).toContain('password of the ledger could not be read: no token for stranger on');
    expect(error).toContain(`AZURE_CLIENT_ID is ${stranger.clientId}. On Azure, assign a managed identity`);
    expect(error).toMatch(
      /What was tried: .*ManagedIdentityCredential.* No User Assigned or Delegated Managed Identity/,
    );
    expect(error).not.toMatch(/PowerShell|\n/);
  }, 30_000);
});

describe('what is refused', () => {
  async function refusedWith(token: string, user = WORKER.name): Promise<string | undefined> {
    const { password: _, ...rest } = await connectionOf(WORKER, user);
    await expect(open({ ...rest, password: token }, 1).ping()).rejects.toThrow(
      /must exist and be mapped to the identity of this process.*--worker-auth entra --worker-principal/,
    );
    return refusals()[0];
  }

  test('an expired token', async () => {
    expect(await refusedWith(entra.token(WORKER, { expiresInMs: -1_000 }))).toContain('has expired');
  });

  test('a token for another service', async () => {
    const token = entra.token(WORKER, { audience: 'https://storage.azure.com' });
    expect(await refusedWith(token)).toContain('does not have a valid audience claim');
  });

  test('a token of another identity, known or not', async () => {
    expect(await refusedWith(entra.token(MIGRATOR))).toContain('APP_USER tokens for role[usage-worker]');
    endpoint.logins.length = 0;
    expect(await refusedWith(entra.token(identity(WORKER.name)))).toContain('APP_USER tokens for role[usage-worker]');
  });

  test('a role that is mapped to nobody, and one that does not exist', async () => {
    await postgres.asProvider("CREATE ROLE plain LOGIN PASSWORD 'x'");
    expect(await refusedWith(entra.token(WORKER), 'plain')).toContain('password authentication failed');
    endpoint.logins.length = 0;
    expect(await refusedWith(entra.token(WORKER), 'nobody')).toContain('password authentication failed');
  });

  test('a token that was tampered with, one of another issuer, and a password', async () => {
    const [head, body = '', signature] = entra.token(WORKER).split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
    const forged = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 1 })).toString('base64url');
    expect(await refusedWith(`${head}.${forged}.${signature}`)).toContain('signature is wrong');
    const other = await startEntra({ identities });
    await other.stop();
    for (const token of [other.token(WORKER), 'a password', `${head}.${body}.`]) {
      endpoint.logins.length = 0;
      expect(await refusedWith(token)).toContain('cannot be read');
    }
  });

  test('twin: the right token is let in', async () => {
    const { password: _, ...rest } = await connectionOf(WORKER);
    await open({ ...rest, password: entra.token(WORKER) }).ping();
    expect(refusals()).toEqual([undefined]);
  });

  test('a server whose certificate nobody here trusts, and a connection without TLS, before a token is sent', async () => {
    const { ssl: _, ...rest } = await connectionOf(WORKER);
    await expect(open({ ...rest, ssl: { mode: 'verify-full' } }, 300).ping()).rejects.toThrow(/certificate/);
    await expect(open({ ...rest, ssl: false }, 300).ping()).rejects.toThrow('no encryption');
    expect(endpoint.logins).toEqual([]);
  });
});

describe('chargeonce migrate', () => {
  async function run(env: Record<string, string>, ...args: string[]) {
    const { shell, written } = fakeShell(['migrate', ...args], env);
    const code = await runCli({ shell, host: systemHost, verbs: [migrateVerb], version: '0' });
    return { code, ...written };
  }

  test('makes the role of a worker that then logs in, as an init container runs it', async () => {
    const second = identity('second-worker');
    identities.push(second);
    await expect(open(await connectionOf(second), 1).ping()).rejects.toThrow('The role second-worker must exist');
    const flags = ['--worker-role', second.name, '--worker-auth', 'entra', '--worker-principal', second.principalId];
    const { code, out, err } = await run(settingsOf(MIGRATOR), '--apply', ...flags);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`pgaadauth_create_principal_with_oid('second-worker', '${second.principalId}', 'service'`);
    await open(await connectionOf(second)).ping();
  });

  test('says what the migrator must be when its login is refused', async () => {
    const { code, out, err } = await run(settingsOf(WORKER, MIGRATOR.name), '--apply');
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('Service Principals cannot generate AAD_AUTH_TOKENTYPE_APP_USER tokens');
    expect(err).toContain(`${MIGRATOR.name} must be a Microsoft Entra administrator of the server`);
  });
});
