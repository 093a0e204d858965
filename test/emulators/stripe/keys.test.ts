import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCheckedClient, createClient, failureOf, headerOf } from '../openapi/checked-client';
import { RUNTIME_PERMISSIONS, type StripeEmulator, startStripeEmulator } from './index';

const FULL = 'sk_test_51FullAccessKeyAbCd';
const RUNTIME = 'rk_test_51RuntimeKeyEfGh';
const READER = 'rk_test_51ReaderKeyIjKl';
const OTHER = 'sk_test_51OtherAccountKey';
const USD = { amount: 100, currency: 'usd' };

describe('API keys', () => {
  let emulator: StripeEmulator;

  beforeEach(async () => {
    emulator = await startStripeEmulator({
      account: 'acct_main',
      apiKeys: {
        [FULL]: {},
        [RUNTIME]: { permissions: RUNTIME_PERMISSIONS },
        [READER]: { permissions: ['payment_intent_read'] },
        [OTHER]: { account: 'acct_other' },
        sk_live_51LiveKey: {},
      },
    });
  });
  afterEach(() => emulator.close());

  const as = (key: string) => createCheckedClient(emulator, { key }).stripe;

  it('that are unknown or missing get a 401, masked', async () => {
    const unknown = await failureOf(as('sk_test_51NobodyKnowsMeWxYz').paymentIntents.create(USD));
    expect(unknown).toBeInstanceOf(Stripe.errors.StripeAuthenticationError);
    expect(unknown.message).toBe('Invalid API Key provided: sk_test_***WxYz');
    const response = await fetch(`${emulator.url}/v1/account`);
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('You did not provide an API key');
    expect(emulator.requests.at(0)?.apiKey).toBe('sk_test_***WxYz');
  });

  it('may be given as the user of basic authentication', async () => {
    const authorization = `Basic ${Buffer.from(`${FULL}:`).toString('base64')}`;
    const response = await fetch(`${emulator.url}/v1/account`, { headers: { authorization } });
    expect(await response.json()).toMatchObject({ id: 'acct_main', object: 'account' });
  });

  it('expire and are revoked while the emulator runs', async () => {
    emulator.keys.set(FULL, { state: 'expired' });
    const expired = await failureOf(as(FULL).paymentIntents.create(USD));
    expect([expired.statusCode, expired.code]).toEqual([401, 'api_key_expired']);
    emulator.keys.set(FULL, { state: 'revoked' });
    expect((await failureOf(as(FULL).paymentIntents.create(USD))).message).toContain('Invalid API Key');
    emulator.keys.set(FULL, {});
    await as(FULL).paymentIntents.create(USD);
    expect(() => emulator.keys.set('password', {})).toThrow('is no sk_test_');
  });

  it('that are restricted get a 403 which names the permission, and nothing is kept or done', async () => {
    const error = await failureOf(as(READER).paymentIntents.create(USD, { idempotencyKey: 'k' }));
    expect(error).toBeInstanceOf(Stripe.errors.StripePermissionError);
    expect(error.statusCode).toBe(403);
    expect(error.message).toContain("'rk_test_***IjKl'");
    expect(error.message).toContain("'payment_intent_write'");
    expect(error.message).toContain("'acct_main'");
    expect(emulator.intents()).toEqual([]);
    await as(FULL).paymentIntents.create({ ...USD, amount: 300 }, { idempotencyKey: 'k' });
    expect((await as(READER).paymentIntents.list()).data).toHaveLength(1);
  });

  it('with the runtime’s permissions can do all that the runtime does, and nothing that gives money back', async () => {
    emulator.customers.create({ id: 'cus_a' });
    const stripe = as(RUNTIME);
    await stripe.accounts.retrieveCurrent();
    await stripe.customers.retrieve('cus_a');
    const intent = await stripe.paymentIntents.create({ ...USD, customer: 'cus_a' });
    await stripe.paymentIntents.retrieve(intent.id);
    await stripe.paymentIntents.list({ customer: 'cus_a' });
    await stripe.paymentIntents.cancel(intent.id);
    await stripe.charges.list();
    await stripe.events.list();
    expect((await failureOf(stripe.refunds.create({ payment_intent: intent.id }))).statusCode).toBe(403);
    expect((await failureOf(stripe.customers.create({}))).statusCode).toBe(403);
  });

  it('see only their own account and mode, with Stripe’s hint for the other mode', async () => {
    const intent = await as(FULL).paymentIntents.create(USD);
    const live = await failureOf(as('sk_live_51LiveKey').paymentIntents.retrieve(intent.id));
    expect([live.statusCode, live.code]).toEqual([404, 'resource_missing']);
    expect(live.message).toContain('a similar object exists in test mode, but a live mode key was used');
    const other = await failureOf(as(OTHER).paymentIntents.retrieve(intent.id));
    expect(other.message).toBe(`No such payment_intent: '${intent.id}'`);
    expect((await as(OTHER).accounts.retrieveCurrent()).id).toBe('acct_other');
  });
});

