/** Column "confirm n" of the protocol's table: the row names the intent and the gate has run. */
import { beforeEach, describe, expect, it } from 'vitest';
import { API_KEY, type BillingWorld, PERIOD, useBillingWorld } from '../../support/billing-world';
import { alterAnswer, answerOnTheWay, onSession } from '../../support/wire';
import { expectCharged, expectEndsCharged, expectRow, expectUnknown, fault, keysOf, post, requestsOf } from './support';

const open = useBillingWorld();
let world: BillingWorld;
beforeEach(() => {
  world = open();
});

const DEBIT = 'pm_usBankAccount';
const ASKS = 'pm_card_authenticationRequired';
const BROKE = 'pm_card_chargeDeclinedInsufficientFunds';
const direct = (id: string, method: string) => world.customer(id, 'pm_card_visa', { payment_method: method });
const theIntent = () => world.emulator.intents()[0]!.id;
/** The confirm is executed, but its answer is lost for a 409, so that the next send is answered with a replay. */
const loseOneConfirm = (onHit: () => void = () => undefined) =>
  world.emulator.faults.add({ on: 'confirm', when: 'before-respond', what: 'in-use-409', onHit });
/** Does something right before our confirm arrives. */
const beforeOurConfirm = (act: (intent: string) => unknown) => {
  const hold = world.emulator.faults.hold({ on: 'confirm', when: 'before-idempotency' });
  return hold.reached.then(async () => {
    await act(theIntent());
    hold.release();
  });
};

describe('confirm × 200', () => {
  it('succeeded: charged, the hold spent, the claim off', async () => {
    const partition = await world.worker().deliver(world.customer('a'));
    await expectCharged(world, 'a');
    expect(partition.position).toBe('1');
    expect(requestsOf(world)).toEqual(['create', 'confirm']);
  });

  it('processing: that status, hold kept, claim off, the checkpoint passes; then charged', async () => {
    const worker = world.worker();
    const partition = await worker.deliver(direct('a', DEBIT));
    await expectRow(world, 'a', { status: 'processing', reserved: true, claimed: false });
    expect(partition.position).toBe('1');
    world.emulator.settleProcessing(theIntent(), 'succeeded');
    await expectEndsCharged(world, worker, 'a');
  });

  it('requires_action: that status, hold kept, claim off, the checkpoint passes; then charged', async () => {
    const worker = world.worker({ fetch: onSession });
    const partition = await worker.deliver(direct('a', ASKS));
    await expectRow(world, 'a', { status: 'action_required', reserved: true, claimed: false });
    expect(partition.position).toBe('1');
    world.emulator.completeAction(theIntent(), 'succeeded');
    await expectEndsCharged(world, worker, 'a');
  });

  it('processing replayed: retrieved first; it is still processing', async () => {
    const worker = world.worker();
    loseOneConfirm();
    await worker.deliver(direct('a', DEBIT));
    await expectRow(world, 'a', { status: 'processing', reserved: true });
    expect(requestsOf(world)).toEqual(['create', 'confirm', 'confirm', 'retrieve']);
  });

  it('processing replayed, but it succeeded since: charged', async () => {
    const worker = world.worker();
    loseOneConfirm(() => world.emulator.settleProcessing(theIntent(), 'succeeded'));
    await worker.deliver(direct('a', DEBIT));
    await expectCharged(world, 'a');
  });

  it('processing replayed, but it failed since: declined, hold kept, and it does not go in circles', async () => {
    const worker = world.worker();
    loseOneConfirm(() => world.emulator.settleProcessing(theIntent(), 'failed'));
    await worker.deliver(direct('a', DEBIT));
    await expectRow(world, 'a', { status: 'card_declined', reserved: true, claimed: false });
    expect(requestsOf(world)).toEqual(['create', 'confirm', 'confirm', 'retrieve']);
  });

  it('requires_action replayed: retrieved first', async () => {
    const worker = world.worker({ fetch: onSession });
    loseOneConfirm();
    await worker.deliver(direct('a', ASKS));
    await expectRow(world, 'a', { status: 'action_required', reserved: true });
    expect(requestsOf(world).at(-1)).toBe('retrieve');
  });

  it('requires_action replayed, but the customer completed it since: charged', async () => {
    const worker = world.worker({ fetch: onSession });
    loseOneConfirm(() => world.emulator.completeAction(theIntent(), 'succeeded'));
    await worker.deliver(direct('a', ASKS));
    await expectCharged(world, 'a');
  });

  for (const [name, change] of [
    ['another amount', { amount: 1 }],
    ['another currency', { currency: 'eur' }],
    ['another customer', { customer: 'cus_other' }],
    ['another intent', { id: 'pi_other' }],
    ['live mode', { livemode: true }],
    ['no object', { object: 'charge' }],
  ] as const) {
    it(`of ${name}: no verdict; retrieved`, async () => {
      const worker = world.worker({
        fetch: alterAnswer('confirm', ({ status, body }) => ({ status, body: { ...body, ...change } })),
      });
      await worker.deliver(world.customer('a'));
      await expectCharged(world, 'a');
      expect(requestsOf(world)).toEqual(['create', 'confirm', 'retrieve']);
      expect(worker.metrics.counted('alarms confirm_wrong_shape')).toBe(1);
    });
  }

  it('of the wrong shape and nothing was done: retrieved, then sent again', async () => {
    const worker = world.worker();
    fault(world, { on: 'confirm', when: 'before-execute', what: 'wrong-shape' });
    await worker.deliver(world.customer('a'));
    await expectCharged(world, 'a');
    expect(requestsOf(world)).toEqual(['create', 'confirm', 'retrieve', 'confirm']);
  });
});

