/** DATABASE_SECRET_ARN: what is read of a secret, when, and what is said when it cannot be. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { readDatabaseConfig } from '../../../runtime/config';
import { ledgerConnection } from '../../../runtime/ops/ledger-connection';
import { type SecretsManager, startSecretsManager } from '../../support/secrets-manager';

const ARN = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:ledger-AbCdEf';
let manager: SecretsManager;

beforeAll(async () => {
  manager = await startSecretsManager();
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', manager.endpoint);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'not a secret');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await manager.stop();
});
beforeEach(() => {
  manager.reads.length = 0;
  manager.secrets.clear();
  manager.refuse(undefined);
});

async function connect(fields: object | string, env: Record<string, string> = {}) {
  manager.secrets.set(ARN, typeof fields === 'string' ? fields : JSON.stringify(fields));
  const read = readDatabaseConfig({ DATABASE_SECRET_ARN: ARN, ...env });
  if (!read.ok) throw new Error(read.problems.join());
  return ledgerConnection(read.config);
}

function passwordOf({ password }: Awaited<ReturnType<typeof connect>>) {
  if (typeof password !== 'function') throw new Error('the password is no function');
  return (refresh: boolean) => password({ refresh });
}

const WHOLE = { username: 'u', password: 'geheim', host: 'db', port: 6000, dbname: 'ledger' };

describe('the fields of the secret', () => {
  test('say where the ledger is, as far as the environment does not', async () => {
    expect(await connect(WHOLE)).toMatchObject({ host: 'db', port: 6000, user: 'u', database: 'ledger' });
    expect(await connect({ ...WHOLE, port: '6001' })).toMatchObject({ port: 6001 });
    const env = { PGHOST: 'other', PGPORT: '7000', PGDATABASE: 'mine' };
    expect(await connect(WHOLE, env)).toMatchObject({ host: 'other', port: 7000, user: 'u', database: 'mine' });
  });

  test('may be user and password alone', async () => {
    const bare = { username: 'u', password: 'geheim' };
    expect(await connect(bare, { PGHOST: 'db' })).toMatchObject({ host: 'db', port: 5432, user: 'u', database: 'u' });
    await expect(connect(bare)).rejects.toThrow('PGHOST: not set');
  });

  test.each([
    ['geheim', 'no JSON object'],
    ['["geheim"]', 'it has: 0'],
    [{ username: 'u', pass: 'geheim' }, 'it has: username, pass'],
    [{ username: 'u', password: '' }, 'needs the fields username and password'],
  ])('%j is refused in words that show no value', async (fields, words) => {
    const refused = connect(fields, { PGHOST: 'db' });
    await expect(refused).rejects.toThrow(words);
    await expect(refused).rejects.not.toThrow('geheim');
  });
});

describe('the password', () => {
  test('is read once, and again when it was refused; logins at the same time share one read', async () => {
    const password = passwordOf(await connect(WHOLE));
    expect(await Promise.all([password(false), password(false)])).toEqual(['geheim', 'geheim']);
    expect(manager.reads).toHaveLength(1);
    manager.secrets.set(ARN, JSON.stringify({ ...WHOLE, password: 'neu' }));
    expect(await password(false)).toBe('geheim');
    expect(await Promise.all([password(true), password(true), password(true)])).toEqual(['neu', 'neu', 'neu']);
    expect(manager.reads).toHaveLength(2);
  });

  test('is not given for another user than the one that logs in', async () => {
    const password = passwordOf(await connect(WHOLE));
    manager.secrets.set(ARN, JSON.stringify({ ...WHOLE, username: 'other' }));
    await expect(password(true)).rejects.toThrow('names the user other now, and this process began as u: restart it');
  });

  test('that cannot be read is said with what to do, and read when it can be', async () => {
    const password = passwordOf(await connect(WHOLE));
    manager.refuse('AccessDeniedException');
    await expect(password(true)).rejects.toThrow(/AccessDeniedException: not for you.*secretsmanager:GetSecretValue/);
    manager.refuse(undefined);
    expect(await password(false)).toBe('geheim');
    manager.refuse('AccessDeniedException');
    await expect(connect(WHOLE)).rejects.toThrow(/^DATABASE_SECRET_ARN: the secret .* could not be read/);
  });
});
