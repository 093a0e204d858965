/** TLS to the database: verify-full with a private authority, and nothing weaker. */
import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Ledger, LedgerTls } from '../../runtime/ledger';
import { type PostgresServer, startPostgres } from '../emulators/postgres';
import { newAuthority } from '../support/rds/certificates';
import { openTestLedger } from './support';

const ours = newAuthority('chargeonce test authority');
const foreign = newAuthority('somebody else');
let plain: PostgresServer;
let secure: PostgresServer;
const opened: Ledger[] = [];

/** Gives the server a certificate of ours for 127.0.0.1, and for no name. */
async function secureServer(server: PostgresServer): Promise<void> {
  const { key, cert } = ours.sign('127.0.0.1');
  const { uid, gid } = statSync(server.dataDirectory);
  for (const [name, text] of [
    ['server.crt', cert],
    ['server.key', key],
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
