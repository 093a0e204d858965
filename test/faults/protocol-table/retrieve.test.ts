/** Rows "retrieve says" and "list says" of the protocol's table, for rows that were taken over. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../../runtime/contract';
import { type BillingWorld, CRASH, useBillingWorld } from '../../support/billing-world';
import { onSession } from '../../support/wire';
import { expectCharged, expectEndsCharged, expectRow, expectUnknown, fault, keysOf, post, requestsOf } from './support';

const open = useBillingWorld();
let world: BillingWorld;
beforeEach(() => {
  world = open();
});

const ASKS = 'pm_card_authenticationRequired';
const BROKE = 'pm_card_chargeDeclined';
const DEBIT = 'pm_usBankAccount';
const theIntent = () => world.emulator.intents()[0]!.id;

/** A worker takes the row as far as the point and is gone; its claim ends. What it asked is forgotten. */
async function crashedAt(point: CrashPoint, method = 'pm_card_visa', fetch?: typeof globalThis.fetch): Promise<void> {
  // The event names no method: the customer's default is looked up and frozen.
  world.customer('a', method);
  const worker = world.worker({
    ...(fetch && { fetch }),
    crash: (reached) => {
      if (reached === point) throw CRASH;
    },
  });
  await worker.charge('a').then(
    () => {
      throw new Error(`The worker never came to ${point}`);
    },
    (error: unknown) => expect(error).toBe(CRASH),
  );
  await world.expireClaims();
}

async function takeOver(fetch?: typeof globalThis.fetch) {
  const worker = world.worker(fetch && { fetch });
  const before = world.emulator.requests.length;
  await worker.reconcile();
  const asked = requestsOf(world).slice(
    world.emulator.requests.slice(0, before).filter((r) => r.operation.startsWith('payment_intents.')).length,
  );
  return { worker, asked };
}

describe('retrieve says', () => {
  it('succeeded: charged', async () => {
    await crashedAt('after-confirm');
    expect((await takeOver()).asked).toEqual(['retrieve']);
    await expectCharged(world, 'a');
  });

  it('processing: processing, the hold kept', async () => {
    await crashedAt('after-confirm', DEBIT);
    expect((await takeOver()).asked).toEqual(['retrieve']);
    await expectRow(world, 'a', { status: 'processing', reserved: true });
  });

  it('requires_action: action_required, the hold kept', async () => {
    await crashedAt('after-confirm', ASKS, onSession);
    expect((await takeOver()).asked).toEqual(['retrieve']);
    await expectRow(world, 'a', { status: 'action_required', reserved: true });
  });

  it('canceled: seen, so a new intent with attempt 2 (R6)', async () => {
    await crashedAt('after-gate');
    world.emulator.cancel(theIntent());
    expect((await takeOver()).asked).toEqual(['retrieve', 'create', 'confirm']);
    expect(await expectCharged(world, 'a')).toMatchObject({ attempt: 2 });
  });

  it('requires_confirmation on a pending row: confirm-n again, through the gate, never a verdict', async () => {
    await crashedAt('after-gate');
    expect((await takeOver()).asked).toEqual(['retrieve', 'confirm']);
    expect(await expectCharged(world, 'a')).toMatchObject({ attempt: 1 });
    expect(world.emulator.intents()).toHaveLength(1);
  });

  it('requires_payment_method on a pending row, left by an earlier attempt: confirm-n again, never a verdict (H4)', async () => {
    await crashedAt('after-gate');
    await post(world, `/${theIntent()}/confirm`, { payment_method: BROKE, off_session: 'true' }, 'attempt 0');
    expect(world.emulator.intents()[0]?.status).toBe('requires_payment_method');
    expect((await takeOver()).asked).toEqual(['retrieve', 'confirm']);
    await expectCharged(world, 'a');
  });

  it('requires_payment_method on a pending row, left by this attempt: the replayed decline decides', async () => {
    await crashedAt('after-confirm', BROKE);
    expect((await takeOver()).asked).toEqual(['retrieve', 'confirm', 'retrieve']);
    await expectRow(world, 'a', { status: 'card_declined', reserved: true });
  });

  it('requires_payment_method on a processing row: declined, the hold kept', async () => {
    const worker = world.worker();
    await worker.deliver(world.customer('a', 'pm_card_visa', { payment_method: DEBIT }));
    world.emulator.settleProcessing(theIntent(), 'failed');
    await world.makeDue();
    await worker.reconcile();
    await expectRow(world, 'a', { status: 'card_declined', reserved: true, claimed: false });
  });

  it('requires_payment_method on an action_required row: declined, the hold kept; a late success is booked (R14)', async () => {
    const worker = world.worker({ fetch: onSession });
    await worker.deliver(world.customer('a', 'pm_card_visa', { payment_method: ASKS }));
    world.emulator.completeAction(theIntent(), 'failed');
    await world.makeDue();
    await worker.reconcile();
    await expectRow(world, 'a', { status: 'card_declined', reserved: true, claimed: false });
    await post(world, `/${theIntent()}/confirm`, { payment_method: 'pm_card_visa' }, 'the customer');
    await expectEndsCharged(world, worker, 'a');
  });

  it('still processing on a processing row: nothing changes, and it is looked at again', async () => {
    const worker = world.worker();
    await worker.deliver(world.customer('a', 'pm_card_visa', { payment_method: DEBIT }));
    for (let round = 0; round < 2; round++) {
      await world.makeDue();
      expect(await worker.reconcile()).toBe(1);
      await expectRow(world, 'a', { status: 'processing', reserved: true, claimed: false });
    }
  });

  it('still unpaid on a declined row: read once more and closed, the hold kept (R14)', async () => {
    const worker = world.worker();
    await worker.deliver(world.customer('a', 'pm_card_visa', { payment_method: BROKE }));
    await world.makeDue();
    expect(await worker.reconcile()).toBe(1);
    await expectRow(world, 'a', { status: 'card_declined', reserved: true });
    await world.makeDue();
    expect(await worker.reconcile()).toBe(0);
  });

  it('404: an alarm, never a verdict', async () => {
    await crashedAt('after-gate');
    await world.db.query("UPDATE billing_records SET payment_intent_id = 'pi_of_another_account'");
    const { worker } = await takeOver();
    await expectUnknown(world, 'a');
    expect(worker.metrics.counted('alarms intent_missing')).toBe(1);
  });

  for (const what of ['wrong-shape', 'error-500', 'html-502', 'drop', 'rate-429'] as const) {
    it(`${what}: no verdict`, async () => {
      await crashedAt('after-confirm');
      fault(world, { on: 'retrieve', when: 'before-respond', what, times: 99 });
      const { worker } = await takeOver();
      await expectUnknown(world, 'a');
      await expectEndsCharged(world, worker, 'a');
    });
  }
});