describe('confirm × 402', () => {
  it('fresh: declined, the hold kept, the claim off', async () => {
    const worker = world.worker();
    const partition = await worker.deliver(direct('a', BROKE));
    const row = await expectRow(world, 'a', { status: 'card_declined', reserved: true, claimed: false });
    expect(row).toMatchObject({ decline_code: 'insufficient_funds', payment_intent_id: theIntent() });
    expect(partition.position).toBe('1');
    expect(requestsOf(world)).toEqual(['create', 'confirm']);
  });

  it('replayed: retrieved; unpaid: declined, the hold kept', async () => {
    const worker = world.worker();
    loseOneConfirm();
    await worker.deliver(direct('a', BROKE));
    await expectRow(world, 'a', { status: 'card_declined', reserved: true, decline_code: 'insufficient_funds' });
    expect(requestsOf(world)).toEqual(['create', 'confirm', 'confirm', 'retrieve']);
  });

  it('replayed, but the customer paid the same intent since: charged', async () => {
    const worker = world.worker();
    const paid = new Promise<void>((resolve, reject) => {
      loseOneConfirm(() => {
        const form = { payment_method: 'pm_card_visa' };
        setImmediate(() => post(world, `/${theIntent()}/confirm`, form, 'the customer').then(() => resolve(), reject));
      });
    });
    const retrieve = world.emulator.faults.hold({ on: 'retrieve', when: 'before-execute' });
    const delivered = worker.deliver(direct('a', BROKE));
    await paid;
    await retrieve.reached;
    retrieve.release();
    await delivered;
    await expectCharged(world, 'a');
  });

  it('replayed, but it was canceled since: seen canceled, so a new intent with attempt 2 (R6)', async () => {
    const worker = world.worker();
    loseOneConfirm(() => setImmediate(() => world.emulator.cancel(theIntent())));
    const retrieve = world.emulator.faults.hold({ on: 'retrieve', when: 'before-execute' });
    const delivered = worker.deliver(direct('a', BROKE));
    await retrieve.reached;
    retrieve.release();
    await delivered;
    await expectRow(world, 'a', { status: 'card_declined', reserved: true, attempt: 2 });
    expect(world.emulator.intents().map((intent) => intent.status)).toEqual(['canceled', 'requires_payment_method']);
  });
});

