/** The protocol's rules that SQL carries. Each has a twin: with the rule taken out, the same check fails. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Ledger } from '../../runtime/ledger';
import type { ChargeRow } from '../../runtime/processor/ports';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import { mutate } from './mutate';
import { claimOne, claimWithIntent, openTestLedger, request } from './support';

interface World {
  readonly database: LedgerDatabase;
  readonly ledger: Ledger;
}

interface Rule {
  readonly rule: string;
  /** Function, its text that carries the rule, and what stands there without it. */
  readonly without: readonly (readonly [name: string, from: string, to: string])[];
  readonly check: (world: World) => Promise<void>;
}

const expire = ({ database }: World) => database.query('UPDATE billing_records SET claim_expires_at = now()');
const stored = async ({ database }: World) =>
  (
    await database.query<{ status: string; payment_intent_id: string | null; reserved: boolean; attempt: number }>(
      'SELECT status, payment_intent_id, reserved, attempt FROM billing_records',
    )
  )[0];
const cap = async ({ database }: World) =>
  (
    await database.query<{ reserved_cents: string; spent_cents: string }>(
      'SELECT reserved_cents, spent_cents FROM spend_caps',
    )
  )[0];
const other = (row: ChargeRow, change: Partial<ChargeRow>): ChargeRow => ({ ...row, ...change });

async function takenOver(world: World): Promise<{ old: ChargeRow; taken: ChargeRow }> {
  const old = await claimWithIntent(world.ledger, 'c');
  await expire(world);
  return { old, taken: await claimOne(world.ledger, 'c') };
}

