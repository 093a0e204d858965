/** TLS to the database: verify-full with a private authority, and nothing weaker. */
import { generateKeyPairSync } from 'node:crypto';
import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import forge from 'node-forge';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Ledger, LedgerTls } from '../../runtime/ledger';
import { type PostgresServer, startPostgres } from '../emulators/postgres';
import { openTestLedger } from './support';

interface Authority {
  readonly name: string;
  readonly key: forge.pki.rsa.PrivateKey;
  readonly pem: string;
}

function newKey(): { key: forge.pki.rsa.PrivateKey; publicKey: forge.pki.PublicKey; pem: string } {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return {
    key: forge.pki.privateKeyFromPem(pair.privateKey) as forge.pki.rsa.PrivateKey,
    publicKey: forge.pki.publicKeyFromPem(pair.publicKey),
    pem: pair.privateKey,
  };
}

function certificate(subject: string, key: forge.pki.PublicKey, issuer: string, extensions: object[]) {
  const made = forge.pki.createCertificate();
  made.publicKey = key;
  made.serialNumber = `01${Math.floor(Math.random() * 1e8)
    .toString(16)
    .padStart(8, '0')}`;
  made.validity.notBefore = new Date(Date.now() - 3_600_000);
  made.validity.notAfter = new Date(Date.now() + 86_400_000);
  made.setSubject([{ name: 'commonName', value: subject }]);
  made.setIssuer([{ name: 'commonName', value: issuer }]);
  made.setExtensions(extensions);
  return made;
}

function newAuthority(name: string): Authority {
  const { key, publicKey } = newKey();
  const made = certificate(name, publicKey, name, [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ]);
  made.sign(key, forge.md.sha256.create());
  return { name, key, pem: forge.pki.certificateToPem(made) };
}

const ours = newAuthority('chargeonce test authority');
const foreign = newAuthority('somebody else');
let plain: PostgresServer;
let secure: PostgresServer;
const opened: Ledger[] = [];

/** Gives the server a certificate of ours for 127.0.0.1, and for no name. */
async function secureServer(server: PostgresServer): Promise<void> {
  const { publicKey, pem } = newKey();
  const made = certificate('database', publicKey, ours.name, [
    { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    { name: 'extKeyUsage', serverAuth: true },
  ]);
  made.sign(ours.key, forge.md.sha256.create());
  const { uid, gid } = statSync(server.dataDirectory);
  for (const [name, text] of [
    ['server.crt', forge.pki.certificateToPem(made)],
    ['server.key', pem],
  ] as const) {
    const path = join(server.dataDirectory, name);
    writeFileSync(path, text, { mode: 0o600 });
    chownSync(path, uid, gid);
  }
  const client = new Client({ connectionString: server.url('postgres') });
  await client.connect();
  await client.query('ALTER SYSTEM SET ssl = on');
  await client.end();
  await server.restart();
}

beforeAll(async () => {
  [plain, secure] = await Promise.all([startPostgres(), startPostgres()]);
  await secureServer(secure);
});
afterEach(() => Promise.all(opened.splice(0).map((ledger) => ledger.close())));
afterAll(() => Promise.all([plain.stop(), secure.stop()]));

function ping(server: PostgresServer, ssl: LedgerTls, host = server.host): Promise<void> {
  const ledger = openTestLedger('', { connection: { url: server.url('postgres'), host, ssl } });
  opened.push(ledger);
  return ledger.ping();
}

test('a private authority is trusted when it is given, and the address is checked', async () => {
  await ping(secure, { mode: 'verify-full', ca: ours.pem });
});

test('a wrong authority is refused at once', async () => {
  await expect(ping(secure, { mode: 'verify-full', ca: foreign.pem })).rejects.toMatchObject({
    code: expect.stringMatching(/UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/),
  });
});

test('without an authority, a private one is refused', async () => {
  await expect(ping(secure, { mode: 'verify-full' })).rejects.toMatchObject({
    code: expect.stringMatching(/UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/),
  });
});

test('a certificate that does not name the host is refused', async () => {
  await expect(ping(secure, { mode: 'verify-full', ca: ours.pem }, 'localhost')).rejects.toMatchObject({
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
});

test('a server without TLS is refused, and never spoken to in the clear', async () => {
  await expect(ping(plain, { mode: 'verify-full', ca: ours.pem })).rejects.toThrow(/does not support SSL/);
});

test('a url may ask for verify-full; weaker modes and other urls are refused in words that show no password', async () => {
  const open = (url: string) => () => openTestLedger(url);
  expect(open('postgres://u:secret@h/d?sslmode=require')).toThrow(/sslmode=require .* verify-full/);
  expect(open('mysql://u:secret@h/d')).toThrow(/postgres:\/\/user/);
  expect(open('postgres://h/d')).toThrow(/no user/);
  expect(open('mysql://u:secret@h/d')).not.toThrow(/secret/);
  const asked = openTestLedger(`${secure.url('postgres')}?sslmode=verify-full`);
  opened.push(asked);
  await expect(asked.ping()).rejects.toMatchObject({ code: expect.stringMatching(/UNABLE_TO|SELF_SIGNED/) });
});
