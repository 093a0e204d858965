import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCheckedClient, failureOf, headerOf } from '../openapi/checked-client';
import { type StripeEmulator, startStripeEmulator } from './index';

const BILL = { customer_id: 'acme', billing_period: '2026-10' };

describe('legacy charges', () => {
  let emulator: StripeEmulator;
  let stripe: Stripe;
  let violations: string[];

  beforeEach(async () => {
    emulator = await startStripeEmulator();
    ({ stripe, violations } = createCheckedClient(emulator));
  });
  afterEach(async () => {
    await emulator.close();
    expect(violations).toEqual([]);
  });

  const charge = (given: Partial<Stripe.ChargeCreateParams> = {}, options: Stripe.RequestOptions = {}) =>
    stripe.charges.create({ amount: 100, currency: 'usd', source: 'tok_visa', metadata: BILL, ...given }, options);

  it('take a token’s money at once, without an intent', async () => {
    const paid = await charge({ description: 'usage' });
    expect(paid).toMatchObject({
      object: 'charge',
      amount: 100,
      paid: true,
      status: 'succeeded',
      payment_intent: null,
      description: 'usage',
      payment_method_details: { card: { last4: '4242' } },
    });
    expect(emulator.books.charges).toMatchObject([{ chargeId: paid.id, paymentIntentId: paid.id, metadata: BILL }]);
    expect((await stripe.charges.retrieve(paid.id)).id).toBe(paid.id);
    expect((await stripe.charges.list()).data.map(({ id }) => id)).toEqual([paid.id]);
  });

  it('are seen double in the books when nothing guards them, and once under one key', async () => {
    await charge({}, { idempotencyKey: 'a' });
    const again = await charge({}, { idempotencyKey: 'a' });
    expect(headerOf(again.lastResponse, 'idempotent-replayed')).toBe('true');
    expect(emulator.books.doubleCharged()).toEqual([]);
    await charge({}, { idempotencyKey: 'b' });
    expect(emulator.books.doubleCharged()).toMatchObject([{ charges: [{ amount: 100 }, { amount: 100 }] }]);
  });

  it('are seen double beside an intent for the same bill', async () => {
    await charge();
    const intent = await stripe.paymentIntents.create({
      amount: 100,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      allowed_payment_method_types: ['card'],
      metadata: BILL,
      confirm: true,
    });
    const [double] = emulator.books.doubleCharged();
    expect(double?.charges.map((movement) => movement.paymentIntentId)).toContain(intent.id);
  });

  it('are charged again once the key is forgotten', async () => {
    await charge({}, { idempotencyKey: 'a' });
    emulator.clock.advance(25 * 3600_000);
    await charge({}, { idempotencyKey: 'a' });
    expect(emulator.books.doubleCharged()).toHaveLength(1);
  });

  it.each([
    ['tok_chargeDeclined', 'card_declined', 'generic_decline'],
    ['tok_visa_chargeDeclined', 'card_declined', 'generic_decline'],
    ['tok_chargeDeclinedInsufficientFunds', 'card_declined', 'insufficient_funds'],
    ['tok_chargeDeclinedExpiredCard', 'expired_card', 'expired_card'],
    ['tok_chargeDeclinedProcessingError', 'processing_error', 'processing_error'],
    ['tok_chargeCustomerFail', 'card_declined', 'generic_decline'],
    ['tok_radarBlock', 'card_declined', 'fraudulent'],
    ['tok_authenticationRequired', 'authentication_required', 'authentication_required'],
  ])('%s is refused with 402 %s %s, and kept as a failed charge', async (source, code, declineCode) => {
    const failure = await failureOf(charge({ source }, { idempotencyKey: 'a' }));
    expect([failure.statusCode, failure.type, failure.code]).toEqual([402, 'StripeCardError', code]);
    expect((failure.raw as { decline_code: string }).decline_code).toBe(declineCode);
    expect((await stripe.charges.retrieve(failure.charge as string)).status).toBe('failed');
    expect(emulator.books.charges).toEqual([]);
    const again = await failureOf(charge({ source }, { idempotencyKey: 'a' }));
    expect([again.charge, headerOf(again, 'idempotent-replayed')]).toEqual([failure.charge, 'true']);
  });

  it('charge a customer’s own source, and no other', async () => {
    const legacy = emulator.customers.create({ defaultSource: 'card_1' });
    const modern = emulator.customers.create();
    const of = (customer: string, source?: string) =>
      stripe.charges.create({ amount: 100, currency: 'usd', customer, ...(source === undefined ? {} : { source }) });
    expect(await of(legacy.id)).toMatchObject({ customer: legacy.id, payment_method: 'card_1', paid: true });
    expect((await of(legacy.id, 'card_1')).paid).toBe(true);
    expect((await failureOf(of(modern.id))).message).toBe('Cannot charge a customer that has no active card');
    expect((await failureOf(of(modern.id, 'card_1'))).code).toBe('missing');
    expect((await failureOf(of(legacy.id, 'tok_visa'))).code).toBe('missing');
    expect((await failureOf(of('cus_none'))).code).toBe('resource_missing');
  });

  it.each([
    ['an amount below the least', { amount: 1 }, 'amount_too_small'],
    ['a currency that is none', { currency: 'xxx' }, undefined],
    ['a token that is none', { source: 'tok_nonesuch' }, 'resource_missing'],
    ['a hold for later', { capture: false }, undefined],
  ])('refuse %s', async (_, given, code) => {
    const failure = await failureOf(charge(given));
    expect([failure.statusCode, failure.code]).toEqual([400, code]);
    expect(emulator.charges()).toEqual([]);
  });

  it('refuse to charge nobody', async () => {
    const failure = await failureOf(stripe.charges.create({ amount: 100, currency: 'usd' }));
    expect(failure.message).toBe('Must provide source or customer.');
  });

  it('can be refunded', async () => {
    const paid = await charge();
    const refund = await stripe.refunds.create({ charge: paid.id });
    expect(refund).toMatchObject({ charge: paid.id, payment_intent: null, amount: 100 });
    expect((await stripe.charges.retrieve(paid.id)).refunded).toBe(true);
  });

  it('are found by search after its lag, as are those of intents, and a list has them at once', async () => {
    const paid = await charge();
    const query = "metadata['billing_period']:'2026-10' AND status:'succeeded'";
    const found = async (wanted = query) => (await stripe.charges.search({ query: wanted })).data.map(({ id }) => id);
    expect((await stripe.charges.list()).data).toHaveLength(1);
    emulator.clock.advance(59_000);
    expect(await found()).toEqual([]);
    emulator.clock.advance(1_000);
    expect(await found()).toEqual([paid.id]);
    await stripe.refunds.create({ charge: paid.id });
    expect(await found("refunded:'true'")).toEqual([]);
    const intent = await stripe.paymentIntents.create({
      amount: 100,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      allowed_payment_method_types: ['card'],
      metadata: BILL,
      confirm: true,
    });
    emulator.clock.advance(60_000);
    expect(await found("refunded:'true'")).toEqual([paid.id]);
    expect(await found()).toEqual([intent.latest_charge, paid.id]);
  });

  it('need the permission to write charges', async () => {
    emulator.keys.set('rk_test_reader', { permissions: ['charge_read'] });
    const reader = createCheckedClient(emulator, { key: 'rk_test_reader' }).stripe;
    const failure = await failureOf(reader.charges.create({ amount: 100, currency: 'usd', source: 'tok_visa' }));
    expect(failure.statusCode).toBe(403);
  });
});
