/** R8–R13: what may be written to a row, by whom, and where its hold stays. */
import { expect } from 'vitest';
import type { BillingWorld, WorkerOptions } from '../support/billing-world';
import { CRASH, override } from '../support/billing-world';
import { answerOnTheWay } from '../support/wire';
import { post } from './protocol-table/support';
import { type Rule, testRules } from './rules-support';

const DEBIT = 'pm_usBankAccount';
const BROKE = 'pm_card_chargeDeclined';
const crashAt = (point: string): WorkerOptions => ({
  crash: (reached) => {
    if (reached === point) throw CRASH;
  },
});
const crashed = (outcome: Promise<unknown>) => expect(outcome).rejects.toBe(CRASH);

const R8: Rule = {
  rule: 'R8: charged is never written again, so that a cap counts a charge once',
  async scenario(world) {
    world.customer('a');
    const hold = world.emulator.faults.hold({ on: 'confirm', when: 'before-respond' });
    const slow = world.worker().charge('a');
    await hold.reached;
    await world.expireClaims();
    await world.worker().reconcile();
    hold.release();
    await slow;
  },
  without: { sql: [['settle_rows', "AND b.status NOT IN ('charged', 'zero_amount')", '']] },
  problem: /the cap has spent 2400, its rows 1200/,
};

const R9: Rule = {
  rule: 'R9: a decline keeps its hold, so that a late success finds room in the cap (H1)',
  async scenario(world) {
    const worker = world.worker({ ledgerOptions: { spendCap: { mode: 'ledger', defaults: { usd: 1_200 } } } });
    await worker.deliver(world.customer('a', 'pm_card_visa', { payment_method: BROKE }));
    const intent = world.emulator.intents()[0]!.id;
    await worker.deliver(world.customer('b'));
    await post(world, `/${intent}/confirm`, { payment_method: 'pm_card_visa' }, 'the customer');
    await world.makeDue();
    await worker.reconcile();
  },
  without: {
    sql: [
      [
        'settle_rows',
        "NOT (a.status = 'rejected' AND b.payment_intent_id IS NULL),",
        "a.status NOT IN ('rejected', 'card_declined'),",
      ],
    ],
  },
  problem: /2400 were charged of a cap of 1200/,
};

const R10: Rule = {
  rule: 'R10: a take-over holds the amount only if the row does not hold it yet',
  async scenario(world) {
    const event = world.customer('a');
    await crashed(world.worker(crashAt('after-claim')).charge('a'));
    await world.expireClaims();
    await world.worker().deliver(event);
  },
  without: { sql: [['reserve_claimed', 'AND NOT b.reserved\n    GROUP BY', '\n    GROUP BY']] },
  problem: /the cap holds 1200, its rows 0/,
};

/** The loser's decline is old; meanwhile the winner's confirm was accepted. Then the decline is written. */
async function lateDecline(world: BillingWorld): Promise<void> {
  world.customer('a', DEBIT);
  let stands: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    stands = resolve;
  });
  let goOn: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const error = { type: 'card_error', code: 'card_declined', decline_code: 'generic_decline', message: 'No.' };
  const loser = world.worker({
    fetch: answerOnTheWay('confirm', 402, { error }),
    ledger: (real) =>
      override(real, {
        settle: async (row, settlement) => {
          stands();
          await released;
          return real.settle(row, settlement);
        },
      }),
  });
  const outcome = loser.charge('a');
  await reached;
  await world.expireClaims();
  await world.worker().reconcile();
  goOn();
  await outcome;
}

const R11_SETTLE: Rule = {
  rule: 'R11: a negative outcome needs the fence',
  scenario: (world) => lateDecline(world),
  without: { sql: [['settle_rows', 'AND b.fence = i.fence AND b.attempt = i.attempt', 'AND b.attempt = i.attempt']] },
  problem: /the row says card_declined, its intent is processing/,
};

const R11_TAKE_OVER: Rule = {
  rule: 'R11: every take-over raises the fence',
  scenario: (world) => lateDecline(world),
  without: { sql: [['claim_due', 'ELSE b.fence + 1 END', 'ELSE b.fence END']] },
  problem: /the row says card_declined, its intent is processing/,
};

/** What a kill switch may do to a row that nobody has confirmed, behind a raised fence. */
const KILL = `WITH killed AS (
    UPDATE billing_records SET status = 'abandoned', fence = fence + 1, reserved = false, claim_expires_at = NULL
    WHERE status = 'pending' AND reserved AND confirm_started_at IS NULL RETURNING amount_cents)
  UPDATE spend_caps SET reserved_cents = reserved_cents - (SELECT coalesce(sum(amount_cents), 0) FROM killed)`;

const R12: Rule = {
  rule: 'R12: the gate is written right before the confirm, so that its absence is a proof',
  async scenario(world, off) {
    world.customer('a');
    const hold = world.emulator.faults.hold({ on: 'confirm', when: 'before-idempotency' });
    const outcome = world.worker(off).charge('a');
    await hold.reached;
    await world.db.query(KILL);
    hold.release();
    await outcome;
  },
  without: { worker: { ledger: (real) => override(real, { gate: async () => true, settle: async () => false }) } },
  problem: /a: charged, but the row says abandoned/,
};

const R13: Rule = {
  rule: 'R13: CHARGED is written at any fence',
  async scenario(world) {
    world.customer('a');
    const hold = world.emulator.faults.hold({ on: 'confirm', when: 'before-respond' });
    const slow = world.worker().charge('a');
    await hold.reached;
    await world.expireClaims();
    // The next one has the row and is gone before it asks.
    await world.worker().ledger.claimDue(1);
    hold.release();
    await slow;
  },
  without: {
    sql: [['settle_rows', "AND b.status <> 'zero_amount')", "AND b.status <> 'zero_amount' AND b.fence = i.fence)"]],
  },
  problem: /a: charged, but the row says pending/,
};

testRules([R8, R9, R10, R11_SETTLE, R11_TAKE_OVER, R12, R13]);
