/** R14, R15, R16, R19 and R20: what an answer means, what is sent, and who finishes what nobody delivers again. */
import { expect } from 'vitest';
import type { Decide } from '../../runtime/processor/decide';
import { decide } from '../../runtime/processor/decide';
import { type BillingWorld, CRASH, override, type Worker, type WorkerOptions } from '../support/billing-world';
import { post } from './protocol-table/support';
import { type Rule, testRules } from './rules-support';

const BROKE = 'pm_card_chargeDeclined';
const crashAt = (point: string): WorkerOptions => ({
  crash: (reached) => {
    if (reached === point) throw CRASH;
  },
});
const crashed = (outcome: Promise<unknown>) => expect(outcome).rejects.toBe(CRASH);

async function reconcileOften(world: BillingWorld, worker: Worker): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await world.makeDue();
    await worker.reconcile();
  }
}

/** Declined; then the customer pays the same intent by the link in the mail, and nobody tells us. */
async function paidLater(world: BillingWorld): Promise<void> {
  const worker = world.worker();
  await worker.deliver(world.customer('a', 'pm_card_visa', { payment_method: BROKE }));
  await post(world, `/${world.emulator.intents()[0]!.id}/confirm`, { payment_method: 'pm_card_visa' }, 'the customer');
  await reconcileOften(world, worker);
}

const R14_BOOK: Rule = {
  rule: 'R14: a late success is booked, whatever the row said',
  scenario: (world) => paidLater(world),
  without: { sql: [['settle_rows', "AND b.status <> 'zero_amount')", "AND b.status = 'pending')"]] },
  problem: /a: charged, but the row says card_declined/,
};

const R14_CLOSING: Rule = {
  rule: 'R14: a declined row is read once more before it is closed',
  scenario: (world) => paidLater(world),
  without: {
    sql: [
      [
        'claim_due',
        "WHERE status IN ('card_declined', 'rejected') AND payment_intent_id IS NOT NULL AND settled_at IS NULL",
        'WHERE false',
      ],
    ],
  },
  problem: /a: charged, but the row says card_declined/,
};

/** Takes its amount from somewhere else than the row. */
const deliveredAmount: WorkerOptions = {
  ledger: (real) =>
    override(real, {
      claimDue: async (limit) => (await real.claimDue(limit)).map((row) => ({ ...row, amountCents: 5_000 })),
    }),
};

const R15: Rule = {
  rule: "R15: what is charged is the row's amount, never the delivery's (H: two amounts)",
  async scenario(world, off) {
    world.customer('a');
    await crashed(world.worker(crashAt('after-claim')).charge('a'));
    await world.expireClaims();
    const worker = world.worker(off);
    // The period again with another amount: a conflict, recorded and passed.
    const partition = await worker.deliver({
      customer_id: 'a',
      billing_period: '2026-10',
      stripe_customer_id: 'cus_a',
      amount_cents: 5_000,
      currency: 'usd',
    });
    expect(partition.position).toBe('1');
    expect(await world.db.query('SELECT amount_cents::integer AS cents FROM billing_conflicts')).toEqual([
      { cents: 5_000 },
    ]);
    await worker.reconcile();
  },
  without: { worker: deliveredAmount },
  problem: /a: charged 5000 instead of 1200/,
};

/** Says that an event is done before its row is committed. */
const claimsLater: WorkerOptions = {
  ledger: (real) =>
    override(real, {
      claim: async (requests) => requests.map(() => ({ outcome: 'settled' as const, status: 'charged' as const })),
    }),
};

const R16_CHECKPOINT: Rule = {
  rule: 'R16: a checkpoint passes only a committed row',
  async scenario(world, off) {
    const event = world.customer('a');
    const partition = await world.worker(off).deliver(event);
    // The process is gone; a delivery below the checkpoint never comes again.
    if (partition.position === undefined) await world.worker().deliver(event);
    await reconcileOften(world, world.worker());
    const rows = await world.db.query('SELECT FROM billing_records');
    return rows.length === 0 ? ["a: in nobody's hands"] : [];
  },
  without: { worker: claimsLater },
  problem: /in nobody's hands/,
};

const R16_RECONCILER: Rule = {
  rule: 'R16: the reconciler takes any expired pending row, with or without an intent (H9)',
  async scenario(world) {
    world.customer('a');
    await crashed(world.worker(crashAt('after-claim')).charge('a'));
    await reconcileOften(world, world.worker());
    const [row] = await world.db.query<{ status: string }>('SELECT status FROM billing_records');
    return row?.status === 'pending' ? ["a: in nobody's hands"] : [];
  },
  without: {
    sql: [
      [
        'claim_due',
        "interval '1 ms' AND status = 'pending'",
        "interval '1 ms' AND status = 'pending' AND payment_intent_id IS NOT NULL",
      ],
    ],
  },
  problem: /in nobody's hands/,
};

/** Believes a refusal of this request to be a verdict on the intent. */
const refusalIsFinal: Decide = (row, phase, answer) =>
  phase.step === 'confirm' && answer.kind === 'refused'
    ? { write: { kind: 'settle', settlement: { status: 'rejected', error: answer.message } }, next: { do: 'done' } }
    : decide(row, phase, answer);

const R19: Rule = {
  rule: 'R19: a refusal of a confirm is about that request only: the intent is read first (H5)',
  async scenario(world, off) {
    world.customer('a');
    // The first confirm is executed, its answer lost; the resend is refused (the method was detached meanwhile).
    world.emulator.faults.add({ on: 'confirm', when: 'before-respond', what: 'in-use-409' });
    let sent = 0;
    const worker = world.worker({
      ...off,
      fetch: async (input, init) => {
        if (!String(input).endsWith('/confirm') || ++sent !== 2) return fetch(input, init);
        const error = { type: 'invalid_request_error', code: 'resource_missing', message: 'No such PaymentMethod' };
        return new Response(JSON.stringify({ error }), { status: 400 });
      },
    });
    await worker.charge('a');
  },
  without: { worker: { decide: refusalIsFinal } },
  problem: /a: charged, but the row says rejected/,
};

/** Believes a stored decline. */
const replayIsNews: Decide = (row, phase, answer) =>
  decide(row, phase, 'replayed' in answer && answer.kind === 'declined' ? { ...answer, replayed: false } : answer);

const R20: Rule = {
  rule: 'R20: a replayed decline is old news: the intent is read before it is settled',
  async scenario(world, off) {
    world.customer('a', BROKE);
    let paid: Promise<unknown> = Promise.resolve();
    world.emulator.faults.add({
      on: 'confirm',
      when: 'before-respond',
      what: 'in-use-409',
      onHit: () => {
        paid = new Promise((resolve) => setImmediate(resolve)).then(() =>
          post(
            world,
            `/${world.emulator.intents()[0]!.id}/confirm`,
            { payment_method: 'pm_card_visa' },
            'the customer',
          ),
        );
      },
    });
    // The resend waits until the customer has paid.
    const resend = world.emulator.faults.hold({
      on: 'confirm',
      when: 'before-idempotency',
      match: ({ idempotencyKey }) =>
        idempotencyKey !== 'the customer' && world.emulator.intents()[0]?.status !== 'requires_confirmation',
    });
    const outcome = world.worker(off).charge('a');
    await resend.reached;
    await paid;
    resend.release();
    await outcome;
  },
  without: { worker: { decide: replayIsNews } },
  problem: /a: charged, but the row says card_declined/,
};

testRules([R14_BOOK, R14_CLOSING, R15, R16_CHECKPOINT, R16_RECONCILER, R19, R20]);
