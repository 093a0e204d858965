import type Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCheckedClient, failureOf } from '../openapi/checked-client';
import { type StripeEmulator, startStripeEmulator, TEST_METHOD_IDS } from './index';

/** What Stripe's page on test methods says of each: status and code, off-session. */
const OFF_SESSION: Readonly<Record<string, string>> = {
  pm_card_visa: 'succeeded',
  pm_card_visa_debit: 'succeeded',
  pm_card_mastercard: 'succeeded',
  pm_card_amex: 'succeeded',
  pm_card_discover: 'succeeded',
  pm_card_diners: 'succeeded',
  pm_card_jcb: 'succeeded',
  pm_card_unionpay: 'succeeded',
  pm_card_chargeDeclined: 'card_declined generic_decline',
  pm_card_chargeDeclinedInsufficientFunds: 'card_declined insufficient_funds',
  pm_card_chargeDeclinedLostCard: 'card_declined lost_card',
  pm_card_chargeDeclinedStolenCard: 'card_declined stolen_card',
  pm_card_chargeDeclinedExpiredCard: 'expired_card expired_card',
  pm_card_chargeDeclinedIncorrectCvc: 'incorrect_cvc incorrect_cvc',
  pm_card_chargeDeclinedProcessingError: 'processing_error processing_error',
  pm_card_chargeDeclinedVelocityLimitExceeded: 'card_declined card_velocity_exceeded',
  pm_card_chargeCustomerFail: 'card_declined generic_decline',
  pm_card_radarBlock: 'card_declined fraudulent',
  pm_card_authenticationRequired: 'authentication_required authentication_required',
  pm_card_authenticationRequiredOnSetup: 'authentication_required authentication_required',
  pm_card_authenticationRequiredSetupForOffSession: 'succeeded',
  pm_card_threeDSecureRequired: 'authentication_required authentication_required',
  pm_card_threeDSecure2Required: 'authentication_required authentication_required',
  pm_card_threeDSecureOptional: 'succeeded',
  pm_usBankAccount: 'processing',
  pm_usBankAccount_processing: 'processing',
};

describe('test payment methods', () => {
  let emulator: StripeEmulator;
  let stripe: Stripe;

  beforeAll(async () => {
    emulator = await startStripeEmulator({ autoCustomers: true });
    ({ stripe } = createCheckedClient(emulator));
  });
  afterAll(() => emulator.close());

  const create = (paymentMethod: string) =>
    stripe.paymentIntents.create({
      amount: 100,
      currency: 'usd',
      customer: 'cus_any',
      payment_method: paymentMethod,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    });

  it('are all tried here', () => {
    expect(Object.keys(OFF_SESSION).sort()).toEqual([...TEST_METHOD_IDS].sort());
  });

  it.each(Object.entries(OFF_SESSION))('%s, off-session: %s', async (id, expected) => {
    const intent = await create(id);
    const before = emulator.books.charges.length;
    const outcome = await stripe.paymentIntents.confirm(intent.id, { off_session: true }).then(
      (answer) => ({ answer: answer.status as string, error: undefined }),
      (error: Stripe.errors.StripeCardError) => ({ answer: `${error.code} ${error.decline_code}`, error }),
    );
    expect(outcome.answer).toBe(expected);
    expect(emulator.books.charges.length - before).toBe(expected === 'succeeded' ? 1 : 0);
    if (outcome.error === undefined) return;
    expect(outcome.error).toMatchObject({
      statusCode: 402,
      type: 'StripeCardError',
      charge: expect.stringMatching(/^ch_/),
      payment_intent: { id: intent.id, status: 'requires_payment_method', last_payment_error: { type: 'card_error' } },
      payment_method: { object: 'payment_method' },
    });
    expect((await stripe.paymentIntents.retrieve(intent.id)).status).toBe('requires_payment_method');
  });

  it.each(['InsufficientFunds', 'LostCard', 'StolenCard', 'VelocityLimitExceeded', ''])(
    'pm_card_visa_chargeDeclined%s is the same as without "visa_"',
    async (suffix) => {
      const intent = await create(`pm_card_visa_chargeDeclined${suffix}`);
      const error = await failureOf(stripe.paymentIntents.confirm(intent.id));
      const expected = OFF_SESSION[`pm_card_chargeDeclined${suffix}`];
      expect(`${error.code} ${error.decline_code}`).toBe(expected);
    },
  );

  it('ask the customer on-session, or fail when told to', async () => {
    const intent = await create('pm_card_authenticationRequired');
    const error = await failureOf(stripe.paymentIntents.confirm(intent.id, { error_on_requires_action: true }));
    expect(error.code).toBe('authentication_required');
    const again = await stripe.paymentIntents.confirm(intent.id, { payment_method: 'pm_card_authenticationRequired' });
    expect(again.status).toBe('requires_action');
  });

  it('are free off-session once the customer has authenticated', async () => {
    const method = await stripe.paymentMethods.attach('pm_card_authenticationRequiredOnSetup', { customer: 'cus_any' });
    const first = await create(method.id);
    await stripe.paymentIntents.confirm(first.id);
    emulator.completeAction(first.id, 'succeeded');
    const second = await create(method.id);
    expect((await stripe.paymentIntents.confirm(second.id, { off_session: true })).status).toBe('succeeded');
  });

  it('become a method of their own with each use', async () => {
    const [one, two] = [await create('pm_card_visa'), await create('pm_card_visa')];
    expect(one.payment_method).toMatch(/^pm_1/);
    expect(one.payment_method).not.toBe(two.payment_method);
  });

  it('that decline cannot be attached, but for the one that Stripe makes for this', async () => {
    const declined = await failureOf(stripe.paymentMethods.attach('pm_card_chargeDeclined', { customer: 'cus_any' }));
    expect([declined.statusCode, declined.code]).toEqual([402, 'card_declined']);
    const method = await stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer: 'cus_any' });
    expect(method.customer).toBe('cus_any');
  });

  it('that debit a US bank account take dollars only', async () => {
    const given = { amount: 100, currency: 'eur', payment_method: 'pm_usBankAccount' };
    const error = await failureOf(
      stripe.paymentIntents.create({
        ...given,
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      }),
    );
    expect([error.statusCode, error.param]).toEqual([400, 'payment_method']);
  });

  it('that are unknown, of another customer or of another kind are refused', async () => {
    const unknown = await failureOf(create('pm_card_nonesuch'));
    expect([unknown.statusCode, unknown.code, unknown.param]).toEqual([400, 'resource_missing', 'payment_method']);
    const other = await stripe.paymentMethods.attach('pm_card_visa', { customer: 'cus_other' });
    expect((await failureOf(create(other.id))).message).toContain('does not have a payment method');
    const given = { amount: 100, currency: 'usd', payment_method: 'pm_usBankAccount' };
    const cardsOnly = { ...given, allowed_payment_method_types: ['card' as const] };
    expect((await failureOf(stripe.paymentIntents.create(cardsOnly))).message).toContain('is not allowed');
  });
});
