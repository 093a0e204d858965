/** DATABASE_AUTH=rds-iam, from the settings to the session, at an endpoint that checks tokens as Amazon RDS does. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { readDatabaseConfig } from '../../runtime/config';
import { type Ledger, type LedgerConnection, migrate } from '../../runtime/ledger';
import { ledgerConnection } from '../../runtime/ops/ledger-connection';
import { type ManagedPostgres, OWNER, startManagedPostgres } from '../support/managed-postgres';
import { KeptLog } from '../support/quiet';
import { type RdsEndpoint, startRdsEndpoint } from '../support/rds/endpoint';
import type { AwsCredentials } from '../support/rds/token';
import { claimWithIntent, openTestLedger } from './support';

const WORKER = 'chargeonce_worker';
const ROLE: AwsCredentials = {
  accessKeyId: 'ASIAROLE',
  secretAccessKey: 'role-secret',
  sessionToken: 'role/session+==',
};
const USER: AwsCredentials = { accessKeyId: 'AKIAUSER', secretAccessKey: 'user-secret' };
const MINUTE_MS = 60_000;

let managed: ManagedPostgres;
let endpoint: RdsEndpoint;
let folder: string;
let credentials: AwsCredentials[];
const log = new KeptLog();
const opened: Ledger[] = [];

beforeAll(async () => {
  managed = await startManagedPostgres();
  await migrate({ connection: { url: managed.ownerUrl }, workerRole: { name: WORKER, auth: 'rds-iam' } });
  credentials = [];
  endpoint = await startRdsEndpoint({ server: managed.server, region: 'eu-west-1', credentials });
  folder = mkdtempSync(join(tmpdir(), 'chargeonce-login-'));
  writeFileSync(join(folder, 'ca.pem'), endpoint.authority.pem);
});
afterAll(async () => {
  await endpoint.stop();
  await managed.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  use(ROLE);
  credentials.splice(0, credentials.length, ROLE, USER);
  endpoint.logins.length = 0;
  log.lines.length = 0;
});
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  endpoint.refuse(0);
  await Promise.all(opened.splice(0).map((ledger) => ledger.close()));
});

/** What the SDK's default chain finds. */
function use({ accessKeyId, secretAccessKey, sessionToken }: AwsCredentials): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secretAccessKey);
  vi.stubEnv('AWS_SESSION_TOKEN', sessionToken);
}

function connectionOf(changes: Record<string, string> = {}): Promise<LedgerConnection> {
  const read = readDatabaseConfig({
    PGHOST: endpoint.host,
    PGPORT: String(endpoint.port),
    PGDATABASE: 'chargeonce',
    PGUSER: WORKER,
    DATABASE_AUTH: 'rds-iam',
    AWS_REGION: 'eu-west-1',
    PGSSLROOTCERT: join(folder, 'ca.pem'),
    ...changes,
  });
  if (!read.ok) throw new Error(read.problems.join());
  return ledgerConnection(read.config);
}

function open(connection: LedgerConnection, retryForMs = 5_000): Ledger {
  const ledger = openTestLedger('', { connection, log, retryForMs, maxConnections: 1 });
  opened.push(ledger);
  return ledger;
}

const refusals = () => endpoint.logins.map(({ refused }) => refused);

