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

const ARN = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:ledger-AbCdEf';
const PARTS = { PGHOST: 'db', PGUSER: 'worker', PGDATABASE: 'ledger' };

describe('where the ledger is', () => {
  test('as an address', () => {
    expect(config({ DATABASE_URL: 'postgresql://a%40b:p%2Fw@[::1]:6000/my%20db?sslmode=disable' })).toEqual({
      host: '::1',
      port: 6000,
      database: 'my db',
      user: 'a@b',
      login: { method: 'password', password: 'p/w' },
      tls: { mode: 'disable' },
      migrateCommand: 'chargeonce migrate --apply',
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
      login: { method: 'password', password: 'x' },
      tls: { mode: 'verify-full', rootCertFile: '/ca.pem' },
      migrateCommand: 'chargeonce migrate --apply',
    });
  });

  test('parts fill in what the address leaves out', () => {
    expect(
      config({ DATABASE_URL: 'postgres://db', PGUSER: 'worker', PGPASSWORD: 'x', PGDATABASE: 'ledger' }),
    ).toMatchObject({
      host: 'db',
      user: 'worker',
      login: { password: 'x' },
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
    expect(config({ ...PARTS, PGPASSWORD_FILE: '/run/secrets/ledger' }).login).toEqual({
      method: 'password',
      passwordFile: '/run/secrets/ledger',
    });
  });

  test.each([
    ['DATABASE_AUTH', 'none', 'allowed: password | rds-iam | entra'],
    ['DATABASE_SECRET_ARN', 'arn:aws:s3:::x', 'arn:aws:secretsmanager:<region>'],
    [
      'DATABASE_SECRET_ARN',
      'arn:aws:secretsmanager:eu-west-1:123456789012:secret:x-AbCdEf:password::',
      'without a field',
    ],
  ])('%s=%s is refused', (name, value, words) => {
    expect(problems({ PGHOST: 'db', PGDATABASE: 'ledger', [name]: value })[0]).toContain(words);
  });
});

describe('a login of Amazon RDS', () => {
  const RDS = { ...PARTS, DATABASE_AUTH: 'rds-iam', AWS_REGION: 'eu-west-1' };

  test('needs a user, a region and TLS, and nothing else', () => {
    expect(config(RDS)).toMatchObject({
      host: 'db',
      user: 'worker',
      login: { method: 'rds-iam', region: 'eu-west-1' },
      tls: { mode: 'verify-full' },
    });
  });

  test('refuses everything that contradicts it, all at once, and shows no password', () => {
    const found = problems({
      DATABASE_URL: 'postgres://worker:geheim@127.0.0.1/ledger?sslmode=disable',
      DATABASE_AUTH: 'rds-iam',
      PGPASSWORD: 'geheim',
      PGPASSWORD_FILE: '/run/secrets/ledger',
      DATABASE_SECRET_ARN: ARN,
    });
    const words = [
      'PGPASSWORD: received "***"; allowed: nothing beside DATABASE_AUTH=rds-iam',
      'PGPASSWORD_FILE: received "/run/secrets/ledger"; allowed: nothing beside DATABASE_AUTH=rds-iam',
      `DATABASE_SECRET_ARN: received "${ARN}"; allowed: nothing beside DATABASE_AUTH=rds-iam`,
      'DATABASE_URL: received "***"; allowed: no password beside DATABASE_AUTH=rds-iam',
      'AWS_REGION: received nothing',
      'DATABASE_URL: received "disable"; allowed: verify-full with DATABASE_AUTH=rds-iam',
    ];
    expect(found.map((problem, index) => problem.slice(0, words[index]?.length))).toEqual(words);
    expect(found.join()).not.toContain('geheim');
  });

  test('is not sent in the clear, not even on this machine', () => {
    expect(problems({ ...RDS, PGHOST: '127.0.0.1', PGSSLMODE: 'disable' })).toHaveLength(1);
    expect(problems({ ...RDS, PGSSLMODE: 'require' })).toHaveLength(1);
    expect(problems({ ...RDS, AWS_REGION: 'Frankfurt' })[0]).toContain('AWS_REGION: received "Frankfurt"');
  });
});

describe('a login of Microsoft Entra', () => {
  const CLIENT = '0a1b2c3d-0000-4000-8000-000000000001';
  const ENTRA = { ...PARTS, DATABASE_AUTH: 'entra' };

  test('needs a user and TLS, and nothing else', () => {
    const settings = config({ ...ENTRA, AZURE_CLIENT_ID: CLIENT });
    expect(settings).toMatchObject({ host: 'db', user: 'worker', tls: { mode: 'verify-full' } });
    expect(settings.login).toEqual({ method: 'entra', clientId: CLIENT });
    expect(config(ENTRA).login).toEqual({ method: 'entra' });
  });

  test('refuses everything that contradicts it, all at once, and shows no password', () => {
    const found = problems({
      DATABASE_URL: 'postgres://worker:geheim@127.0.0.1/ledger?sslmode=disable',
      DATABASE_AUTH: 'entra',
      PGPASSWORD: 'geheim',
      PGPASSWORD_FILE: '/run/secrets/ledger',
      DATABASE_SECRET_ARN: ARN,
      AZURE_CLIENT_ID: 'usage-worker',
    });
    const words = [
      'PGPASSWORD: received "***"; allowed: nothing beside DATABASE_AUTH=entra',
      'PGPASSWORD_FILE: received "/run/secrets/ledger"; allowed: nothing beside DATABASE_AUTH=entra',
      `DATABASE_SECRET_ARN: received "${ARN}"; allowed: nothing beside DATABASE_AUTH=entra`,
      'DATABASE_URL: received "***"; allowed: no password beside DATABASE_AUTH=entra',
      'AZURE_CLIENT_ID: received "usage-worker"; allowed: the client id (a GUID)',
      'DATABASE_URL: received "disable"; allowed: verify-full with DATABASE_AUTH=entra',
    ];
    expect(found.map((problem, index) => problem.slice(0, words[index]?.length))).toEqual(words);
    expect(found.join()).not.toContain('geheim');
  });

  test('refuses a name that the server would cut off, and no other', () => {
    expect(problems({ ...ENTRA, PGUSER: 'w'.repeat(64) })[0]).toContain('at most 63 bytes');
    expect(problems({ ...ENTRA, PGUSER: 'ü'.repeat(32) })[0]).toContain('at most 63 bytes');
    expect(config({ ...ENTRA, PGUSER: 'w'.repeat(63) }).user).toHaveLength(63);
  });

  test('is not sent in the clear, not even on this machine', () => {
    expect(problems({ ...ENTRA, PGHOST: '127.0.0.1', PGSSLMODE: 'disable' })).toHaveLength(1);
    expect(problems({ ...ENTRA, PGSSLMODE: 'require' })).toHaveLength(1);
  });
});

describe('a secret of Secrets Manager', () => {
  test('may say everything', () => {
    expect(config({ DATABASE_SECRET_ARN: ARN })).toEqual({
      login: { method: 'secret', secretArn: ARN },
      tls: { mode: 'verify-full' },
      migrateCommand: 'chargeonce migrate --apply',
    });
  });

  test('leaves host, port and database to what is set', () => {
    expect(
      config({ DATABASE_SECRET_ARN: ARN, DATABASE_AUTH: 'password', DATABASE_URL: 'postgres://db:6000/ledger' }),
    ).toMatchObject({ host: 'db', port: 6000, database: 'ledger' });
    expect(config({ DATABASE_SECRET_ARN: ARN, PGPORT: '6000' })).not.toHaveProperty('host');
  });

  test('refuses another user or password beside it, and an unknown host without TLS', () => {
    const found = problems({
      DATABASE_SECRET_ARN: ARN,
      DATABASE_URL: 'postgres://somebody:geheim@db/ledger',
      PGUSER: 'me',
      PGPASSWORD: 'geheim',
      PGPASSWORD_FILE: '/x',
    });
    expect(found.map((problem) => problem.slice(0, problem.indexOf(':')))).toEqual([
      'PGUSER',
      'PGPASSWORD',
      'PGPASSWORD_FILE',
      'DATABASE_URL',
      'DATABASE_URL',
    ]);
    expect(found.join()).not.toContain('geheim');
    expect(problems({ DATABASE_SECRET_ARN: ARN, PGSSLMODE: 'disable' })[0]).toContain('PGSSLMODE');
  });
});

test('the command that migrates is what is said', () => {
  expect(config({ ...PARTS, MIGRATE_COMMAND: 'aws ecs run-task --task x' }).migrateCommand).toBe(
    'aws ecs run-task --task x',
  );
});
