/** R1–R7: which intent may be confirmed, and when another one may take its place. */
import type { Decide } from '../../runtime/processor/decide';
import { decide } from '../../runtime/processor/decide';
import { type BillingWorld, CRASH, override, type WorkerOptions } from '../support/billing-world';
import { post } from './protocol-table/support';
import { type Rule, testRules, type Without } from './rules-support';

const DAY_MS = 25 * 3_600_000;
const SAVE_ONCE = 'AND (b.payment_intent_id IS NULL OR b.payment_intent_id = i.payment_intent_id)';
const crashAt = (point: string): WorkerOptions => ({
  crash: (reached) => {
    if (reached === point) throw CRASH;
  },
});
const crashed = (outcome: Promise<unknown>) => outcome.catch((error: unknown) => expectCrash(error));
function expectCrash(error: unknown): void {
  if (error !== CRASH) throw error;
}

/** The first worker's create is on its way while the second one does everything; a day later it arrives. */
async function lateCreate(world: BillingWorld, late: WorkerOptions, second: WorkerOptions = {}): Promise<void> {
  world.customer('a');
  const hold = world.emulator.faults.hold({ on: 'create', when: 'before-idempotency' });
  const outcome = world.worker(late).charge('a');
  await hold.reached;
  await world.expireClaims();
  await world.worker(second).reconcile();
  world.emulator.clock.advance(DAY_MS);
  hold.release();
  await outcome;
}

/** Confirms in the request that creates. */
const oneCall: typeof fetch = (input, init) => {
  const isCreate = String(input).endsWith('/v1/payment_intents') && init?.method === 'POST';
  if (!isCreate) return fetch(input, init);
  const headers = new Headers(init.headers);
  headers.delete('content-length');
  const bytes = init.body;
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes as Uint8Array).toString('utf8');
  return fetch(input, { ...init, headers, body: `${text}&confirm=true&off_session=true` });
};

const R1: Rule = {
  rule: 'R1: create never confirms',
  scenario: (world, off) => lateCreate(world, off),
  without: { worker: { fetch: oneCall } },
  problem: /a: charged 2 times/,
};

const saveIgnored: WorkerOptions = {
  ledger: (real) =>
    override(real, {
      saveIntent: async (row, intent) => {
        await real.saveIntent(row, intent);
        return true;
      },
    }),
};
const gateIgnored: WorkerOptions = {
  ledger: (real) =>
    override(real, {
      gate: async (row) => {
        await real.gate(row);
        return true;
      },
    }),
};
const bothIgnored: WorkerOptions = {
  ledger: (real) => override(real, { saveIntent: async () => true, gate: async () => true }),
};

const R2: Rule = {
  rule: 'R2: only an intent whose save was answered with one row is confirmed (the gate asks for it once more)',
  scenario: (world, off) => lateCreate(world, off),
  covered: { 'the answer of the save': { worker: saveIgnored }, 'the answer of the gate': { worker: gateIgnored } },
  without: { worker: bothIgnored },
  problem: /a: charged 2 times/,
};

const R3_R4: Rule = {
  rule: 'R3, R4: a save needs the fence, and never replaces another intent',
  async scenario(world) {
    // The second worker confirms and is gone; the late one saves over its intent; a third one takes over.
    await lateCreate(world, {}, crashAt('after-confirm'));
    await world.expireClaims();
    await world.worker().reconcile();
  },
  covered: {
    'the fence (R3)': { sql: [['save_intents', 'AND b.fence = i.fence', '']] },
    'insert-once (R4)': { sql: [['save_intents', SAVE_ONCE, '']] },
  },
  without: {
    sql: [
      ['save_intents', 'AND b.fence = i.fence', ''],
      ['save_intents', SAVE_ONCE, ''],
    ],
  },
  problem: /a: charged 2 times/,
};

