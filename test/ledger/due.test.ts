/** What the reconciler is given. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger } from '../../runtime/ledger';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import { claimOne, claimWithIntent, openTestLedger, request } from './support';

let database: LedgerDatabase;
let ledger: Ledger;

beforeEach(async () => {
  database = await ledgerDatabase();
  ledger = openTestLedger(database.url);
});
afterEach(async () => {
  await ledger.close();
  await database.drop();
});

const due = async (limit = 10) => (await ledger.claimDue(limit)).map((row) => row.customerId).sort();
const age = (customer: string, attempted: string, updated: string) =>
  database.query(
    `UPDATE billing_records SET first_attempted_at = now() - $2::interval, updated_at = now() - $3::interval WHERE customer_id = $1`,
    [customer, attempted, updated],
  );

test('expired pending rows are due, with an intent and without; live ones are not', async () => {
  await claimOne(ledger, 'bare');
  await claimWithIntent(ledger, 'gated');
  await claimOne(ledger, 'live');
  await database.query("UPDATE billing_records SET claim_expires_at = now() WHERE customer_id <> 'live'");
  expect(await due()).toEqual(['bare', 'gated']);
  expect(await due()).toEqual([]);
});

test('a pending row is left to its delivery for as long as it is told, and claimed by it at once', async () => {
  const patient = openTestLedger(database.url, { overdueAfterMs: 30_000 });
  try {
    await claimOne(ledger, 'a');
    await database.query("UPDATE billing_records SET claim_expires_at = now() - interval '29 seconds'");
    expect(await patient.claimDue(10)).toEqual([]);
    expect(await patient.claim([request('a')])).toMatchObject([{ outcome: 'mine', row: { fence: 2n } }]);
    await database.query("UPDATE billing_records SET claim_expires_at = now() - interval '31 seconds'");
    expect(await patient.claimDue(10)).toMatchObject([{ customerId: 'a', fence: 3n }]);
  } finally {
    await patient.close();
  }
});

test('accepted charges are looked at again after an eighth of their age, one minute at least, six hours at most', async () => {
  for (const status of ['processing', 'action_required'] as const) {
    await ledger.settle(await claimWithIntent(ledger, status), { status });
  }
  expect(await due()).toEqual([]);
  await age('processing', '2 minutes', '59 seconds');
  await age('action_required', '2 minutes', '61 seconds');
  expect(await due()).toEqual(['action_required']);
  await age('processing', '80 minutes', '9 minutes');
  expect(await due()).toEqual([]);
  await age('processing', '80 minutes', '11 minutes');
  expect(await due()).toEqual(['processing']);
  await database.query('UPDATE billing_records SET claim_expires_at = now()');
  await age('processing', '30 days', '5 hours');
  await age('action_required', '30 days', '7 hours');
  expect(await due()).toEqual(['action_required']);
});

test('a claimed accepted charge keeps its status, and a look that finds nothing new postpones the next one', async () => {
  const row = await claimWithIntent(ledger, 'c');
  await ledger.settle(row, { status: 'processing' });
  await age('c', '10 minutes', '5 minutes');
  const [again] = await ledger.claimDue(1);
  expect(again).toMatchObject({ status: 'processing', fence: 2n, reserved: true });
  expect(await ledger.claim([request('c')])).toEqual([{ outcome: 'settled', status: 'processing' }]);
  expect(await ledger.settle(again!, { status: 'processing' })).toBe(true);
  expect(await due()).toEqual([]);
});

test('a decline with an intent is read once more after a while, then it is closed', async () => {
  await ledger.settle(await claimWithIntent(ledger, 'declined'), { status: 'card_declined' });
  await ledger.settle(await claimWithIntent(ledger, 'refused'), { status: 'rejected' });
  await ledger.settle(await claimOne(ledger, 'no-intent'), { status: 'rejected' });
  for (const customer of ['declined', 'refused', 'no-intent']) await age(customer, '1 hour', '14 minutes');
  expect(await due()).toEqual([]);
  for (const customer of ['declined', 'refused', 'no-intent']) await age(customer, '1 hour', '16 minutes');
  const rows = await ledger.claimDue(10);
  expect(rows.map((row) => row.customerId).sort()).toEqual(['declined', 'refused']);
  for (const row of rows) await ledger.settle(row, { status: row.status as 'card_declined', closed: true });
  await age('declined', '30 days', '30 days');
  expect(await due()).toEqual([]);
});

test('ended rows are never due', async () => {
  await ledger.settle(await claimWithIntent(ledger, 'charged'), { status: 'charged' });
  await ledger.claim([request('zero', { amountCents: 0 })]);
  await database.query("UPDATE billing_records SET updated_at = now() - interval '1 year'");
  expect(await due()).toEqual([]);
});

test('many workers share what is due: each row goes to one of them, the oldest first', async () => {
  await ledger.claim(Array.from({ length: 100 }, (_, index) => request(`c${index}`)));
  await database.query(
    "UPDATE billing_records SET claim_expires_at = now() - substr(customer_id, 2)::integer * interval '1 second'",
  );
  const [oldest] = await ledger.claimDue(1);
  expect(oldest?.customerId).toBe('c99');
  const others = Array.from({ length: 4 }, () => openTestLedger(database.url));
  const seen: string[] = [];
  for (let found = 1; found > 0; ) {
    const rows = (await Promise.all(others.map((other) => other.claimDue(10)))).flat();
    seen.push(...rows.map((row) => row.customerId));
    found = rows.length;
  }
  expect(seen).toHaveLength(99);
  expect(new Set(seen).size).toBe(99);
  await Promise.all(others.map((other) => other.close()));
});

test('counts say what waits', async () => {
  await claimOne(ledger, 'a');
  await claimOne(ledger, 'b');
  await ledger.settle(await claimWithIntent(ledger, 'c'), { status: 'processing' });
  await database.query("UPDATE billing_records SET claim_expires_at = now() WHERE customer_id = 'b'");
  expect(await ledger.counts()).toEqual({ pending: 2, expired: 1, unresolved: 0, waiting: 1 });
});

test('a pending row is unresolved once its outcome has been open for too long, whoever has claimed it', async () => {
  for (const name of ['new', 'old', 'expired']) await claimOne(ledger, name);
  await ledger.settle(await claimWithIntent(ledger, 'settled'), { status: 'charged', chargeId: 'ch_1' });
  await database.query(
    "UPDATE billing_records SET first_attempted_at = now() - interval '301 s' WHERE customer_id <> 'new'",
  );
  await database.query("UPDATE billing_records SET claim_expires_at = now() WHERE customer_id = 'expired'");
  expect(await ledger.counts()).toMatchObject({ pending: 3, unresolved: 2 });
  expect(await ledger.counts(302_000)).toMatchObject({ pending: 3, unresolved: 0 });
});
