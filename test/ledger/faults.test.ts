/** Lost answers, dying connections, a restarting server and a changing password. */
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Ledger, LedgerUnavailable, migrate } from '../../runtime/ledger';
import type { ChargeRow } from '../../runtime/processor/ports';
import { type PostgresServer, startPostgres } from '../emulators/postgres';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import { type LossyProxy, lossyProxy } from './lossy-proxy';
import { claimOne, claimWithIntent, openTestLedger, request } from './support';

describe('the answer of a committed statement is lost', () => {
  let database: LedgerDatabase;
  let proxy: LossyProxy;
  let ledger: Ledger;

  beforeEach(async () => {
    database = await ledgerDatabase();
    const url = new URL(database.url);
    proxy = await lossyProxy(url.hostname, Number(url.port));
    url.port = String(proxy.port);
    ledger = openTestLedger(url.href, { recheckAfterMs: 0 });
  });
  afterEach(async () => {
    await ledger.close();
    await proxy.close();
    await database.drop();
  });

  /** Loses the answer to the statement, and checks that it was lost. */
  async function losing<T>(statement: string, call: () => Promise<T>): Promise<T> {
    proxy.loseAnswerTo(statement);
    const answer = await call();
    expect(proxy.lost).toBe(1);
    return answer;
  }
  const cap = async () => (await database.query('SELECT reserved_cents, spent_cents FROM spend_caps'))[0];

  test('claim: mine, at the same fence, held once, without waiting for the claim to expire', async () => {
    const row = await losing('claim_batch', () => claimOne(ledger, 'c'));
    expect(row).toMatchObject({ fence: 1n, reserved: true });
    expect(await cap()).toEqual({ reserved_cents: '1000', spent_cents: '0' });
  });

  test('claim of an expired row: mine, one fence higher and not two', async () => {
    await claimOne(ledger, 'c');
    await database.query('UPDATE billing_records SET claim_expires_at = now()');
    expect(await losing('claim_batch', () => claimOne(ledger, 'c'))).toMatchObject({ fence: 2n });
  });

  test('claim of due rows: the same rows at the same fence', async () => {
    await claimWithIntent(ledger, 'c');
    await database.query('UPDATE billing_records SET claim_expires_at = now()');
    expect(await losing('claim_due', () => ledger.claimDue(5))).toMatchObject([{ customerId: 'c', fence: 2n }]);
  });

  const WRITES: readonly [name: string, call: (row: ChargeRow) => Promise<unknown>, answer: unknown][] = [
    ['gate', (row) => ledger.gate(row), true],
    ['settle charged', (row) => ledger.settle(row, { status: 'charged', chargeId: 'ch' }), true],
    ['settle declined', (row) => ledger.settle(row, { status: 'card_declined' }), true],
    ['settle processing', (row) => ledger.settle(row, { status: 'processing' }), true],
    ['drop the intent', (row) => ledger.dropIntent(row, 'key-2'), expect.objectContaining({ attempt: 2 })],
    ['next attempt', (row) => ledger.nextAttempt(row), expect.objectContaining({ attempt: 2 })],
    ['save the intent again', (row) => ledger.saveIntent(row, row.paymentIntentId ?? ''), true],
  ];
  test.each(WRITES)('%s: the same answer, and its effect once', async (name, call, answer) => {
    const row = await claimWithIntent(ledger, 'c');
    expect(await losing('write_batch', () => call(row))).toEqual(answer);
    const spent = name === 'settle charged' ? '1000' : '0';
    expect(await cap()).toEqual({ reserved_cents: spent === '1000' ? '0' : '1000', spent_cents: spent });
  });

  test('save the intent, freeze the method, reject: the same answer, and the hold freed once', async () => {
    const row = await claimOne(ledger, 'c');
    expect(await losing('write_batch', () => ledger.saveIntent(row, 'pi'))).toBe(true);
    const free = await claimOne(ledger, 'd');
    proxy.loseAnswerTo('write_batch');
    expect(await ledger.settle(free, { status: 'rejected', error: 'no such customer' })).toBe(true);
    expect(proxy.lost).toBe(2);
    expect(await cap()).toEqual({ reserved_cents: '1000', spent_cents: '0' });
  });

  test('dead letter and zero: written once', async () => {
    const letter = { source: 's', sourcePosition: '1', partitionKey: 'k', body: new Uint8Array(), reason: 'r' };
    await losing('dead_letters', () => ledger.deadLetter([letter]));
    expect(await database.query('SELECT FROM dead_letters')).toHaveLength(1);
    proxy.loseAnswerTo('claim_batch');
    expect(await ledger.claim([request('z', { amountCents: 0 })])).toEqual([
      { outcome: 'settled', status: 'zero_amount' },
    ]);
  });

  test('a backend that is terminated in mid-statement: the statement is repeated', async () => {
    const row = await claimWithIntent(ledger, 'c');
    const unlock = await lockRows(database.url);
    const settled = ledger.settle(row, { status: 'charged', chargeId: 'ch' });
    const waiting = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while ((await database.query(`SELECT pg_terminate_backend(pid) ${waiting}`)).length === 0) await nextTurn();
    await unlock();
    expect(await settled).toBe(true);
    expect(await cap()).toEqual({ reserved_cents: '0', spent_cents: '1000' });
  });
});