/** A take-over that believes nothing was made yet. */
const startsAnew: WorkerOptions = {
  ledger: (real) =>
    override(real, {
      claimDue: async (limit) =>
        (await real.claimDue(limit)).map((row) => ({ ...row, paymentIntentId: null, confirmStarted: false })),
    }),
  stripe: (real) => override(real, { listIntents: async () => ({ kind: 'intents', intents: [] }) }),
};
const overwrite: Without['sql'] = [['save_intents', SAVE_ONCE, '']];

const R4_R5: Rule = {
  rule: 'R4, R5: a take-over resumes from the row, and a second intent is never saved over the first (H2)',
  async scenario(world, off) {
    world.customer('a');
    await crashed(world.worker(crashAt('after-confirm')).charge('a'));
    world.emulator.clock.advance(DAY_MS);
    await world.expireClaims();
    await world.worker(off).reconcile();
    // Whoever lost the row leaves it to the next one.
    await world.expireClaims();
    await world.worker().reconcile();
  },
  covered: { 'insert-once (R4)': { sql: overwrite }, 'resuming (R5)': { worker: startsAnew } },
  without: { worker: startsAnew, sql: overwrite },
  problem: /a: charged 2 times/,
};

/** An intent that was only read as unpaid is given up for a new one. */
const newIntentWhenUnknown: Decide = (row, phase, answer) => {
  const decision = decide(row, phase, answer);
  const resends = phase.step === 'retrieve' && decision.next.do === 'confirm' && decision.write.kind === 'none';
  return resends ? { write: { kind: 'drop_intent' }, next: { do: 'create', backoff: false } } : decision;
};

const R6: Rule = {
  rule: 'R6: an intent is only given up when it was seen canceled (H3)',
  async scenario(world, off) {
    world.customer('a');
    // The first confirm stands somewhere on its way, longer than the client waits.
    const hold = world.emulator.faults.hold({ on: 'confirm', when: 'before-idempotency' });
    const outcome = world.worker({ ...off, stripeTimeoutMs: 300 }).charge('a');
    await hold.reached;
    await outcome;
    hold.release();
    await arrived(world);
  },
  without: { worker: { decide: newIntentWhenUnknown } },
  problem: /a: charged 2 times/,
};

/** Every request that reached the server has been worked off. */
async function arrived(world: BillingWorld): Promise<void> {
  while (world.emulator.requests.some((request) => !request.ended)) await new Promise((r) => setImmediate(r));
}

/** An operator's retry with another method, as SQL: fence and attempt raised. */
const RETRY = `UPDATE billing_records SET status = 'pending', fence = fence + 1, settled_at = NULL,
  attempt = attempt + 1, payment_method = 'pm_card_visa', claim_expires_at = now() - interval '1 ms'`;
const NEW_INTENT = `, payment_intent_id = NULL, confirm_started_at = NULL, idempotency_key = idempotency_key || '2'`;
const seesNoIntents: WorkerOptions = {
  stripe: (real) => override(real, { listIntents: async () => ({ kind: 'intents', intents: [] }) }),
};

const R7: Rule = {
  rule: "R7: attempt n+1 goes on the same intent (the list of the customer's intents would find it again)",
  async scenario(world, off, without) {
    const first = world.worker();
    await first.deliver(world.customer('a', 'pm_card_visa', { payment_method: 'pm_card_chargeDeclined' }));
    const intent = world.emulator.intents()[0]!.id;
    await world.db.query(RETRY + without);
    await world.worker(off).reconcile();
    // The customer pays what was declined as well, by the link in the mail.
    await post(world, `/${intent}/confirm`, { payment_method: 'pm_card_visa' }, 'the customer');
  },
  covered: { 'the same intent': { scenario: NEW_INTENT }, 'the list': { worker: seesNoIntents } },
  without: { scenario: NEW_INTENT, worker: seesNoIntents },
  problem: /a: charged 2 times/,
};

testRules([R1, R2, R3_R4, R4_R5, R6, R7]);