describe('confirm × 400 unexpected_state', () => {
  it('succeeded: charged', async () => {
    const worker = world.worker();
    const other = beforeOurConfirm((intent) =>
      post(world, `/${intent}/confirm`, { payment_method: 'pm_card_visa' }, 'an old copy'),
    );
    const delivered = worker.deliver(world.customer('a'));
    await other;
    await delivered;
    await expectCharged(world, 'a');
    expect(requestsOf(world).filter((request) => request === 'retrieve')).toEqual([]);
  });

  it('processing: processing', async () => {
    const worker = world.worker();
    const other = beforeOurConfirm((intent) =>
      post(world, `/${intent}/confirm`, { off_session: 'true' }, 'an old copy'),
    );
    const delivered = worker.deliver(direct('a', DEBIT));
    await other;
    await delivered;
    await expectRow(world, 'a', { status: 'processing', reserved: true });
  });

  it('canceled: seen canceled, so a new intent with attempt 2 (R6)', async () => {
    const worker = world.worker();
    const other = beforeOurConfirm((intent) => world.emulator.cancel(intent));
    const delivered = worker.deliver(world.customer('a'));
    await other;
    await delivered;
    const row = await expectCharged(world, 'a');
    expect(row).toMatchObject({ attempt: 2 });
    expect(new Set(keysOf(world, 'create')).size).toBe(2);
  });

  it('none embedded: retrieved', async () => {
    const error = { type: 'invalid_request_error', code: 'payment_intent_unexpected_state', message: 'No.' };
    const worker = world.worker({ fetch: answerOnTheWay('confirm', 400, { error }) });
    await worker.deliver(world.customer('a'));
    await expectCharged(world, 'a');
    expect(requestsOf(world)).toEqual(['create', 'retrieve', 'confirm']);
  });
});

describe('confirm × 400 idempotency_error', () => {
  it('alarm; retrieved; never settled: unpaid, so attempt 2 on the same intent', async () => {
    const event = world.customer('a');
    const worker = world.worker();
    const key = worker.tools.keyOfAttempt({ customerId: 'a', billingPeriod: PERIOD } as never, 1);
    const other = beforeOurConfirm((intent) =>
      post(world, `/${intent}/confirm`, { payment_method: BROKE }, `${key}-confirm-1`),
    );
    const delivered = worker.deliver(event);
    await other;
    await delivered;
    const row = await expectCharged(world, 'a');
    expect(row.attempt).toBe(2);
    expect(world.emulator.intents()).toHaveLength(1);
    expect(worker.metrics.counted('alarms idempotency_mismatch')).toBe(1);
  });
});

describe('confirm × another 400, 404', () => {
  for (const status of [400, 404]) {
    const error = { type: 'invalid_request_error', code: 'resource_missing', message: 'No such PaymentMethod' };

    it(`${status}: retrieved; unpaid: rejected, the hold kept`, async () => {
      const worker = world.worker({ fetch: answerOnTheWay('confirm', status, { error }) });
      await worker.deliver(world.customer('a'));
      const row = await expectRow(world, 'a', { status: 'rejected', reserved: true, claimed: false });
      expect(row.payment_intent_id).toBe(theIntent());
      expect(requestsOf(world)).toEqual(['create', 'retrieve']);
    });

    it(`${status} of a resend, but the first one arrived: charged (R19)`, async () => {
      const worker = world.worker({ fetch: alterAnswer('confirm', () => ({ status, body: { error } })) });
      await worker.deliver(world.customer('a'));
      await expectCharged(world, 'a');
    });
  }
});

describe('confirm × 401, 403', () => {
  for (const [name, key] of [
    ['401', { state: 'revoked' }],
    ['403', { permissions: ['payment_intent_read', 'customer_read'] }],
  ] as const) {
    it(`${name}: consuming stops, the row stays pending with its intent, nothing is rejected`, async () => {
      const event = world.customer('a');
      const worker = world.worker();
      const other = beforeOurConfirm(() => undefined);
      const stop = world.emulator.faults.hold({ on: 'confirm', when: 'before-auth' });
      const outcome = worker.charge('a');
      await stop.reached;
      world.emulator.keys.set(API_KEY, key);
      stop.release();
      expect(await outcome).toMatchObject({ kind: 'halted' });
      await expectRow(world, 'a', {
        status: 'pending',
        reserved: true,
        claimed: false,
        payment_intent_id: theIntent(),
      });
      world.emulator.keys.set(API_KEY, {});
      const delivered = worker.deliver(event);
      await other;
      await delivered;
      await expectCharged(world, 'a');
    });
  }
});

