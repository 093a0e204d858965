/** Column "create" of the protocol's table: the row names no intent, so nothing here can have moved money. */
import { beforeEach, describe, expect, it } from 'vitest';
import { API_KEY, type BillingWorld, CRASH, eventOf, PERIOD, useBillingWorld } from '../../support/billing-world';
import { alterAnswer, answerOnTheWay } from '../../support/wire';
import { expectCharged, expectEndsCharged, expectRow, expectUnknown, fault, keysOf, post, requestsOf } from './support';

const open = useBillingWorld();
let world: BillingWorld;
beforeEach(() => {
  world = open();
});

const HAPPY = ['create', 'confirm'];
const wrongAmount = (answer: { status: number; body: Record<string, unknown> }) => ({
  ...answer,
  body: { ...answer.body, amount: 1 },
});

describe('create × 200 valid', () => {
  it('saves the intent, then the gate, before anything is confirmed', async () => {
    const event = world.customer('a');
    const worker = world.worker();
    const confirm = world.emulator.faults.hold({ on: 'confirm', when: 'before-auth' });
    const delivered = worker.deliver(event);
    const { path } = await confirm.reached;
    const row = await expectRow(world, 'a', { status: 'pending', reserved: true, claimed: true });
    expect(path).toContain(row.payment_intent_id);
    expect(row.confirm_started_at).not.toBeNull();
    expect(world.emulator.intents()[0]?.status).toBe('requires_confirmation');
    confirm.release();
    await delivered;
    await expectCharged(world, 'a');
    expect(requestsOf(world)).toEqual(HAPPY);
  });
});

describe('create × 200 of the wrong shape or amount', () => {
  it('once: the same key again, with an alarm', async () => {
    const worker = world.worker();
    fault(world, { on: 'create', when: 'before-respond', what: 'wrong-shape' });
    await worker.deliver(world.customer('a'));
    await expectCharged(world, 'a');
    expect(new Set(keysOf(world, 'create')).size).toBe(1);
    expect(worker.metrics.counted('alarms create_wrong_shape')).toBe(1);
  });

  it('twice: the list shows the intent that was made, and it is adopted', async () => {
    const worker = world.worker();
    fault(world, { on: 'create', when: 'before-respond', what: 'wrong-shape', times: 2 });
    await worker.deliver(world.customer('a'));
    await expectCharged(world, 'a');
    expect(requestsOf(world)).toEqual(['create', 'create', 'list', 'retrieve', 'confirm']);
    expect(world.emulator.intents()).toHaveLength(1);
  });

  it('and the list shows nothing: unknown, row, hold and key as they were', async () => {
    const worker = world.worker();
    fault(world, { on: 'create', when: 'before-execute', what: 'wrong-shape', times: 2 });
    const event = world.customer('a');
    await worker.deliver(event);
    await expectUnknown(world, 'a');
    const { idempotency_key } = await world.row('a');
    const row = await expectEndsCharged(world, worker, 'a');
    expect(row).toMatchObject({ attempt: 1, idempotency_key });
  });

  it('another amount than the row: not saved, not confirmed, an alarm', async () => {
    const worker = world.worker({ fetch: alterAnswer('create', wrongAmount, 99) });
    await worker.deliver(world.customer('a'));
    expect(worker.metrics.counted('alarms create_wrong_shape')).toBeGreaterThan(0);
    expect(keysOf(world, 'confirm').length).toBeLessThanOrEqual(1);
    await expectEndsCharged(world, world.worker(), 'a');
  });
});

describe('create × 402', () => {
  it('of something that was never confirmed: as a wrong shape, never a decline', async () => {
    const error = { type: 'card_error', code: 'card_declined', decline_code: 'generic_decline', message: 'No.' };
    const worker = world.worker({ fetch: answerOnTheWay('create', 402, { error }, 2) });
    await worker.deliver(world.customer('a'));
    await expectUnknown(world, 'a');
    expect(worker.metrics.counted('alarms create_wrong_shape')).toBe(2);
    await expectEndsCharged(world, worker, 'a');
  });
});

describe('create × 400 idempotency_error', () => {
  const foreign = { amount: '999', currency: 'usd', customer: 'cus_a' };

  it('alarm; nothing of ours is listed: attempt 2 with a new key', async () => {
    const event = world.customer('a');
    const worker = world.worker();
    await post(world, '', foreign, worker.tools.keyOfAttempt({ customerId: 'a', billingPeriod: PERIOD } as never, 1));
    await worker.deliver(event);
    expect(await expectCharged(world, 'a')).toMatchObject({ attempt: 2 });
    expect(new Set(keysOf(world, 'create')).size).toBe(2);
    expect(worker.metrics.counted('alarms idempotency_mismatch')).toBe(1);
  });

  it('alarm; an intent of ours is listed: it is adopted', async () => {
    const event = world.customer('a');
    const crashed = world.worker({
      describe: 'the old words',
      crash: (point) => {
        if (point === 'after-create') throw CRASH;
      },
    });
    await expect(crashed.charge('a')).rejects.toBe(CRASH);
    await world.db.query("UPDATE billing_records SET description = 'the new words', fence = 0");
    await world.expireClaims();
    const worker = world.worker();
    await worker.deliver(event);
    await expectCharged(world, 'a');
    expect(worker.metrics.counted('alarms idempotency_mismatch')).toBe(1);
    expect(world.emulator.intents()).toHaveLength(1);
  });
});

