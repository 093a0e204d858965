import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Ledger } from '../../runtime/ledger';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import { claimOne, claimWithIntent, event, openTestLedger, request } from './support';

let database: LedgerDatabase;
let ledger: Ledger;

beforeAll(async () => {
  database = await ledgerDatabase();
  ledger = openTestLedger(database.url);
});
afterAll(async () => {
  await ledger.close();
  await database.drop();
});

test('a fresh event is claimed, saved, gated, charged, and stays charged', async () => {
  const row = await claimWithIntent(ledger, 'journey');
  expect(row).toMatchObject({ status: 'pending', attempt: 1, fence: 1n, reserved: true, amountCents: 1000 });
  expect(await ledger.settle(row, { status: 'charged', chargeId: 'ch_1' })).toBe(true);
  expect(await ledger.settle(row, { status: 'charged', chargeId: 'ch_1' })).toBe(true);
  expect(await ledger.claim([request('journey')])).toEqual([{ outcome: 'settled', status: 'charged' }]);
  expect(await ledger.look([event('journey'), event('journey', { amountCents: 5 }), event('nobody')])).toEqual([
    { outcome: 'settled', status: 'charged' },
    { outcome: 'differs' },
    { outcome: 'claimable' },
  ]);
  const [cap] = await database.query('SELECT * FROM spend_caps');
  expect(cap).toMatchObject({ limit_cents: null, reserved_cents: '0', spent_cents: '1000' });
});

test('an amount of zero is settled on the spot', async () => {
  const zero = request('nothing', { amountCents: 0 });
  expect(await ledger.claim([zero])).toEqual([{ outcome: 'settled', status: 'zero_amount' }]);
  expect(await ledger.claim([zero])).toEqual([{ outcome: 'settled', status: 'zero_amount' }]);
  expect(await ledger.claim([request('nothing')])).toEqual([{ outcome: 'conflict' }]);
});

test('a dropped intent raises the attempt and keeps claim and hold', async () => {
  const row = await claimWithIntent(ledger, 'dropped');
  const dropped = await ledger.dropIntent(row, 'key-2');
  expect(dropped).toMatchObject({
    attempt: 2,
    idempotencyKey: 'key-2',
    paymentIntentId: null,
    confirmStarted: false,
    reserved: true,
    fence: 1n,
    status: 'pending',
  });
  expect(await ledger.dropIntent(row, 'key-2')).toEqual(dropped);
  expect(await ledger.dropIntent(row, 'key-3')).toBeUndefined();
});

test('the next attempt keeps the intent, or changes the key while there is none', async () => {
  const fresh = await claimOne(ledger, 'next');
  const second = await ledger.nextAttempt(fresh, 'key-next-2');
  expect(second).toMatchObject({ attempt: 2, idempotencyKey: 'key-next-2' });
  expect(await ledger.nextAttempt(fresh, 'key-next-2')).toEqual(second);
  const row = await claimWithIntent(ledger, 'same');
  expect(await ledger.nextAttempt(row, 'other')).toBeUndefined();
  expect(await ledger.nextAttempt(row)).toMatchObject({
    attempt: 2,
    paymentIntentId: 'pi_same',
    confirmStarted: true,
    idempotencyKey: row.idempotencyKey,
  });
});

test('a released claim can be taken over at once, at the next fence', async () => {
  const row = await claimOne(ledger, 'released');
  const [other] = await ledger.claim([request('released')]);
  expect(other).toMatchObject({ outcome: 'in_flight' });
  await ledger.release(row);
  expect(await claimOne(ledger, 'released')).toMatchObject({ fence: 2n });
  expect(await ledger.saveIntent(row, 'pi_late')).toBe(false);
});

test('a dead letter of any bytes and words is kept once', async () => {
  const letter = {
    source: 'kinesis/s/shard',
    sourcePosition: `\0${'9'.repeat(5000)}`,
    partitionKey: 'k\0\ud800',
    body: new Uint8Array([0, 255, 0]),
    reason: 'no JSON: \0\ud800',
  };
  await ledger.deadLetter([letter, letter, { ...letter, sourcePosition: '2' }]);
  await ledger.deadLetter([letter]);
  const rows = await database.query<{ body: Buffer }>('SELECT body FROM dead_letters');
  expect(rows.map(({ body }) => [...body])).toEqual([
    [0, 255, 0],
    [0, 255, 0],
  ]);
});