describe('list says', () => {
  it('some: the intent that was created and not saved is adopted', async () => {
    await crashedAt('after-create');
    expect((await takeOver()).asked).toEqual(['list', 'retrieve', 'confirm']);
    await expectCharged(world, 'a');
    expect(world.emulator.intents()).toHaveLength(1);
  });

  it('some: also when the key was pruned since, so that no second intent is made', async () => {
    await crashedAt('after-create');
    world.emulator.clock.advance(25 * 3_600_000);
    await takeOver();
    await expectCharged(world, 'a');
    expect(world.emulator.intents()).toHaveLength(1);
  });

  it('none: the same key', async () => {
    await crashedAt('after-claim');
    expect((await takeOver()).asked).toEqual(['list', 'create', 'confirm']);
    expect(await expectCharged(world, 'a')).toMatchObject({ attempt: 1 });
  });

  it('two: the oldest', async () => {
    await crashedAt('after-create');
    const first = theIntent();
    await copyIntent();
    await takeOver();
    expect(await expectCharged(world, 'a')).toMatchObject({ payment_intent_id: first });
  });

  it('two, the younger one succeeded: that one, with an alarm', async () => {
    await crashedAt('after-create');
    const second = await copyIntent();
    await post(world, `/${second}/confirm`, { payment_method: 'pm_card_visa' }, 'somebody');
    const { worker } = await takeOver();
    expect(await expectCharged(world, 'a')).toMatchObject({ payment_intent_id: second });
    expect(worker.metrics.counted('alarms confirmed_before_saved')).toBe(1);
  });

  it('only canceled ones: attempt 2 with a new key', async () => {
    await crashedAt('after-create');
    world.emulator.cancel(theIntent());
    expect((await takeOver()).asked).toEqual(['list', 'create', 'confirm']);
    expect(await expectCharged(world, 'a')).toMatchObject({ attempt: 2 });
  });

  it("another row's intents: none of ours", async () => {
    await crashedAt('after-claim');
    await post(world, '', { amount: '1200', currency: 'usd', customer: 'cus_a', 'metadata[billing_key]': 'another' });
    expect((await takeOver()).asked).toEqual(['list', 'create', 'confirm']);
    await expectCharged(world, 'a');
  });

  for (const what of ['wrong-shape', 'error-500', 'drop'] as const) {
    it(`${what} for ever: unknown, nothing is created`, async () => {
      await crashedAt('after-create');
      fault(world, { on: 'list', when: 'before-respond', what, times: 99 });
      const { worker, asked } = await takeOver();
      expect(new Set(asked)).toEqual(new Set(['list']));
      await expectUnknown(world, 'a');
      await expectEndsCharged(world, worker, 'a');
      expect(world.emulator.intents()).toHaveLength(1);
    });
  }

  /** A second intent of the same row, as an old worker whose key was pruned could have left it. */
  async function copyIntent(): Promise<string> {
    const original = world.emulator.intents()[0]!;
    const metadata = Object.entries(original.metadata).map(([name, value]) => [`metadata[${name}]`, value]);
    const form = { amount: '1200', currency: 'usd', customer: 'cus_a', payment_method: 'pm_card_visa' };
    const automatic = {
      'automatic_payment_methods[enabled]': 'true',
      'automatic_payment_methods[allow_redirects]': 'never',
    };
    const response = await post(world, '', { ...form, ...automatic, ...Object.fromEntries(metadata) }, 'pruned');
    const { id } = (await response.json()) as { id: string };
    expect(keysOf(world, 'create')).toHaveLength(2);
    return id;
  }
});
