import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCheckedClient, failureOf } from '../openapi/checked-client';
import { type StripeEmulator, startStripeEmulator } from './index';

describe('payment intents', () => {
  let emulator: StripeEmulator;
  let stripe: Stripe;
  let violations: string[];

  beforeEach(async () => {
    emulator = await startStripeEmulator();
    ({ stripe, violations } = createCheckedClient(emulator));
    emulator.customers.create({ id: 'cus_a' });
  });
  afterEach(async () => {
    await emulator.close();
    expect(violations).toEqual([]);
  });

  const create = (more: Partial<Stripe.PaymentIntentCreateParams> = {}) =>
    stripe.paymentIntents.create({
      amount: 250,
      currency: 'usd',
      customer: 'cus_a',
      payment_method: 'pm_card_visa',
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      metadata: { billing_period: '2026-10', customer_id: 'c1' },
      ...more,
    });

  it('move no money until they are confirmed, then once', async () => {
    const intent = await create();
    expect(intent.status).toBe('requires_confirmation');
    expect(emulator.books.charges).toEqual([]);
    const paid = await stripe.paymentIntents.confirm(intent.id, { off_session: true }, { idempotencyKey: 'k-1' });
    expect(paid).toMatchObject({ status: 'succeeded', amount_received: 250 });
    expect(emulator.books.charges).toEqual([
      expect.objectContaining({
        paymentIntentId: intent.id,
        chargeId: paid.latest_charge,
        customer: 'cus_a',
        amount: 250,
        currency: 'usd',
        idempotencyKey: 'k-1',
        metadata: { billing_period: '2026-10', customer_id: 'c1' },
      }),
    ]);
    const charge = await stripe.charges.retrieve(paid.latest_charge as string);
    expect(charge).toMatchObject({
      paid: true,
      captured: true,
      payment_intent: intent.id,
      metadata: { customer_id: 'c1' },
    });
  });

  it('succeed at most once, whatever keys the confirmations carry', async () => {
    const intent = await create();
    await stripe.paymentIntents.confirm(intent.id, {}, { idempotencyKey: 'k-1' });
    const error = await failureOf(stripe.paymentIntents.confirm(intent.id, {}, { idempotencyKey: 'k-2' }));
    expect([error.statusCode, error.code]).toEqual([400, 'payment_intent_unexpected_state']);
    expect(error.payment_intent).toMatchObject({ id: intent.id, status: 'succeeded' });
    expect(emulator.books.charges).toHaveLength(1);
  });

  it('let one of many concurrent confirmations through; the others meet the lock', async () => {
    const intent = await create();
    const hold = emulator.faults.hold({ on: 'confirm', when: 'before-execute' });
    const first = stripe.paymentIntents.confirm(intent.id);
    await hold.reached;
    const others = await Promise.all([1, 2, 3].map(() => failureOf(stripe.paymentIntents.confirm(intent.id))));
    expect(others.map((error) => error.code)).toEqual(['lock_timeout', 'lock_timeout', 'lock_timeout']);
    expect((await stripe.paymentIntents.retrieve(intent.id)).status).toBe('requires_confirmation');
    hold.release();
    expect((await first).status).toBe('succeeded');
    expect(emulator.books.charges).toHaveLength(1);
  });

  it('twin: one-call charges with new keys do charge twice, and the books say so', async () => {
    const charge = (idempotencyKey: string) =>
      stripe.paymentIntents.create(
        {
          amount: 250,
          currency: 'usd',
          customer: 'cus_a',
          payment_method: 'pm_card_visa',
          allowed_payment_method_types: ['card'],
          metadata: { billing_period: '2026-10', customer_id: 'c1' },
          confirm: true,
          off_session: true,
        },
        { idempotencyKey },
      );
    await charge('random-1');
    expect(emulator.books.doubleCharged()).toEqual([]);
    await charge('random-2');
    expect(emulator.books.doubleCharged()).toEqual([
      { identity: expect.stringContaining('c1 2026-10'), charges: expect.arrayContaining([expect.anything()]) },
    ]);
    expect(emulator.books.total('usd')).toBe(500);
    expect(emulator.books.chargesOf('cus_a')).toHaveLength(2);
  });

  it('twin: the books refuse a second success of one intent', async () => {
    const intent = await create({ confirm: true, off_session: true });
    const [charge] = emulator.books.charges;
    if (charge === undefined) throw new Error('nothing was charged');
    expect(() => emulator.books.record({ ...charge, chargeId: 'ch_other' })).toThrow(intent.id);
  });

  it('after a decline take another method on the same intent', async () => {
    const intent = await create({ payment_method: 'pm_card_visa_chargeDeclinedInsufficientFunds' });
    const declined = await failureOf(stripe.paymentIntents.confirm(intent.id, { off_session: true }));
    expect(declined.payment_intent).toMatchObject({ status: 'requires_payment_method', payment_method: null });
    const bare = await failureOf(stripe.paymentIntents.confirm(intent.id, { off_session: true }));
    expect([bare.statusCode, bare.code]).toEqual([400, 'payment_intent_unexpected_state']);
    const paid = await stripe.paymentIntents.confirm(intent.id, { off_session: true, payment_method: 'pm_card_visa' });
    expect(paid.status).toBe('succeeded');
    expect((await stripe.charges.list({ payment_intent: intent.id })).data.map((charge) => charge.status)).toEqual([
      'succeeded',
      'failed',
    ]);
  });

  it('canceled are final', async () => {
    const intent = await create();
    const canceled = await stripe.paymentIntents.cancel(intent.id, { cancellation_reason: 'duplicate' });
    expect(canceled).toMatchObject({ status: 'canceled', cancellation_reason: 'duplicate' });
    const error = await failureOf(stripe.paymentIntents.confirm(intent.id));
    expect(error.payment_intent).toMatchObject({ status: 'canceled' });
    expect((await failureOf(stripe.paymentIntents.cancel(intent.id))).code).toBe('payment_intent_unexpected_state');
    expect((await failureOf(stripe.paymentIntents.update(intent.id, { amount: 300 }))).statusCode).toBe(400);
  });

  it('can be canceled and settled from outside, while a confirmation stands at the gate', async () => {
    const intent = await create();
    const hold = emulator.faults.hold({ on: 'confirm', when: 'before-execute' });
    const confirmation = failureOf(stripe.paymentIntents.confirm(intent.id));
    await hold.reached;
    emulator.cancel(intent.id);
    hold.release();
    expect((await confirmation).payment_intent?.status).toBe('canceled');
    expect(() => emulator.cancel(intent.id)).toThrow('canceled');
    expect(() => emulator.settleProcessing(intent.id, 'succeeded')).toThrow('not processing');
    expect(() => emulator.intent('pi_none')).toThrow('pi_none');
  });

  it('as bank debits stay processing until they settle: then money moves, or not', async () => {
    for (const outcome of ['succeeded', 'failed'] as const) {
      const intent = await create({ payment_method: 'pm_usBankAccount' });
      const before = emulator.books.charges.length;
      const pending = await stripe.paymentIntents.confirm(intent.id, { off_session: true });
      expect(pending.status).toBe('processing');
      expect(emulator.books.charges).toHaveLength(before);
      const again = await failureOf(stripe.paymentIntents.confirm(intent.id));
      expect(again.payment_intent?.status).toBe('processing');
      expect((await failureOf(stripe.paymentIntents.cancel(intent.id))).statusCode).toBe(400);
      emulator.settleProcessing(intent.id, outcome);
      const after = await stripe.paymentIntents.retrieve(intent.id, { expand: ['latest_charge'] });
      expect(after.status).toBe(outcome === 'succeeded' ? 'succeeded' : 'requires_payment_method');
      expect((after.latest_charge as Stripe.Charge).status).toBe(outcome);
      expect(emulator.books.charges).toHaveLength(outcome === 'succeeded' ? before + 1 : before);
    }
  });

  it('on-session wait for the customer: then money moves, or not', async () => {
    for (const outcome of ['succeeded', 'failed'] as const) {
      const intent = await create({ payment_method: 'pm_card_threeDSecure2Required' });
      const before = emulator.books.charges.length;
      const waiting = await stripe.paymentIntents.confirm(intent.id);
      expect([waiting.status, waiting.next_action?.type]).toEqual(['requires_action', 'use_stripe_sdk']);
      emulator.completeAction(intent.id, outcome);
      const after = await stripe.paymentIntents.retrieve(intent.id);
      expect(after.status).toBe(outcome === 'succeeded' ? 'succeeded' : 'requires_payment_method');
      expect(emulator.books.charges).toHaveLength(outcome === 'succeeded' ? before + 1 : before);
    }
  });

  it('refunds do not take a charge off the books and end at its amount', async () => {
    const intent = await create({ confirm: true, off_session: true });
    await stripe.refunds.create({ payment_intent: intent.id, amount: 100 });
    expect((await failureOf(stripe.refunds.create({ payment_intent: intent.id, amount: 200 }))).param).toBe('amount');
    await stripe.refunds.create({ charge: intent.latest_charge as string });
    const error = await failureOf(stripe.refunds.create({ payment_intent: intent.id }));
    expect(error.code).toBe('charge_already_refunded');
    expect((await stripe.charges.retrieve(intent.latest_charge as string)).refunded).toBe(true);
    expect((await stripe.paymentIntents.retrieve(intent.id)).status).toBe('succeeded');
    expect(emulator.books.charges).toHaveLength(1);
  });

  it('leave events that name the request and its key', async () => {
    const intent = await create();
    await stripe.paymentIntents.confirm(intent.id, {}, { idempotencyKey: 'row-confirm-1' });
    const events = await stripe.events.list({ type: 'payment_intent.succeeded' });
    expect(events.data).toHaveLength(1);
    expect(events.data[0]?.request?.idempotency_key).toBe('row-confirm-1');
    emulator.clock.advance(31 * 86_400_000);
    expect((await stripe.events.list()).data).toEqual([]);
  });
});
