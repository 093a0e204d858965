import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCheckedClient, createClient, failureOf, headerOf } from '../openapi/checked-client';
import { type StripeEmulator, startStripeEmulator } from './index';

const HOUR = 3600 * 1000;
const USD = { amount: 100, currency: 'usd' };

describe.each([
  ['fetch', () => Stripe.createFetchHttpClient()],
  ['node', () => Stripe.createNodeHttpClient()],
])('idempotency keys, seen by the %s client', (_, httpClient) => {
  let emulator: StripeEmulator;
  let stripe: Stripe;

  beforeEach(async () => {
    emulator = await startStripeEmulator();
    stripe = createClient(emulator, { httpClient: httpClient() });
  });
  afterEach(() => emulator.close());

  it('replay the first answer with its own request id and do nothing', async () => {
    const first = await stripe.paymentIntents.create(USD, { idempotencyKey: 'k' });
    const again = await stripe.paymentIntents.create(USD, { idempotencyKey: 'k' });
    expect(again.id).toBe(first.id);
    expect(headerOf(first.lastResponse, 'idempotent-replayed')).toBeUndefined();
    expect(headerOf(again.lastResponse, 'idempotent-replayed')).toBe('true');
    expect(headerOf(again.lastResponse, 'idempotency-key')).toBe('k');
    expect(headerOf(again.lastResponse, 'original-request')).toBe(first.lastResponse.requestId);
    expect(again.lastResponse.requestId).not.toBe(first.lastResponse.requestId);
    expect(emulator.intents()).toHaveLength(1);
    expect(emulator.requests.map((request) => request.replayed)).toEqual([false, true]);
    expect(emulator.requests.map((request) => request.executed)).toEqual([true, false]);
  });

  it('replay a snapshot, not the state of today', async () => {
    const first = await stripe.paymentIntents.create(USD, { idempotencyKey: 'k' });
    emulator.cancel(first.id);
    expect((await stripe.paymentIntents.create(USD, { idempotencyKey: 'k' })).status).toBe('requires_payment_method');
    expect((await stripe.paymentIntents.retrieve(first.id)).status).toBe('canceled');
  });

  it('replay a decline', async () => {
    const given = { ...USD, payment_method: 'pm_card_visa_chargeDeclined', confirm: true };
    const options = { idempotencyKey: 'k' };
    const create = () =>
      failureOf(stripe.paymentIntents.create({ ...given, allowed_payment_method_types: ['card'] }, options));
    const first = await create();
    const again = await create();
    expect([first.statusCode, again.statusCode]).toEqual([402, 402]);
    expect(headerOf(again, 'idempotent-replayed')).toBe('true');
    expect(again.charge).toBe(first.charge);
    expect(emulator.charges()).toHaveLength(1);
  });

  it('refuse other parameters and other endpoints', async () => {
    const intent = await stripe.paymentIntents.create(USD, { idempotencyKey: 'k' });
    for (const call of [
      () => stripe.paymentIntents.create({ ...USD, amount: 101 }, { idempotencyKey: 'k' }),
      () => stripe.paymentIntents.cancel(intent.id, {}, { idempotencyKey: 'k' }),
    ]) {
      const error = await failureOf(call());
      expect(error).toBeInstanceOf(Stripe.errors.StripeIdempotencyError);
      expect(error.statusCode).toBe(400);
      expect(error.code).toBeUndefined();
      expect(error.message).toContain("Try using a key other than 'k'");
    }
  });

  it('answer 409 while the first request runs', async () => {
    const hold = emulator.faults.hold({ on: 'create', when: 'before-execute' });
    const first = stripe.paymentIntents.create(USD, { idempotencyKey: 'k' });
    await hold.reached;
    const second = await failureOf(stripe.paymentIntents.create(USD, { idempotencyKey: 'k' }));
    expect([second.statusCode, second.code]).toEqual([409, 'idempotency_key_in_use']);
    hold.release();
    expect((await stripe.paymentIntents.create(USD, { idempotencyKey: 'k' })).id).toBe((await first).id);
  });

  it('answer 409 until the answer is stored, also when the money has moved', async () => {
    const hold = emulator.faults.hold({ on: 'create', when: 'after-execute' });
    const given = { ...USD, payment_method: 'pm_card_visa', allowed_payment_method_types: ['card' as const] };
    const first = stripe.paymentIntents.create({ ...given, confirm: true }, { idempotencyKey: 'k' });
    await hold.reached;
    expect(emulator.books.charges).toHaveLength(1);
    const again = stripe.paymentIntents.create({ ...given, confirm: true }, { idempotencyKey: 'k' });
    expect((await failureOf(again)).code).toBe('idempotency_key_in_use');
    hold.release();
    expect((await first).status).toBe('succeeded');
  });

  it('are forgotten after 24 hours without a word: the same key executes anew', async () => {
    const first = await stripe.paymentIntents.create(USD, { idempotencyKey: 'k' });
    emulator.clock.advance(24 * HOUR - 60_000);
    expect((await stripe.paymentIntents.create(USD, { idempotencyKey: 'k' })).id).toBe(first.id);
    emulator.clock.advance(60_000);
    const later = await stripe.paymentIntents.create(USD, { idempotencyKey: 'k' });
    expect(later.id).not.toBe(first.id);
    expect(headerOf(later.lastResponse, 'idempotent-replayed')).toBeUndefined();
  });

  it('belong to one account and mode', async () => {
    const live = createClient(emulator, { key: 'sk_live_51Other', httpClient: httpClient() });
    const first = await stripe.paymentIntents.create(USD, { idempotencyKey: 'k' });
    const second = await live.paymentIntents.create({ ...USD, amount: 200 }, { idempotencyKey: 'k' });
    expect(second.id).not.toBe(first.id);
    expect([first.livemode, second.livemode]).toEqual([false, true]);
  });

  it('have no effect on reads', async () => {
    const intent = await stripe.paymentIntents.create(USD);
    await stripe.paymentIntents.retrieve(intent.id, {}, { idempotencyKey: 'k' });
    await stripe.paymentIntents.list({}, { idempotencyKey: 'k' });
    expect((await stripe.paymentIntents.create(USD, { idempotencyKey: 'k' })).id).not.toBe(intent.id);
  });
});