test('a statement that outlasts its time is repeated, and its late effect counts once', async () => {
  const database = await ledgerDatabase();
  const ledger = openTestLedger(database.url, { statementTimeoutMs: 200 });
  const row = await claimWithIntent(ledger, 'c');
  const unlock = await lockRows(database.url);
  const settled = ledger.settle(row, { status: 'charged', chargeId: 'ch' });
  const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  while ((await database.query(waiting)).length < 2) await nextTurn();
  await unlock();
  expect(await settled).toBe(true);
  expect(await database.query('SELECT reserved_cents, spent_cents FROM spend_caps')).toEqual([
    { reserved_cents: '0', spent_cents: '1000' },
  ]);
  await ledger.close();
  await database.drop();
});

/** Locks every row on a connection of its own, until the answered function is called. */
async function lockRows(url: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM billing_records FOR UPDATE');
  return async () => {
    await client.query('COMMIT');
    await client.end();
  };
}

const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('a server of its own', () => {
  let server: PostgresServer;
  let url: string;
  const opened: Ledger[] = [];

  beforeAll(async () => {
    server = await startPostgres();
    await server.createDatabase('ledger');
    url = server.url('ledger');
    await migrate({ connection: { url } });
  });
  afterAll(() => server.stop());
  afterEach(() => Promise.all(opened.splice(0).map((ledger) => ledger.close())));

  const open = (...args: Parameters<typeof openTestLedger>) => {
    const ledger = openTestLedger(...args);
    opened.push(ledger);
    return ledger;
  };

  test('it restarts twice under load: every charge ends once', async () => {
    const ledger = open(url);
    let done = 0;
    const charge = async (customer: string) => {
      const row = await claimWithIntent(ledger, customer);
      expect(await ledger.settle(row, { status: 'charged', chargeId: 'ch' })).toBe(true);
      done += 1;
    };
    const charges = Promise.all(
      Array.from({ length: 16 }, async (_, lane) => {
        for (let index = 0; index < 20; index += 1) await charge(`restart-${lane}-${index}`);
      }),
    );
    for (const after of [40, 160]) {
      while (done < after) await nextTurn();
      await server.restart();
    }
    await charges;
    const check = open(url);
    const looks = await check.claim(Array.from({ length: 16 }, (_, lane) => request(`restart-${lane}-19`)));
    expect(new Set(looks.map(({ outcome }) => outcome))).toEqual(new Set(['settled']));
    expect(await check.counts()).toEqual({ pending: 0, expired: 0, unresolved: 0, waiting: 0 });
  });

  test('it is away for longer than statements are repeated: they say that the ledger is unavailable', async () => {
    const ledger = open('postgres://u:p@127.0.0.1:1/nothing', { retryForMs: 200 });
    await expect(ledger.claim([request('c')])).rejects.toThrow(LedgerUnavailable);
    await expect(ledger.ping()).rejects.toThrow(/ECONNREFUSED.*Check that the database runs/);
    await ledger.close();
    await expect(ledger.claim([request('c')])).rejects.toThrow(/the ledger was closed/);
    await ledger.close();
  });

  test('its password changes under a running ledger: it is read again', async () => {
    const [admin, hints] = [open(url), [] as boolean[]];
    await admin.ping();
    const client = new Client({ connectionString: server.url('ledger') });
    await client.connect();
    await client.query("CREATE ROLE worker LOGIN PASSWORD 'first'");
    await client.query('GRANT ALL ON ALL TABLES IN SCHEMA public TO worker');
    let secret = 'first';
    let cached = 'first';
    const ledger = openTestLedger(url, {
      connection: {
        url,
        user: 'worker',
        async password({ refresh }) {
          hints.push(refresh);
          if (refresh) cached = secret;
          return cached;
        },
      },
    });
    opened.push(ledger);
    await claimOne(ledger, 'rotated-1');
    await client.query("ALTER ROLE worker PASSWORD 'second'");
    secret = 'second';
    await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker'");
    await claimOne(ledger, 'rotated-2');
    expect(hints).toContain(true);
    expect(hints[0]).toBe(false);
    await client.end();
  });

  test('a wrong password, a missing database and bad values are told apart', async () => {
    const wrong = open(url, { connection: { url, password: 'wrong' }, retryForMs: 300 });
    await expect(wrong.ping()).rejects.toThrow(/password authentication failed/);
    const missing = open(server.url('no_such_database'));
    await expect(missing.ping()).rejects.toMatchObject({ code: '3D000' });
    const ledger = open(url);
    const [good, bad] = await Promise.allSettled([ledger.claim([request('good')]), ledger.claim([request('bad\0')])]);
    expect(good).toMatchObject({ status: 'fulfilled', value: [{ outcome: 'mine' }] });
    expect(bad).toMatchObject({ status: 'rejected', reason: { code: '22021' } });
  });
});
