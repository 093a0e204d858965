import { describe, expect, test } from 'vitest';
import { readDatabaseConfig } from '../../../runtime/config';

const config = (env: Record<string, string>) => {
  const read = readDatabaseConfig(env);
  if (!read.ok) throw new Error(read.problems.join(' | '));
  return read.config;
};
const problems = (env: Record<string, string>) => {
  const read = readDatabaseConfig(env);
  return read.ok ? [] : read.problems;
};

const PARTS = { PGHOST: 'db', PGUSER: 'worker', PGDATABASE: 'ledger' };

describe('where the ledger is', () => {
  test('as an address', () => {
    expect(config({ DATABASE_URL: 'postgresql://a%40b:p%2Fw@[::1]:6000/my%20db?sslmode=disable' })).toEqual({
      host: '::1',
      port: 6000,
      database: 'my db',
      user: 'a@b',
      password: 'p/w',
      tls: { mode: 'disable' },
    });
  });

  test('in parts, the database named like the user when it is not said', () => {
    expect(
      config({ PGHOST: 'db', PGUSER: 'worker', PGPORT: '6432', PGPASSWORD: 'x', PGSSLROOTCERT: '/ca.pem' }),
    ).toEqual({
      host: 'db',
      port: 6432,
      database: 'worker',
      user: 'worker',
      password: 'x',
      tls: { mode: 'verify-full', rootCertFile: '/ca.pem' },
    });
  });

  test('parts fill in what the address leaves out', () => {
    expect(
      config({ DATABASE_URL: 'postgres://db', PGUSER: 'worker', PGPASSWORD: 'x', PGDATABASE: 'ledger' }),
    ).toMatchObject({
      host: 'db',
      user: 'worker',
      password: 'x',
      database: 'ledger',
    });
  });

  test('two different hosts are refused', () => {
    expect(problems({ DATABASE_URL: 'postgres://u@one/x', PGHOST: 'two' })[0]).toContain('two different ledgers');
    expect(problems({ DATABASE_URL: 'postgres://u@one/x', PGHOST: 'one' })).toEqual([]);
  });

  test('a user is needed', () => {
    expect(problems({ PGHOST: 'db' })[0]).toContain('PGUSER');
  });

  test.each([
    'mysql://u:geheim@h/d',
    'u:geheim@h/d',
    'postgres://u:ge%heim@h/d',
    'postgres://u:gehe/im@h/d',
    'postgres://u:geheim@h/d?options=-c',
  ])('%s is refused and the password not shown', (url) => {
    const found = problems({ DATABASE_URL: url });
    expect(found[0]).toContain('DATABASE_URL');
    expect(found.join()).not.toContain('heim');
  });
});

describe('TLS', () => {
  test.each(['db.internal', '10.0.0.5', '127.0.0.1.evil.com'])('%s is always verified', (host) => {
    expect(config({ ...PARTS, PGHOST: host }).tls).toEqual({ mode: 'verify-full' });
    expect(problems({ ...PARTS, PGHOST: host, PGSSLMODE: 'disable' })[0]).toContain('PGSSLMODE: received "disable"');
    expect(problems({ DATABASE_URL: `postgres://u@${host}/d?sslmode=disable` })).toHaveLength(1);
  });

  test.each(['localhost', '127.0.0.1', '::1', '/var/run/postgresql'])('%s may go without', (host) => {
    expect(config({ ...PARTS, PGHOST: host, PGSSLMODE: 'disable' }).tls).toEqual({ mode: 'disable' });
    expect(config({ ...PARTS, PGHOST: host }).tls.mode).toBe('verify-full');
  });

  test.each(['require', 'prefer', 'allow', 'verify-ca', 'no-verify'])('%s is no safe mode', (mode) => {
    expect(problems({ ...PARTS, PGHOST: '127.0.0.1', PGSSLMODE: mode })[0]).toContain('verify-full');
  });
});

describe('the password', () => {
  test('may come from a file', () => {
    expect(config({ ...PARTS, PGPASSWORD_FILE: '/run/secrets/ledger' }).passwordFile).toBe('/run/secrets/ledger');
  });

  test.each([
    ['DATABASE_AUTH', 'rds-iam', 'rds-iam is not in this version'],
    ['DATABASE_AUTH', 'entra', 'entra is not in this version'],
    ['DATABASE_AUTH', 'none', 'allowed: password | rds-iam | entra'],
    ['DATABASE_SECRET_ARN', 'arn:aws:secretsmanager:x', 'nothing in this version'],
  ])('%s=%s is refused', (name, value, words) => {
    expect(problems({ ...PARTS, [name]: value })[0]).toContain(words);
  });
});