describe('what a key keeps', () => {
  let emulator: StripeEmulator;
  afterEach(() => emulator.close());

  it('a refused parameter is not kept', async () => {
    emulator = await startStripeEmulator();
    const { stripe } = createCheckedClient(emulator);
    const options = { idempotencyKey: 'k' };
    expect((await failureOf(stripe.paymentIntents.create({ ...USD, amount: 1 }, options))).code).toBe(
      'amount_too_small',
    );
    expect((await stripe.paymentIntents.create(USD, options)).amount).toBe(100);
  });

  it.each([
    [true, 404],
    [false, 200],
  ])('a refusal while executing is kept when keepRefusals is %s', async (keepRefusals, status) => {
    emulator = await startStripeEmulator({ keepRefusals });
    const { stripe } = createCheckedClient(emulator);
    const create = () => stripe.paymentIntents.create({ ...USD, customer: 'cus_late' }, { idempotencyKey: 'k' });
    expect((await failureOf(create())).code).toBe('resource_missing');
    emulator.customers.create({ id: 'cus_late' });
    const outcome = await create().then(
      () => 200,
      () => 404,
    );
    expect(outcome).toBe(status);
  });

  it('neither a key that is too long nor a rate limit is kept', async () => {
    emulator = await startStripeEmulator();
    const { stripe } = createCheckedClient(emulator);
    expect((await failureOf(stripe.paymentIntents.create(USD, { idempotencyKey: 'k'.repeat(256) }))).statusCode).toBe(
      400,
    );
    emulator.faults.add({ on: 'create', when: 'before-rate-limit', what: 'rate-429' });
    expect((await failureOf(stripe.paymentIntents.create(USD, { idempotencyKey: 'k' }))).statusCode).toBe(429);
    expect((await stripe.paymentIntents.create(USD, { idempotencyKey: 'k' })).status).toBe('requires_payment_method');
  });
});