describe('a worker with a role of AWS', () => {
  test('logs in with a token, under TLS, and charges', async () => {
    const ledger = open(await connectionOf());
    await claimWithIntent(ledger, 'signed');
    expect(refusals()).toEqual([undefined]);
    expect(endpoint.logins[0]).toMatchObject({ user: WORKER });
    expect(endpoint.logins[0]?.token).toContain('X-Amz-Security-Token');
  });

  test('with keys of a user, which have no session, as well', async () => {
    use(USER);
    await open(await connectionOf()).ping();
    expect(refusals()).toEqual([undefined]);
    expect(endpoint.logins[0]?.token).not.toContain('X-Amz-Security-Token');
  });

  test('signs a new token for each connection: the first one has long expired when the second is made', async () => {
    const ledger = open(await connectionOf());
    await twice(ledger);
    expect(refusals()).toEqual([undefined, undefined]);
    const [first, second] = endpoint.logins.map(({ token }) => token);
    expect(second).not.toBe(first);
  });

  test('which a login that keeps its token would not survive', async () => {
    const { password, ...rest } = await connectionOf();
    const kept = typeof password === 'function' ? await password({ refresh: false }) : password;
    await expect(twice(open({ ...rest, password: kept ?? '' }, 1_000))).rejects.toThrow('PAM authentication failed');
    expect(refusals()).toContain('the token has expired');
  });

  /** A statement, twenty minutes, and another one on a new connection. */
  async function twice(ledger: Ledger): Promise<void> {
    await ledger.ping();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 20 * MINUTE_MS });
    await managed.asProvider(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '${WORKER}'`,
    );
    await ledger.ping();
  }

  test.each(['28P01', '28000'])(
    'tries again when it is refused with %s, and the token is never logged',
    async (code) => {
      endpoint.refuse(2, code);
      await open(await connectionOf()).ping();
      expect(refusals()).toEqual(['a test wanted it so', 'a test wanted it so', undefined]);
      expect(log.matching('the ledger answers again')).toHaveLength(1);
      const said = JSON.stringify(log.lines);
      for (const { token } of endpoint.logins) expect(said).not.toContain(token.slice(-64));
      expect(said).not.toContain('X-Amz');
    },
  );

  test('says what is missing when there are no credentials at all', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'none'));
    vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'));
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    const failed = open(await connectionOf(), 500).ping();
    await expect(failed).rejects.toThrow(
      /password of the ledger could not be read: no token .* Give this process a role/,
    );
  });
});

describe('what is refused', () => {
  const wrong: [string, string, AwsCredentials, Record<string, string>?][] = [
    ['credentials that nobody knows', 'nobody knows the access key', { ...ROLE, accessKeyId: 'AKIAX' }],
    ['a wrong secret key', 'the signature is wrong', { ...ROLE, secretAccessKey: 'guessed' }],
    ['another session', 'the session token is another', { ...ROLE, sessionToken: 'old' }],
    ['another region', 'of another scope', ROLE, { AWS_REGION: 'eu-west-2' }],
  ];
  test.each(wrong)('%s', async (_, reason, given, settings) => {
    use(given);
    await expect(open(await connectionOf(settings), 300).ping()).rejects.toThrow(
      /PAM authentication failed.* must be allowed rds-db:connect as chargeonce_worker/,
    );
    expect(refusals()[0]).toContain(reason);
  });

  test('a token of another user, of another server, tampered with, or of the future', async () => {
    const right = await connectionOf();
    const token = typeof right.password === 'function' ? await right.password({ refresh: false }) : '';
    const tampered: [string, string][] = [
      [token.replace(`DBUser=${WORKER}`, `DBUser=${OWNER}`), 'for the user'],
      [token.replace(/^[^/]+/, 'other.host:5432'), 'for other.host:5432'],
      [token.replace('X-Amz-Expires=900', 'X-Amz-Expires=800'), 'signature'],
      [token.replace('X-Amz-Expires=900', 'X-Amz-Expires=86400'), 'too long'],
      [token.replace('Action=connect', 'Action=other'), 'no connect'],
      [token.replace(/X-Amz-Date=\d{4}/, 'X-Amz-Date=2100'), 'future'],
      [token.replace(/.$/, (last) => (last === '0' ? '1' : '0')), 'signature'],
      ['a password', 'no host'],
      ['', 'no host'],
    ];
    for (const [password, reason] of tampered) {
      endpoint.logins.length = 0;
      await expect(open({ ...right, password }, 1).ping()).rejects.toThrow(/PAM|password/);
      // Without any password the driver does not even answer.
      if (password !== '') expect(refusals()[0]).toContain(reason);
    }
    await open({ ...right, password: token }).ping();
  });

  test('a user who is no member of rds_iam, whatever the token', async () => {
    await managed.asProvider("CREATE ROLE stranger LOGIN PASSWORD 'x'");
    await expect(open(await connectionOf({ PGUSER: 'stranger' }), 300).ping()).rejects.toThrow(
      'password authentication failed for user "stranger"',
    );
    expect(endpoint.logins).toEqual([]);
  });

  test('a server whose certificate nobody here trusts, before anything is signed for it', async () => {
    const { ssl: _, ...rest } = await connectionOf();
    await expect(open({ ...rest, ssl: { mode: 'verify-full' } }, 300).ping()).rejects.toThrow(/certificate/);
    expect(endpoint.logins).toEqual([]);
  });

  test('a connection without TLS', async () => {
    await expect(open({ ...(await connectionOf()), ssl: false }, 300).ping()).rejects.toThrow('no encryption');
  });
});

test('the owner goes on logging in with a password, through the same endpoint', async () => {
  const owner = new URL(managed.ownerUrl);
  const settings = { DATABASE_AUTH: 'password', PGUSER: OWNER, PGPASSWORD: owner.password };
  const result = await migrate({ connection: await connectionOf(settings) });
  expect(result.applied).toEqual([]);
  expect(endpoint.logins).toEqual([]);
});