describe('confirm × 409, 429', () => {
  for (const what of ['in-use-409', 'rate-429', 'lock-timeout-429'] as const) {
    it(`${what}: the same key after a pause, the claim kept`, async () => {
      const worker = world.worker();
      fault(world, { on: 'confirm', when: 'before-claim', what, times: 3 });
      await worker.deliver(world.customer('a'));
      const row = await expectCharged(world, 'a');
      expect(row).toMatchObject({ attempt: 1, fence: '1' });
      expect(keysOf(world, 'confirm')).toHaveLength(4);
      expect(new Set(keysOf(world, 'confirm')).size).toBe(1);
    });

    it(`${what} again and again: then retrieved`, async () => {
      const worker = world.worker();
      fault(world, { on: 'confirm', when: 'before-claim', what, times: 6 });
      await worker.deliver(world.customer('a'));
      await expectCharged(world, 'a');
      expect(requestsOf(world).at(-2)).toBe('retrieve');
    });
  }
});

describe('confirm × 5xx first, a page of a gateway, no answer', () => {
  for (const what of ['error-500', 'html-502', 'not-json', 'truncated-json', 'drop'] as const) {
    it(`${what} and nothing was done: retrieved, then the same key again`, async () => {
      const worker = world.worker();
      fault(world, { on: 'confirm', when: 'before-execute', what });
      await worker.deliver(world.customer('a'));
      const row = await expectCharged(world, 'a');
      expect(row.attempt).toBe(1);
      // Half a body is only broken on the way back, so that one was executed.
      if (what !== 'truncated-json') expect(requestsOf(world)).toEqual(['create', 'confirm', 'retrieve', 'confirm']);
      expect(new Set(keysOf(world, 'confirm')).size).toBe(1);
    });

    it(`${what} and it was done: retrieved, charged once`, async () => {
      const worker = world.worker();
      fault(world, { on: 'confirm', when: 'before-respond', what });
      await worker.deliver(world.customer('a'));
      await expectCharged(world, 'a');
      expect(requestsOf(world)).toEqual(['create', 'confirm', 'retrieve']);
    });
  }

  for (const what of ['stall-after-headers', 'drip'] as const) {
    it(`${what}: retrieved after the deadline, charged once`, async () => {
      const worker = world.worker({ stripeTimeoutMs: 300 });
      fault(world, { on: 'confirm', when: 'before-respond', what });
      await worker.deliver(world.customer('a'));
      await expectCharged(world, 'a');
    });
  }

  it('and nothing answers any more: unknown, the hold kept; later charged once', async () => {
    const worker = world.worker();
    fault(world, { on: 'confirm', when: 'before-respond', what: 'drop', times: 99 });
    fault(world, { on: 'retrieve', when: 'before-execute', what: 'drop', times: 99 });
    await worker.deliver(world.customer('a'));
    await expectUnknown(world, 'a');
    expect(world.charges('a')).toBe(1);
    await expectEndsCharged(world, worker, 'a');
  });
});

describe('confirm × 5xx replayed (the key is burnt)', () => {
  it('retrieved; unpaid: attempt 2 on the same intent, through the gate', async () => {
    const worker = world.worker();
    fault(world, { on: 'confirm', when: 'before-execute', what: 'error-500-cached' });
    await worker.deliver(world.customer('a'));
    const row = await expectCharged(world, 'a');
    expect(row.attempt).toBe(2);
    expect(world.emulator.intents()).toHaveLength(1);
    expect(requestsOf(world)).toEqual(['create', 'confirm', 'retrieve', 'confirm', 'retrieve', 'confirm']);
    expect(new Set(keysOf(world, 'confirm')).size).toBe(2);
    expect(new Set(keysOf(world, 'create')).size).toBe(1);
  });

  it('retrieved; it had succeeded before the 500: charged, once', async () => {
    const worker = world.worker();
    fault(world, { on: 'confirm', when: 'after-execute', what: 'error-500-cached' });
    await worker.deliver(world.customer('a'));
    const row = await expectCharged(world, 'a');
    expect(row.attempt).toBe(1);
  });
});
