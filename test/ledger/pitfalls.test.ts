/** The seven pitfalls of claiming in SQL: what goes wrong the naive way, and that the claim does not do it. */
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Ledger } from '../../runtime/ledger';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import { mutate } from './mutate';
import { claimOne, openTestLedger, request } from './support';

let database: LedgerDatabase;
let ledger: Ledger;
let other: Client;

beforeEach(async () => {
  database = await ledgerDatabase();
  ledger = openTestLedger(database.url, { claimTtlMs: 60_000 });
  other = new Client({ connectionString: database.url });
  await other.connect();
});
afterEach(async () => {
  await other.end();
  await ledger.close();
  await database.drop();
});

/** Resolves when another connection waits for a lock. */
async function somebodyWaits(): Promise<void> {
  for (;;) {
    const waiting = await database.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    if (waiting.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const INSERT_ROW = `INSERT INTO billing_records (customer_id, billing_period, stripe_customer_id, amount_cents, currency, status,
  idempotency_key, claimed_by, claim_expires_at) VALUES ($1, '2026-10', 'cus', 1000, 'usd', 'pending', 'k', 'other', now() + interval '1 minute')`;

describe('P1: one identity twice in a batch', () => {
  const batch = [request('c'), { ...request('c'), sourcePosition: '2' }];

  test('the naive insert fails', async () => {
    const naive = `INSERT INTO billing_records (customer_id, billing_period, stripe_customer_id, amount_cents, currency, status, idempotency_key, claim_expires_at)
      SELECT c, '2026-10', 'cus', 1, 'usd', 'pending', 'k', now() FROM unnest(ARRAY['c', 'c']) AS i(c)
      ON CONFLICT (customer_id, billing_period) DO UPDATE SET fence = billing_records.fence + 1`;
    await expect(database.query(naive)).rejects.toMatchObject({ code: '21000' });
  });

  test('the claim takes the first, also where the ledger did not remove the repeat before', async () => {
    expect((await ledger.claim(batch)).map(({ outcome }) => outcome)).toEqual(['mine', 'duplicate']);
    const raw = await database.query<{ outcome: string }>(
      `SELECT outcome FROM claim_batch('t', 60000, false, '{}', '{}', ARRAY['d', 'd'], ARRAY['p', 'p'], ARRAY['cus', 'cus'],
        ARRAY['pm', 'pm'], ARRAY[1, 1], ARRAY['usd', 'usd'], ARRAY['x', 'x'], ARRAY['{}', '{}'], ARRAY['k', 'k'],
        ARRAY['s', 's'], ARRAY['1', '2'])`,
    );
    expect(raw.map(({ outcome }) => outcome)).toEqual(['mine', 'duplicate']);
  });
});

describe('P2: a row that is committed while the claim waits for it', () => {
  async function claimWhileCommitting(statement: (ledger: Ledger) => Promise<unknown>): Promise<unknown> {
    await other.query('BEGIN');
    await other.query(INSERT_ROW, ['c']);
    const answer = statement(ledger);
    await somebodyWaits();
    await other.query('COMMIT');
    return await answer;
  }

  test('one statement that inserts and reads answers nothing', async () => {
    const naive = `WITH got AS (
        INSERT INTO billing_records (customer_id, billing_period, stripe_customer_id, amount_cents, currency, status, idempotency_key, claim_expires_at)
        VALUES ('c', '2026-10', 'cus', 1000, 'usd', 'pending', 'k', now()) ON CONFLICT DO NOTHING RETURNING customer_id)
      SELECT got.customer_id AS mine, b.status FROM (VALUES ('c')) AS i(customer_id)
      LEFT JOIN got USING (customer_id) LEFT JOIN billing_records b USING (customer_id)`;
    const naiveClient = new Client({ connectionString: database.url });
    await naiveClient.connect();
    const answer = await claimWhileCommitting(async () => (await naiveClient.query(naive)).rows);
    await naiveClient.end();
    expect(answer).toEqual([{ mine: null, status: null }]);
  });

  test('the claim reads after it has inserted', async () => {
    expect(await claimWhileCommitting((one) => one.claim([request('c')]))).toMatchObject([{ outcome: 'in_flight' }]);
  });
});

describe('P3: a row that cannot be claimed', () => {
  const locked = async () =>
    other.query('SELECT FROM billing_records FOR UPDATE NOWAIT').then(
      () => false,
      (error: { code: string }) => error.code === '55P03',
    );

  test('the naive conflict clause locks it', async () => {
    await claimOne(ledger, 'c');
    await database.query('BEGIN');
    await database.query(
      `INSERT INTO billing_records (customer_id, billing_period, stripe_customer_id, amount_cents, currency, status, idempotency_key, claim_expires_at)
       VALUES ('c', '2026-10', 'cus', 1, 'usd', 'pending', 'k', now())
       ON CONFLICT (customer_id, billing_period) DO UPDATE SET fence = 9 WHERE false`,
    );
    expect(await locked()).toBe(true);
    await database.query('ROLLBACK');
  });

  test('the claim neither waits for it nor writes it', async () => {
    await claimOne(ledger, 'c');
    const version = async () => (await database.query('SELECT xmin, xmax, ctid FROM billing_records'))[0];
    const before = await version();
    await other.query('BEGIN');
    await other.query('SELECT FROM billing_records FOR UPDATE');
    expect(await ledger.claim([request('c')])).toMatchObject([{ outcome: 'in_flight' }]);
    await other.query('COMMIT');
    expect((await version())?.ctid).toBe(before?.ctid);
  });
});

test('P4: rows that exist already are answered too', async () => {
  await claimOne(ledger, 'c');
  const naive =
    'INSERT INTO billing_records SELECT * FROM billing_records ON CONFLICT DO NOTHING RETURNING customer_id';
  expect(await database.query(naive)).toEqual([]);
  expect(await ledger.claim([request('c'), request('d')])).toMatchObject([
    { outcome: 'in_flight' },
    { outcome: 'mine' },
  ]);
});

test('P5: a claim that expires while the claimer waits is left alone: time is the start of the transaction', async () => {
  await claimOne(ledger, 'c');
  await database.query('UPDATE billing_records SET claim_expires_at = now()');
  await other.query('BEGIN');
  await other.query("UPDATE billing_records SET claim_expires_at = clock_timestamp() + interval '50 ms', fence = 2");
  const late = ledger.claim([request('c')]);
  await somebodyWaits();
  await other.query('SELECT pg_sleep(0.1)');
  await other.query('COMMIT');
  expect(await late).toMatchObject([{ outcome: 'in_flight' }]);
  expect(await ledger.claim([request('c')])).toMatchObject([{ outcome: 'mine', row: { fence: 3n } }]);
});

describe('P6: the room of a cap that changes while the claim waits for it', () => {
  async function claimBehindASpender(): Promise<unknown> {
    const capped = openTestLedger(database.url, { spendCap: { mode: 'ledger', defaults: { usd: 1500 } } });
    await database.query("INSERT INTO spend_caps VALUES ('2026-10', 'usd', 1500)");
    await other.query('BEGIN');
    await other.query('UPDATE spend_caps SET spent_cents = 1200');
    const answer = capped.claim([request('c')]);
    await somebodyWaits();
    await other.query('COMMIT');
    const [given] = await answer;
    await capped.close();
    return given;
  }

  test('the claim reads it under the lock', async () => {
    expect(await claimBehindASpender()).toEqual({ outcome: 'cap_blocked' });
  });

  test('twin: read before the lock, it overspends', async () => {
    await mutate(database, 'reserve_claimed', 's.currency = need.currency FOR UPDATE', 's.currency = need.currency');
    expect(await claimBehindASpender()).toMatchObject({ outcome: 'mine' });
  });
});

test('P7: keys sort bytewise, whatever the collation of the database', async () => {
  const [row] = await database.query<{ icu: boolean; bytes: boolean; column: boolean }>(
    `SELECT 'a' COLLATE "und-x-icu" < 'B' COLLATE "und-x-icu" AS icu, 'a' COLLATE "C" < 'B' COLLATE "C" AS bytes,
       (SELECT bool_and(collation_name = 'C') FROM information_schema.columns
        WHERE table_schema = 'public' AND column_name IN ('customer_id', 'billing_period', 'currency')) AS column`,
  );
  expect(row).toEqual({ icu: true, bytes: false, column: true });
});