describe('the order of the steps', () => {
  let emulator: StripeEmulator;
  afterEach(() => emulator.close());

  it('authentication, rate limit, key, validation, execution', async () => {
    emulator = await startStripeEmulator({ apiKeys: { [FULL]: {} }, rateLimit: { perSecond: 0.001, burst: 2 } });
    const stripe = createClient(emulator, { key: FULL });
    const stranger = createClient(emulator, { key: 'sk_test_51Nobody' });
    const bad = { ...USD, amount: 1, customer: 'cus_none' };
    const options = { idempotencyKey: 'k' };
    await stripe.paymentIntents.create(USD, options);
    // Authentication comes first: it takes no token of the rate limit and does not see the key.
    for (const _ of [1, 2, 3])
      expect((await failureOf(stranger.paymentIntents.create(bad, options))).statusCode).toBe(401);
    // The key comes before validation: bad parameters under a used key are a mismatch.
    expect((await failureOf(stripe.paymentIntents.create(bad, options))).type).toBe('StripeIdempotencyError');
    // The rate limit comes before the key: no replay once the tokens are gone.
    const limited = await failureOf(stripe.paymentIntents.create(USD, options));
    expect([limited.statusCode, limited.code]).toEqual([429, 'rate_limit']);
    emulator.clock.advance(2_000_000);
    // Validation comes before execution: the amount is refused, not the customer that does not exist.
    expect((await failureOf(stripe.paymentIntents.create(bad))).code).toBe('amount_too_small');
    expect((await failureOf(stripe.paymentIntents.create({ ...bad, amount: 100 }))).code).toBe('resource_missing');
  });

  it('rate limits name their reason and refill', async () => {
    emulator = await startStripeEmulator({ rateLimit: { perEndpointPerSecond: 0.001, burst: 1, concurrent: 2 } });
    const { stripe, violations } = createCheckedClient(emulator);
    const reasonOf = async (call: Promise<unknown>) => headerOf(await failureOf(call), 'stripe-rate-limited-reason');
    await stripe.paymentIntents.create(USD);
    expect(await reasonOf(stripe.paymentIntents.create(USD))).toBe('endpoint-rate');
    await stripe.paymentIntents.list();
    emulator.clock.advance(1_000_000);
    const holds = [
      emulator.faults.hold({ on: 'create', when: 'before-execute' }),
      emulator.faults.hold({ on: 'list', when: 'before-execute' }),
    ];
    const running = [stripe.paymentIntents.create(USD), stripe.paymentIntents.list()];
    await Promise.all(holds.map((hold) => hold.reached));
    expect(await reasonOf(stripe.events.list())).toBe('global-concurrency');
    for (const hold of holds) hold.release();
    await Promise.all(running);
    await stripe.events.list();
    expect(violations).toEqual([]);
  });

  it('an unknown address is a 404 of Stripe’s, after authentication', async () => {
    emulator = await startStripeEmulator();
    const response = await fetch(`${emulator.url}/v1/nonesuch`, { headers: { authorization: `Bearer ${FULL}` } });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('Unrecognized request URL (GET: /v1/nonesuch)');
  });
});
