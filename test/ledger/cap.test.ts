import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger, LedgerOptions } from '../../runtime/ledger';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import { mutate } from './mutate';
import { claimOne, claimWithIntent, openTestLedger, request } from './support';

let database: LedgerDatabase;
const opened: Ledger[] = [];

beforeEach(async () => {
  database = await ledgerDatabase();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((ledger) => ledger.close()));
  await database.drop();
});

function open(spendCap: LedgerOptions['spendCap']): Ledger {
  const ledger = openTestLedger(database.url, { spendCap });
  opened.push(ledger);
  return ledger;
}

const caps = () =>
  database.query(
    'SELECT billing_period, currency, limit_cents, reserved_cents, spent_cents FROM spend_caps ORDER BY 1, 2',
  );
const limited = { mode: 'ledger', defaults: { usd: 500 } } as const;

/** Fails any commit at which a cap is exceeded, and counts it: a sequence does not roll back. */
async function assertCapsAtEveryCommit(): Promise<void> {
  await database.query('CREATE SEQUENCE exceeded');
  await database.query(`
    CREATE FUNCTION assert_caps() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE cap record;
    BEGIN
      SELECT * INTO cap FROM spend_caps WHERE billing_period = NEW.billing_period AND currency = NEW.currency;
      IF cap.reserved_cents + cap.spent_cents > cap.limit_cents THEN
        PERFORM nextval('exceeded');
        RAISE EXCEPTION 'over the cap: %', cap;
      END IF;
      RETURN NULL;
    END $$`);
  await database.query(`
    CREATE CONSTRAINT TRIGGER assert_caps AFTER INSERT OR UPDATE ON spend_caps
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION assert_caps()`);
}

const exceeded = async () => (await database.query('SELECT is_called FROM exceeded'))[0]?.is_called;

async function hundredClaims(): Promise<Map<string, number>> {
  const ledgers = Array.from({ length: 10 }, () => open(limited));
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      ledgers[index % 10]!.claim([request(`c${index}`, { amountCents: 10 })]).then(([answer]) => answer!.outcome),
    ),
  );
  const counts = new Map<string, number>();
  for (const outcome of answers) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return counts;
}

test('a hundred parallel claims of 10 against a cap of 500: exactly fifty are mine, at no commit is it exceeded', async () => {
  await assertCapsAtEveryCommit();
  expect(await hundredClaims()).toEqual(
    new Map([
      ['mine', 50],
      ['cap_blocked', 50],
    ]),
  );
  expect(await exceeded()).toBe(false);
  expect(await caps()).toMatchObject([{ limit_cents: '500', reserved_cents: '500', spent_cents: '0' }]);
  expect(
    await database.query("SELECT FROM billing_records WHERE status = 'cap_blocked' AND NOT reserved"),
  ).toHaveLength(50);
});

test('twin: when the room is not read under the lock of the cap, the trigger notices', async () => {
  await assertCapsAtEveryCommit();
  await database.query("INSERT INTO spend_caps VALUES ('2026-10', 'usd', 500)");
  await mutate(database, 'reserve_claimed', 's.currency = need.currency FOR UPDATE', 's.currency = need.currency');
  await database.query(
    "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END'",
  );
  await database.query('CREATE TRIGGER wait BEFORE UPDATE ON spend_caps FOR EACH ROW EXECUTE FUNCTION wait()');
  await hundredClaims();
  expect(await exceeded()).toBe(true);
});

test('a charge turns its hold into spend; unknown, declined and waiting ones keep theirs', async () => {
  await assertCapsAtEveryCommit();
  const ledger = open({ mode: 'ledger', defaults: { usd: 10_000 } });
  await ledger.settle(await claimWithIntent(ledger, 'charged'), { status: 'charged' });
  await ledger.settle(await claimWithIntent(ledger, 'declined'), { status: 'card_declined', closed: true });
  await ledger.settle(await claimWithIntent(ledger, 'action'), { status: 'action_required' });
  await ledger.settle(await claimWithIntent(ledger, 'processing'), { status: 'processing' });
  await ledger.settle(await claimWithIntent(ledger, 'refused'), { status: 'rejected', closed: true });
  await ledger.settle(await claimOne(ledger, 'never'), { status: 'rejected' });
  await claimWithIntent(ledger, 'unknown');
  expect(await exceeded()).toBe(false);
  expect(await caps()).toMatchObject([{ reserved_cents: '5000', spent_cents: '1000' }]);
});

test('what fits is taken in the order of the batch', async () => {
  const ledger = open(limited);
  const amounts = [300, 150, 100, 50, 1];
  const answers = await ledger.claim(amounts.map((amountCents, index) => request(`c${index}`, { amountCents })));
  expect(answers.map(({ outcome }) => outcome)).toEqual(['mine', 'mine', 'cap_blocked', 'mine', 'cap_blocked']);
});

test('a currency without a default is blocked, unless its period has a limit', async () => {
  const ledger = open(limited);
  expect(await ledger.claim([request('eur', { currency: 'eur' })])).toEqual([{ outcome: 'cap_blocked' }]);
  await database.query("INSERT INTO spend_caps VALUES ('2026-11', 'eur', 5000)");
  expect(await ledger.claim([request('eur', { currency: 'eur', billingPeriod: '2026-11' })])).toMatchObject([
    { outcome: 'mine' },
  ]);
  expect(await ledger.claim([request('eur', { currency: 'eur' })])).toEqual([{ outcome: 'cap_blocked' }]);
});

test('sums are kept while nothing is enforced, so that the mode can change at any time', async () => {
  const off = open({ mode: 'off', defaults: {} });
  await off.settle(await claimWithIntent(off, 'a', true), { status: 'charged' });
  await claimOne(off, 'b');
  expect(await caps()).toMatchObject([{ limit_cents: null, reserved_cents: '1000', spent_cents: '1000' }]);
  const on = open({ mode: 'ledger', defaults: { usd: 3000 } });
  expect(await on.claim([request('c'), request('d')])).toMatchObject([{ outcome: 'mine' }, { outcome: 'cap_blocked' }]);
  expect(await caps()).toMatchObject([{ limit_cents: '3000', reserved_cents: '2000', spent_cents: '1000' }]);
  expect(await off.claim([request('e')])).toMatchObject([{ outcome: 'mine' }]);
  expect(await caps()).toMatchObject([{ limit_cents: '3000', reserved_cents: '3000', spent_cents: '1000' }]);
});

test('an expired row that lost its hold is held again by a take-over, or blocked', async () => {
  const ledger = open(limited);
  await claimOne(ledger, 'a', { amountCents: 400 });
  await database.query('UPDATE billing_records SET reserved = false, claim_expires_at = now()');
  await database.query('UPDATE spend_caps SET reserved_cents = 0');
  expect(await claimOne(ledger, 'a', { amountCents: 400 })).toMatchObject({ reserved: true, fence: 2n });
  await database.query('UPDATE billing_records SET reserved = false, claim_expires_at = now()');
  expect(await ledger.claim([request('a', { amountCents: 400 })])).toEqual([{ outcome: 'cap_blocked' }]);
});