const RULES: readonly Rule[] = [
  {
    rule: 'R3: an intent is saved only at the fence of the claim',
    without: [['save_intents', 'AND b.fence = i.fence', '']],
    async check(world) {
      const row = await claimOne(world.ledger, 'c');
      await expire(world);
      await claimOne(world.ledger, 'c');
      expect(await world.ledger.saveIntent(row, 'pi_late')).toBe(false);
    },
  },
  {
    rule: 'R3: an intent is saved only for the attempt it was made for',
    without: [['save_intents', 'AND b.attempt = i.attempt', '']],
    async check({ ledger }) {
      const row = await claimOne(ledger, 'c');
      await ledger.nextAttempt(row, 'key-2');
      expect(await ledger.saveIntent(row, 'pi_first')).toBe(false);
    },
  },
  {
    rule: 'R3: an intent is saved only while the row is pending',
    without: [['save_intents', "AND b.status = 'pending'", '']],
    async check({ ledger, database }) {
      const row = await claimOne(ledger, 'c');
      await database.query("UPDATE billing_records SET status = 'abandoned'");
      expect(await ledger.saveIntent(row, 'pi_late')).toBe(false);
    },
  },
  {
    rule: 'R3: an intent is saved only while its amount is held',
    without: [['save_intents', 'AND b.reserved', '']],
    async check({ ledger, database }) {
      const row = await claimOne(ledger, 'c');
      await database.query('UPDATE billing_records SET reserved = false');
      expect(await ledger.saveIntent(row, 'pi')).toBe(false);
    },
  },
  {
    rule: 'R4: an intent is never replaced by another',
    without: [['save_intents', 'AND (b.payment_intent_id IS NULL OR b.payment_intent_id = i.payment_intent_id)', '']],
    async check(world) {
      const row = await claimOne(world.ledger, 'c');
      expect(await world.ledger.saveIntent(row, 'pi_1')).toBe(true);
      expect(await world.ledger.saveIntent(row, 'pi_1')).toBe(true);
      expect(await world.ledger.saveIntent(row, 'pi_2')).toBe(false);
      expect(await stored(world)).toMatchObject({ payment_intent_id: 'pi_1' });
    },
  },
  {
    rule: 'R3: the same intent again is a success, for its first answer may have been lost',
    without: [['save_intents', ' OR b.payment_intent_id = i.payment_intent_id)', ')']],
    async check({ ledger }) {
      const row = await claimOne(ledger, 'c');
      expect(await ledger.saveIntent(row, 'pi')).toBe(true);
      expect(await ledger.saveIntent(row, 'pi')).toBe(true);
    },
  },
  {
    rule: 'R6: an intent is dropped only by the fence that saw it canceled',
    without: [['drop_intents', 'AND b.fence = i.fence', '']],
    async check(world) {
      const { old } = await takenOver(world);
      expect(await world.ledger.dropIntent(old, 'key-2')).toBeUndefined();
    },
  },
  {
    rule: 'R7: a new key needs a row without an intent',
    without: [['next_attempts', 'AND (i.idempotency_key IS NULL OR b.payment_intent_id IS NULL)', '']],
    async check({ ledger }) {
      expect(await ledger.nextAttempt(await claimWithIntent(ledger, 'c'), 'key-2')).toBeUndefined();
    },
  },
  {
    rule: 'R8: a charged row is never overwritten',
    without: [
      ['settle_rows', "AND b.status NOT IN ('charged', 'zero_amount')", ''],
      ['settle_rows', "AND b.status IN ('pending', 'processing', 'action_required', 'card_declined', 'rejected')", ''],
    ],
    async check(world) {
      const row = await claimWithIntent(world.ledger, 'c');
      await world.ledger.settle(row, { status: 'charged', chargeId: 'ch' });
      expect(await world.ledger.settle(row, { status: 'card_declined' })).toBe(false);
      await world.ledger.settle(row, { status: 'charged', chargeId: 'ch' });
      expect(await stored(world)).toMatchObject({ status: 'charged' });
      expect(await cap(world)).toEqual({ reserved_cents: '0', spent_cents: '1000' });
    },
  },
  {
    rule: 'R8: a charge is counted once, however often it is written',
    without: [['settle_rows', "AND b.status NOT IN ('charged', 'zero_amount')", '']],
    async check(world) {
      const row = await claimWithIntent(world.ledger, 'c');
      for (let times = 0; times < 3; times += 1) await world.ledger.settle(row, { status: 'charged' });
      expect(await cap(world)).toEqual({ reserved_cents: '0', spent_cents: '1000' });
    },
  },
  {
    rule: 'R9: a decline keeps the hold',
    without: [['settle_rows', "AND a.status <> 'charged' AND NOT", "AND a.status = 'processing' AND NOT"]],
    async check(world) {
      const row = await claimWithIntent(world.ledger, 'c');
      await world.ledger.settle(row, { status: 'card_declined', declineCode: 'generic_decline' });
      expect(await stored(world)).toMatchObject({ status: 'card_declined', reserved: true });
      expect(await cap(world)).toEqual({ reserved_cents: '1000', spent_cents: '0' });
    },
  },
  {
    rule: 'R9: a rejection frees the hold only while there is no intent',
    without: [
      ['settle_rows', "NOT (a.status = 'rejected' AND b.payment_intent_id IS NULL),", "a.status <> 'rejected',"],
    ],
    async check(world) {
      const before = await claimOne(world.ledger, 'before');
      await world.ledger.settle(before, { status: 'rejected', error: 'no such customer' });
      await world.ledger.settle(before, { status: 'rejected', error: 'no such customer' });
      expect(await cap(world)).toEqual({ reserved_cents: '0', spent_cents: '0' });
      const after = await claimWithIntent(world.ledger, 'after');
      await world.ledger.settle(after, { status: 'rejected', error: 'no such method' });
      expect(await cap(world)).toEqual({ reserved_cents: '1000', spent_cents: '0' });
    },
  },
  {
    rule: 'R10: a take-over holds the amount once',
    without: [['reserve_claimed', 'AND NOT b.reserved\n    GROUP BY', '\n    GROUP BY']],
    async check(world) {
      await takenOver(world);
      expect(await cap(world)).toEqual({ reserved_cents: '1000', spent_cents: '0' });
    },
  },
  {
    rule: 'R11: a stale fence settles nothing but a charge',
    without: [['settle_rows', 'AND b.fence = i.fence AND b.attempt', 'AND b.attempt']],
    async check(world) {
      const { old } = await takenOver(world);
      expect(await world.ledger.settle(old, { status: 'card_declined' })).toBe(false);
      expect(await stored(world)).toMatchObject({ status: 'pending' });
    },
  },
  {
    rule: 'R11: a stale attempt settles nothing but a charge',
    without: [['settle_rows', 'AND b.fence = i.fence AND b.attempt = i.attempt', 'AND b.fence = i.fence']],
    async check(world) {
      const row = await claimWithIntent(world.ledger, 'c');
      await world.ledger.nextAttempt(row);
      expect(await world.ledger.settle(row, { status: 'card_declined' })).toBe(false);
    },
  },
  {
    rule: 'R11: every take-over by a delivery raises the fence',
    without: [['claim_batch', 'fence = b.fence + 1', 'fence = b.fence']],
    async check(world) {
      const { old, taken } = await takenOver(world);
      expect(taken.fence).toBe(old.fence + 1n);
    },
  },
  {
    rule: 'R11: every take-over by the reconciler raises the fence',
    without: [['claim_due', 'ELSE b.fence + 1 END', 'ELSE b.fence END']],
    async check(world) {
      const row = await claimWithIntent(world.ledger, 'c');
      await expire(world);
      expect(await world.ledger.claimDue(10)).toMatchObject([{ fence: row.fence + 1n }]);
    },
  },
  {
    rule: 'R12: the gate needs the fence',
    without: [['open_gates', 'AND b.fence = i.fence', '']],
    async check(world) {
      const { old } = await takenOver(world);
      expect(await world.ledger.gate(old)).toBe(false);
    },
  },
  {
    rule: 'R12: the gate needs the attempt',
    without: [['open_gates', 'AND b.attempt = i.attempt', '']],
    async check({ ledger }) {
      const row = await claimWithIntent(ledger, 'c');
      await ledger.nextAttempt(row);
      expect(await ledger.gate(row)).toBe(false);
    },
  },
  {
    rule: 'R12: the gate needs the intent that the row names',
    without: [['open_gates', 'AND b.payment_intent_id = i.payment_intent_id', '']],
    async check({ ledger }) {
      const row = await claimWithIntent(ledger, 'c', false);
      expect(await ledger.gate(other(row, { paymentIntentId: 'pi_orphan' }))).toBe(false);
      expect(await ledger.gate(other(row, { paymentIntentId: null }))).toBe(false);
      expect(await ledger.gate(row)).toBe(true);
      expect(await ledger.gate(row)).toBe(true);
    },
  },
  {
    rule: 'R13: a charge is written at any fence and attempt',
    without: [
      ['settle_rows', "AND b.status <> 'zero_amount')", "AND b.status <> 'zero_amount' AND b.fence = i.fence)"],
    ],
    async check(world) {
      const { old } = await takenOver(world);
      expect(await world.ledger.settle(old, { status: 'charged', chargeId: 'ch' })).toBe(true);
      expect(await stored(world)).toMatchObject({ status: 'charged', reserved: false });
    },
  },
  {
    rule: "R13: a charge is written only for the row's own intent",
    without: [['settle_rows', 'b.payment_intent_id IS NOT DISTINCT FROM i.payment_intent_id', 'true']],
    async check({ ledger }) {
      const row = await claimWithIntent(ledger, 'c');
      expect(await ledger.settle(other(row, { paymentIntentId: 'pi_orphan' }), { status: 'charged' })).toBe(false);
    },
  },
  {
    rule: 'R14: a late success is booked, whatever the row said',
    without: [['settle_rows', "AND b.status <> 'zero_amount')", "AND b.status = 'pending')"]],
    async check(world) {
      for (const status of ['card_declined', 'rejected', 'action_required', 'processing'] as const) {
        const row = await claimWithIntent(world.ledger, status);
        await world.ledger.settle(row, { status });
        expect(await world.ledger.settle(row, { status: 'charged', chargeId: 'ch' })).toBe(true);
      }
      expect(await cap(world)).toEqual({ reserved_cents: '0', spent_cents: '4000' });
    },
  },
  {
    rule: "R15: the amount of the row is held, not the delivery's",
    without: [
      ['claim_batch', 'AND b.amount_cents = i.amount_cents AND b.currency = i.currency)', ')'],
      ['claim_batch', 'AND b.amount_cents = excluded.amount_cents AND b.currency = excluded.currency', ''],
    ],
    async check(world) {
      await claimOne(world.ledger, 'c');
      await expire(world);
      await world.ledger.claim([request('c', { amountCents: 9 })]);
      expect(await world.ledger.claimDue(1)).toMatchObject([{ amountCents: 1000, fence: 2n }]);
    },
  },
];