describe('create × another 400, 404', () => {
  it('rejected, the hold freed, the claim off', async () => {
    const worker = world.worker();
    world.customer('a');
    const gone = eventOf('nobody', { payment_method: 'pm_card_visa' });
    await worker.deliver(gone);
    const row = await expectRow(world, 'nobody', { status: 'rejected', reserved: false, claimed: false });
    expect(row.error).toMatch(/No such customer/);
    expect(await world.cap()).toEqual({ reserved: 0, spent: 0 });
    expect(world.emulator.intents()).toEqual([]);
  });
});

describe('create × 401, 403', () => {
  for (const [name, key] of [
    ['401', { state: 'revoked' }],
    ['403', { permissions: ['customer_read'] }],
  ] as const) {
    it(`${name}: consuming stops, the row stays pending`, async () => {
      const event = world.customer('a', 'pm_card_visa', { payment_method: 'pm_card_visa' });
      const worker = world.worker();
      world.emulator.keys.set(API_KEY, key);
      expect(await worker.charge('a')).toMatchObject({ kind: 'halted' });
      await expectRow(world, 'a', { status: 'pending', reserved: true, claimed: false });
      world.emulator.keys.set(API_KEY, {});
      await worker.deliver(event);
      await expectCharged(world, 'a');
    });
  }
});

describe('create × 409, 429', () => {
  for (const what of ['in-use-409', 'rate-429', 'lock-timeout-429'] as const) {
    it(`${what}: the same key after a pause, the claim kept`, async () => {
      const worker = world.worker();
      fault(world, { on: 'create', when: 'before-claim', what, times: 3 });
      await worker.deliver(world.customer('a'));
      const row = await expectCharged(world, 'a');
      expect(row).toMatchObject({ attempt: 1, fence: '1' });
      expect(new Set(keysOf(world, 'create')).size).toBe(1);
      expect(keysOf(world, 'create')).toHaveLength(4);
    });
  }
});

describe('create × 5xx first, a page of a gateway, no answer', () => {
  for (const what of ['error-500', 'html-502', 'not-json', 'truncated-json', 'drop'] as const) {
    for (const when of ['before-execute', 'before-respond'] as const) {
      it(`${what} ${when}: the same key again, one intent`, async () => {
        const worker = world.worker();
        fault(world, { on: 'create', when, what });
        await worker.deliver(world.customer('a'));
        await expectCharged(world, 'a');
        expect(new Set(keysOf(world, 'create')).size).toBe(1);
        expect(world.emulator.intents()).toHaveLength(1);
      });
    }
  }

  it('headers and nothing more: the same key again after the deadline', async () => {
    const worker = world.worker({ stripeTimeoutMs: 300 });
    fault(world, { on: 'create', when: 'before-respond', what: 'stall-after-headers' });
    await worker.deliver(world.customer('a'));
    await expectCharged(world, 'a');
    expect(world.emulator.intents()).toHaveLength(1);
  });

  it('for ever: unknown; later one charge with the same key', async () => {
    const worker = world.worker();
    fault(world, { on: 'create', when: 'before-respond', what: 'drop', times: 99 });
    await worker.deliver(world.customer('a'));
    await expectUnknown(world, 'a');
    await expectEndsCharged(world, worker, 'a');
    expect(world.emulator.intents()).toHaveLength(1);
  });
});

describe('create × 5xx replayed (the key is burnt)', () => {
  it('the intent was made: the list shows it, and it is adopted', async () => {
    const worker = world.worker();
    fault(world, { on: 'create', when: 'after-execute', what: 'error-500-cached' });
    await worker.deliver(world.customer('a'));
    const row = await expectCharged(world, 'a');
    expect(row.attempt).toBe(1);
    expect(requestsOf(world)).toEqual(['create', 'create', 'list', 'retrieve', 'confirm']);
  });

  it('nothing was made: attempt 2 with a new create key', async () => {
    const worker = world.worker();
    fault(world, { on: 'create', when: 'before-execute', what: 'error-500-cached' });
    await worker.deliver(world.customer('a'));
    const row = await expectCharged(world, 'a');
    expect(row.attempt).toBe(2);
    expect(requestsOf(world)).toEqual(['create', 'create', 'list', 'create', 'confirm']);
    expect(new Set(keysOf(world, 'create')).size).toBe(2);
  });
});
