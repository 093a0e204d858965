import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, describe, expect, test } from 'vitest';
import type { DatabaseConfig } from '../../../runtime/config';
import { ledgerConnection } from '../../../runtime/ops/ledger-connection';

const folder = mkdtempSync(join(tmpdir(), 'chargeonce-connection-'));
afterAll(() => rmSync(folder, { recursive: true }));

const DATABASE: DatabaseConfig = {
  host: 'db.internal',
  port: 5432,
  user: 'worker',
  database: 'ledger',
  login: { method: 'password' },
  tls: { mode: 'verify-full' },
  migrateCommand: 'x',
};

async function ca(changes: Partial<DatabaseConfig>): Promise<string | undefined> {
  const { ssl } = await ledgerConnection({ ...DATABASE, ...changes });
  if (ssl === false || ssl === undefined) throw new Error('no TLS');
  return ssl.ca;
}

describe('the password', () => {
  test('is what the configuration says', async () => {
    expect((await ledgerConnection({ ...DATABASE, login: { method: 'password', password: 'x' } })).password).toBe('x');
    expect(await ledgerConnection(DATABASE)).not.toHaveProperty('password');
  });

  test('in a file is read anew each time, so that it can be rotated; its last newline does not belong to it', async () => {
    const file = join(folder, 'password');
    const { password } = await ledgerConnection({
      ...DATABASE,
      login: { method: 'password', password: 'not this', passwordFile: file },
    });
    if (typeof password !== 'function') throw new Error('not a function');
    writeFileSync(file, 'first\n');
    expect(await password({ refresh: false })).toBe('first');
    writeFileSync(file, ' second ');
    expect(await password({ refresh: true })).toBe(' second ');
  });
});

describe('the authority', () => {
  test('is the one of the file that is named', async () => {
    const file = join(folder, 'ca.pem');
    writeFileSync(file, 'PEM');
    const tls = { mode: 'verify-full', rootCertFile: file } as const;
    expect(await ca({ tls })).toBe('PEM');
    expect(await ca({ tls, host: 'x.eu-west-1.rds.amazonaws.com' })).toBe('PEM');
    await expect(ca({ tls: { ...tls, rootCertFile: '/no/such/ca.pem' } })).rejects.toThrow('/no/such/ca.pem');
  });

  test('of a database server of Amazon is one of Amazon, or a public one', async () => {
    const pem = (await ca({ host: 'ledger.abc.eu-west-1.rds.amazonaws.com' })) ?? '';
    const certificates = pem.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? [];
    const subjects = certificates.map((certificate) => new X509Certificate(certificate).subject);
    expect(subjects.some((subject) => subject.includes('Amazon RDS eu-west-1 Root CA RSA2048'))).toBe(true);
    expect(certificates.length).toBeGreaterThan(rootCertificates.length);
  });

  test.each(['db.internal', 'rds.amazonaws.com.evil.org', 'x.rds.amazonaws.community'])(
    'of %s is what Node.js trusts',
    async (host) => {
      expect(await ca({ host })).toBeUndefined();
    },
  );

  test('is not asked for without TLS', async () => {
    expect((await ledgerConnection({ ...DATABASE, tls: { mode: 'disable' } })).ssl).toBe(false);
  });
});