let world: World;
beforeAll(async () => {
  const database = await ledgerDatabase();
  world = { database, ledger: openTestLedger(database.url) };
});
afterAll(async () => {
  await world.ledger.close();
  await world.database.drop();
});
beforeEach(() => world.database.query('TRUNCATE billing_records, billing_conflicts, spend_caps'));

describe.each(RULES)('$rule', ({ without, check }) => {
  test('holds', () => check(world));

  test('is missed when it is taken out', async () => {
    const restores: (() => Promise<unknown>)[] = [];
    for (const [name, from, to] of without) restores.unshift(await mutate(world.database, name, from, to));
    try {
      await expect(check(world)).rejects.toMatchObject({ name: 'AssertionError' });
    } finally {
      for (const restore of restores) await restore();
    }
  });
});

test('a decline is settled for good only when it was read once more', async () => {
  const row = await claimWithIntent(world.ledger, 'closing');
  const settledAt = async () =>
    (await world.database.query("SELECT settled_at FROM billing_records WHERE customer_id = 'closing'"))[0]?.settled_at;
  await world.ledger.settle(row, { status: 'card_declined', declineCode: 'x', error: 'no\0 money \ud800' });
  expect(await settledAt()).toBeNull();
  await world.ledger.settle(row, { status: 'card_declined', closed: true });
  expect(await settledAt()).toBeInstanceOf(Date);
});
