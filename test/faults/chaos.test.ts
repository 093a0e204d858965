/**
 * Everything at once, by chance: three workers that die in mid-charge, a Stripe that drops, repeats and forgets, keys
 * that are pruned, customers who pay, fail or cancel behind our back. Whatever happened, rows, caps and books agree at
 * the end. CHARGEONCE_CHAOS_SEEDS runs others: `7`, or `100-180`.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../runtime/contract';
import type { ChargeRow } from '../../runtime/processor/ports';
import { seededRandom } from '../../stacks/local/random';
import type { FaultKind, FaultPoint } from '../emulators/stripe';
import { audit } from '../support/audit';
import {
  type BillingWorld,
  CRASH,
  override,
  useBillingWorld,
  type Worker,
  type WorkerOptions,
} from '../support/billing-world';
import { post } from './protocol-table/support';

const open = useBillingWorld();
let world: BillingWorld;
beforeEach(() => {
  world = open();
});

const CUSTOMERS = 24;
const ROUNDS = 4;
const METHODS = ['pm_card_visa', 'pm_card_visa', 'pm_card_chargeDeclined', 'pm_usBankAccount', 'pm_card_mastercard'];
const WHATS: readonly FaultKind[] = [
  'drop',
  'error-500',
  'error-500-cached',
  'html-502',
  'in-use-409',
  'rate-429',
  'lock-timeout-429',
  'wrong-shape',
  'truncated-json',
];
const WHENS: readonly FaultPoint[] = ['before-execute', 'after-execute', 'before-respond'];
const CRASHES: readonly CrashPoint[] = ['after-create', 'after-save', 'after-gate', 'after-confirm', 'after-settle'];

type Random = () => number;
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

function armFaults(random: Random): void {
  for (let n = 0; n < 40; n++) {
    world.emulator.faults.add({
      on: pick(random, ['create', 'confirm', 'confirm', 'retrieve', 'list', 'customers.retrieve']),
      when: pick(random, WHENS),
      what: pick(random, WHATS),
      match: () => random() < 0.3,
    });
  }
}

/** While some requests stand still all claims end, so that workers overtake each other in mid-charge. */
function endClaimsMeanwhile(random: Random): () => Promise<void> {
  let ended: Promise<void> = Promise.resolve();
  for (let n = 0; n < 8; n++) {
    world.emulator.faults.add({
      on: pick(random, ['create', 'confirm', 'retrieve', 'list']),
      when: pick(random, ['before-idempotency', 'before-execute', 'before-respond'] as const),
      what: 'delay',
      delayMs: 20,
      match: () => random() < 0.2,
      onHit: () => {
        ended = ended.then(() => world.expireClaims());
      },
    });
  }
  return () => ended;
}

/** What customers, banks and people at the Dashboard do meanwhile. */
async function outside(random: Random): Promise<void> {
  for (const intent of world.emulator.intents()) {
    const luck = random();
    if (intent.status === 'processing' && luck < 0.5) {
      world.emulator.settleProcessing(intent.id, luck < 0.35 ? 'succeeded' : 'failed');
    } else if (intent.status === 'requires_payment_method' && luck < 0.3) {
      await post(world, `/${intent.id}/confirm`, { payment_method: 'pm_card_visa' }, `link ${intent.id}`);
    } else if (['requires_payment_method', 'requires_confirmation'].includes(intent.status) && luck > 0.95) {
      world.emulator.cancel(intent.id);
    }
  }
}

async function run(seed: number, options: WorkerOptions = {}, forgets = 0.5): Promise<void> {
  const random = seededRandom(seed);
  const events = Array.from({ length: CUSTOMERS }, (_, n) => world.customer(`s${seed}-${n}`, pick(random, METHODS)));
  for (let round = 0; round < ROUNDS; round++) {
    armFaults(random);
    const ended = endClaimsMeanwhile(random);
    const crash = (point: CrashPoint) => {
      if (CRASHES.includes(point) && random() < 0.06) throw CRASH;
    };
    const workers = [0, 1, 2].map(() => world.worker({ ...options, crash }));
    await Promise.all(workers.map((worker) => worker.deliver(...events)));
    await Promise.all(workers.map((worker) => worker.reconcile()));
    world.emulator.faults.clear();
    await ended();
    await outside(random);
    await world.expireClaims();
    if (random() < forgets) world.emulator.clock.advance(25 * 3_600_000);
  }
}

/** The weather clears: whatever waits is looked at until nothing changes any more. */
async function comeToRest(worker: Worker): Promise<void> {
  for (let round = 0; round < 6; round++) {
    for (const { id, status } of world.emulator.intents()) {
      if (status === 'processing') world.emulator.settleProcessing(id, 'succeeded');
    }
    await world.makeDue();
    while ((await worker.reconcile()) > 0);
  }
}

const WAITING = `SELECT customer_id FROM billing_records WHERE status IN ('pending', 'processing', 'action_required')`;
const [first, last] = (process.env.CHARGEONCE_CHAOS_SEEDS ?? '1-4').split('-').map(Number);
const SEEDS = Array.from({ length: (last ?? first!) - first! + 1 }, (_, n) => first! + n);

describe.each(SEEDS)('seed %i', (seed) => {
  it('rows, caps and books agree, and nobody is left waiting', async () => {
    await run(seed);
    await comeToRest(world.worker());
    expect(await audit(world)).toEqual([]);
    expect(await world.db.query(WAITING)).toEqual([]);
    expect(world.emulator.books.charges.length).toBeGreaterThan(CUSTOMERS / 3);
  });
});

const forget = (row: ChargeRow): ChargeRow => ({ ...row, paymentIntentId: null, confirmStarted: false });

it('twin: workers that forget what the row names charge somebody twice', async () => {
  const forgetful: WorkerOptions = {
    ledger: (real) =>
      override(real, {
        claim: async (requests) =>
          (await real.claim(requests)).map((a) => (a.outcome === 'mine' ? { ...a, row: forget(a.row) } : a)),
        claimDue: async (limit) => (await real.claimDue(limit)).map(forget),
        saveIntent: async () => true,
        gate: async () => true,
      }),
    stripe: (real) => override(real, { listIntents: async () => ({ kind: 'intents', intents: [] }) }),
  };
  // Timing is real, so one seed may be lucky.
  let problems = '';
  for (let seed = 1; seed <= 6 && !/charged \d times/.test(problems); seed++) {
    await run(seed, forgetful, 1);
    problems = (await audit(world)).join();
  }
  expect(problems).toMatch(/charged \d times/);
});
