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

const expire = (customer: string) =>
  database.query('UPDATE billing_records SET claim_expires_at = now() WHERE customer_id = $1', [customer]);

test('the answers of one batch: fresh, repeated, other amount, settled, in flight, expired', async () => {
  const done = await claimWithIntent(ledger, 'done');
  await ledger.settle(done, { status: 'charged', chargeId: 'ch' });
  await claimOne(ledger, 'busy');
  await claimOne(ledger, 'expired');
  await expire('expired');
  const answers = await ledger.claim([
    request('fresh'),
    request('fresh'),
    request('fresh', { amountCents: 5 }),
    request('done'),
    request('busy'),
    request('expired'),
    request('expired', { currency: 'eur' }),
  ]);
  expect(answers.map(({ outcome }) => outcome)).toEqual([
    'mine',
    'duplicate',
    'conflict',
    'settled',
    'in_flight',
    'mine',
    'conflict',
  ]);
  expect(answers[4]).toMatchObject({ retryInMs: expect.any(Number) });
  expect((answers[4] as { retryInMs: number }).retryInMs).toBeGreaterThan(30_000);
  expect(answers[5]).toMatchObject({ row: { fence: 2n, status: 'pending', reserved: true } });
});

test('a row is taken over as it was frozen, whatever the new delivery says', async () => {
  const first = request('frozen', { metadata: { b: '2', a: '1' }, description: 'x' });
  await ledger.claim([{ ...first, description: 'the old template' }]);
  await expire('frozen');
  const [answer] = await ledger.claim([
    {
      ...request('frozen', { stripeCustomerId: 'cus_other', paymentMethod: 'pm_other', metadata: { c: '3' } }),
      idempotencyKey: 'other-key',
      description: 'the new template',
    },
  ]);
  expect(answer).toMatchObject({
    outcome: 'mine',
    row: {
      stripeCustomerId: 'cus_frozen',
      paymentMethod: 'pm_card_visa',
      idempotencyKey: first.idempotencyKey,
      description: 'the old template',
      metadata: { a: '1', b: '2' },
      fence: 2n,
    },
  });
});

test("in a batch with two amounts for an expired row, the one that is the row's is claimed", async () => {
  await claimOne(ledger, 'two', { amountCents: 700 });
  await expire('two');
  const answers = await ledger.claim([request('two'), request('two', { amountCents: 700 })]);
  expect(answers.map(({ outcome }) => outcome)).toEqual(['conflict', 'mine']);
});

test('a conflict is recorded once, and never charged', async () => {
  await claimOne(ledger, 'conflict');
  const others = [request('conflict', { amountCents: 1 }), request('conflict', { currency: 'eur' })];
  for (let times = 0; times < 3; times += 1) {
    expect(await ledger.claim([...others, ...others])).toMatchObject([
      { outcome: 'conflict' },
      { outcome: 'conflict' },
      { outcome: 'duplicate' },
      { outcome: 'duplicate' },
    ]);
  }
  expect(await database.query("SELECT * FROM billing_conflicts WHERE customer_id = 'conflict'")).toHaveLength(2);
  expect(await database.query("SELECT * FROM billing_records WHERE customer_id = 'conflict'")).toMatchObject([
    { amount_cents: '1000', currency: 'usd' },
  ]);
});

test('identities that would be one text when joined are two rows', async () => {
  const answers = await ledger.claim([
    request('a:b', { billingPeriod: 'c' }),
    request('a', { billingPeriod: 'b:c' }),
    request('a\u0001b', { billingPeriod: 'c' }),
    request('a', { billingPeriod: 'b\u0001c' }),
  ]);
  expect(answers.map(({ outcome }) => outcome)).toEqual(['mine', 'mine', 'mine', 'mine']);
});

test('fifty claims of one event at once: one is mine, the others in flight', async () => {
  const others = await Promise.all(Array.from({ length: 3 }, async () => openTestLedger(database.url)));
  const ledgers = [ledger, ...others];
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => ledgers[index % 4]?.claim([request('crowd')])),
  );
  const outcomes = answers.map((answer) => answer?.[0]?.outcome);
  expect(outcomes.filter((outcome) => outcome === 'mine')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'in_flight')).toHaveLength(49);
  await Promise.all(others.map((one) => one.close()));
});

test('a call of thousands is answered one by one, in order', async () => {
  const requests = Array.from({ length: 1203 }, (_, index) => request(`many-${index % 1200}`));
  const answers = await ledger.claim(requests);
  expect(answers).toHaveLength(1203);
  expect(answers.slice(1200).map(({ outcome }) => outcome)).toEqual(['duplicate', 'duplicate', 'duplicate']);
  answers.slice(0, 1200).forEach((answer, index) => {
    expect(answer).toMatchObject({ outcome: 'mine', row: { customerId: `many-${index}` } });
  });
  const looks = await ledger.look(requests.map((one) => one.event));
  expect(new Set(looks.map(({ outcome }) => outcome))).toEqual(new Set(['in_flight']));
});

test('no requests, no statement', async () => {
  expect(await ledger.claim([])).toEqual([]);
  expect(await ledger.look([])).toEqual([]);
});

test('an expired row of another amount differs; of its own it is claimable', async () => {
  await claimOne(ledger, 'look');
  await expire('look');
  expect(await ledger.look([event('look'), event('look', { amountCents: 1 })])).toEqual([
    { outcome: 'claimable' },
    { outcome: 'differs' },
  ]);
});

test('a payment method is frozen once', async () => {
  const [answer] = await ledger.claim([
    { ...request('no-method'), event: (({ paymentMethod: _, ...rest }) => rest)(event('no-method')) },
  ]);
  if (answer?.outcome !== 'mine') throw new Error('not mine');
  expect(answer.row.paymentMethod).toBeNull();
  expect(await ledger.freezePaymentMethod(answer.row, 'pm_1')).toBe(true);
  expect(await ledger.freezePaymentMethod(answer.row, 'pm_1')).toBe(true);
  expect(await ledger.freezePaymentMethod(answer.row, 'pm_2')).toBe(false);
});
