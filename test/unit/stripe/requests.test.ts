/** What is sent: built from the row alone, byte-equal for equal rows, with our key and nobody's secrets. */
import fc from 'fast-check';
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { STRIPE_API_VERSION } from '../../../runtime/stripe';
import { confirmParams, createParams } from '../../../runtime/stripe/params';
import { json, type ScriptedServer, type SeenRequest, startScriptedServer } from '../../support/scripted-http';
import { API_KEY, intent, KEY, row, stripeError, stripeFor } from './fixtures';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.clear());
afterAll(() => server.stop());

const only = (): SeenRequest => {
  expect(server.seen).toHaveLength(1);
  return server.seen[0] as SeenRequest;
};
const form = (body: string) => Object.fromEntries(new URLSearchParams(body));
const context = { namespace: 'billing', ledgerId: 'ledger-1' };

describe('create', () => {
  it('sends an unconfirmed intent with the row’s key', async () => {
    server.script(json(200, intent({ status: 'requires_confirmation', latest_charge: null })));
    const answer = await stripeFor(server).createIntent(row({ paymentIntentId: null }));
    expect(answer).toEqual({
      kind: 'intent',
      intent: { id: 'pi_1', status: 'requires_confirmation', created: 1_790_000_000 },
      replayed: false,
    });
    const request = only();
    expect(`${request.method} ${request.url}`).toBe('POST /v1/payment_intents');
    expect(request.headers['idempotency-key']).toBe(KEY);
    expect(request.headers['stripe-version']).toBe(STRIPE_API_VERSION);
    expect(request.headers.authorization).toBe(`Bearer ${API_KEY}`);
    expect(request.headers['x-stripe-client-telemetry']).toBeUndefined();
    expect(form(request.body)).toEqual({
      amount: '1234',
      currency: 'usd',
      customer: 'cus_42',
      payment_method: 'pm_card_visa',
      'automatic_payment_methods[enabled]': 'true',
      'automatic_payment_methods[allow_redirects]': 'never',
      description: 'Usage 2026-10',
      'metadata[plan]': 'gold',
      'metadata[billing_key]': '3e076fdaab8bae5bde9e4b96c36a4e9a',
      'metadata[billing_period]': '2026-10',
      'metadata[customer_id]': 'acct-42',
      'metadata[ledger_id]': 'ledger-1',
      'metadata[attempt]': '1',
    });
    expect(request.body).not.toContain('confirm');
  });

  it('sends equal bytes for equal rows, in whatever order the row was read', async () => {
    const metadata = { b: '2', a: '1', ä: '3', Z: '4' };
    const reversed = Object.fromEntries(Object.entries(metadata).reverse());
    server.script(json(500, stripeError({ type: 'api_error' })), json(500, stripeError({ type: 'api_error' })));
    const stripe = stripeFor(server);
    await stripe.createIntent(row({ metadata }));
    await stripe.createIntent(row({ metadata: reversed, status: 'pending', fence: 7n, confirmStarted: true }));
    const [first, second] = server.seen;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
  });

  it('our metadata wins over the event’s', () => {
    const stolen = { billing_key: 'x', billing_period: 'x', customer_id: 'x', ledger_id: 'x', attempt: 'x' };
    expect(createParams(row({ metadata: stolen }), context).metadata).toEqual(
      createParams(row({ metadata: null }), context).metadata,
    );
  });

  it('the billing key is the same over all attempts and another in another namespace', () => {
    const keyOf = (attempt: number, namespace = 'billing') =>
      createParams(row({ attempt }), { ...context, namespace }).metadata;
    expect(keyOf(1)).toMatchObject({ billing_key: '3e076fdaab8bae5bde9e4b96c36a4e9a', attempt: '1' });
    expect(keyOf(3)).toMatchObject({ billing_key: '3e076fdaab8bae5bde9e4b96c36a4e9a', attempt: '3' });
    expect(keyOf(1, 'kinesis-billing')).toMatchObject({ billing_key: '92aabafca369bae78b1376e160cf5bcc' });
  });

  it('stays within Stripe’s limits whatever the row holds', () => {
    const keys = fc.string({ maxLength: 45, unit: 'grapheme' });
    const metadata = fc.dictionary(keys, fc.string({ maxLength: 600, unit: 'grapheme' }), { maxKeys: 60 });
    fc.assert(
      fc.property(metadata, fc.string({ maxLength: 1500, unit: 'grapheme' }), (theirs, description) => {
        const params = createParams(row({ metadata: theirs, description }), context);
        const entries = Object.entries(params.metadata ?? {});
        expect(entries.length).toBeLessThanOrEqual(50);
        for (const [key, value] of entries) {
          expect(key).toMatch(/^[^[\]]{1,40}$/s);
          expect(String(value).length).toBeLessThanOrEqual(500);
          expect(String(value)).not.toMatch(/\p{Surrogate}/u);
        }
        expect((params.description ?? '').length).toBeLessThanOrEqual(1000);
      }),
    );
  });

  it('cuts between characters, never inside one', () => {
    const long = createParams(row({ metadata: { a: `${'x'.repeat(499)}🦊`, b: `${'x'.repeat(498)}🦊🦊` } }), context);
    expect(long.metadata).toMatchObject({ a: 'x'.repeat(499), b: `${'x'.repeat(498)}🦊` });
    const { description } = createParams(row({ description: `${'x'.repeat(999)}🦊` }), context);
    expect(description).toBe('x'.repeat(999));
  });

  it('an answer that names another row is somebody else’s intent', async () => {
    server.script(json(200, intent({ metadata: { billing_key: 'another' } })));
    expect(await stripeFor(server).createIntent(row())).toMatchObject({
      kind: 'wrong_shape',
      detail: expect.stringContaining('billing_key'),
    });
  });

  it('leaves out what the row does not have', () => {
    const params = createParams(row({ paymentMethod: null, description: null, metadata: null }), context);
    expect(Object.keys(params)).toEqual(['amount', 'currency', 'customer', 'automatic_payment_methods', 'metadata']);
  });
});

describe('confirm', () => {
  it('confirms the row’s intent off-session with the row’s method and the attempt’s key', async () => {
    server.script(json(200, intent()));
    const answer = await stripeFor(server).confirmIntent(row({ attempt: 2, paymentMethod: 'pm_new' }));
    expect(answer).toMatchObject({ kind: 'intent', intent: { status: 'succeeded', chargeId: 'ch_1' } });
    const request = only();
    expect(`${request.method} ${request.url}`).toBe('POST /v1/payment_intents/pi_1/confirm');
    expect(request.headers['idempotency-key']).toBe(`${KEY}-confirm-2`);
    expect(form(request.body)).toEqual({ off_session: 'true', payment_method: 'pm_new' });
  });

  it('names no method when the row has none', () => {
    expect(confirmParams(row({ paymentMethod: null }))).toEqual({ off_session: true });
  });
});

it('retrieve reads the row’s intent, without a key', async () => {
  server.script(json(200, intent({ latest_charge: { id: 'ch_2', object: 'charge' }, customer: { id: 'cus_42' } })));
  expect(await stripeFor(server).retrieveIntent(row())).toMatchObject({ kind: 'intent', intent: { chargeId: 'ch_2' } });
  const request = only();
  expect(`${request.method} ${request.url}`).toBe('GET /v1/payment_intents/pi_1');
  expect(request.headers['idempotency-key']).toBeUndefined();
});

it('what went wrong last is read from the intent', async () => {
  const last_payment_error = { code: 'card_declined', decline_code: 'lost_card', message: 'Your card was lost.' };
  server.script(json(200, intent({ status: 'requires_payment_method', last_payment_error })));
  expect(await stripeFor(server).retrieveIntent(row())).toMatchObject({
    kind: 'intent',
    intent: { status: 'requires_payment_method', declineCode: 'lost_card', error: 'Your card was lost.' },
  });
});

it('a path in the base URL goes before Stripe’s own', async () => {
  server.script(json(200, intent()));
  await stripeFor({ url: new URL('/proxy/stripe/', server.url) }).retrieveIntent(row());
  expect(only().url).toBe('/proxy/stripe/v1/payment_intents/pi_1');
});

describe('what a caller must not do throws before anything is sent', () => {
  it.each(['createIntent', 'confirmIntent'] as const)('%s with an empty key', async (call) => {
    await expect(stripeFor(server)[call](row({ idempotencyKey: '' }))).rejects.toThrow('empty idempotency key');
    expect(server.seen).toHaveLength(0);
  });

  it.each(['confirmIntent', 'retrieveIntent'] as const)('%s of a row without an intent', async (call) => {
    await expect(stripeFor(server)[call](row({ paymentIntentId: null }))).rejects.toThrow('names no payment intent');
    expect(server.seen).toHaveLength(0);
  });
});

describe('options', () => {
  it.each([
    [{ mode: 'live' as const }, 'test key'],
    [{ apiKey: '' }, 'key is empty'],
    [{ apiKey: `${API_KEY}\n` }, 'line breaks'],
    [{ apiKey: 'sk_live_1' }, 'live key'],
    [{ timeoutMs: 0 }, 'timeout is 0'],
    [{ timeoutMs: 1.5 }, 'timeout is 1.5'],
    [{ maxRps: 0 }, 'maxRps is 0'],
    [{ apiBase: new URL('ftp://example.com') }, 'scheme ftp:'],
  ])('%j is refused', (over, message) => {
    expect(() => stripeFor(server, over)).toThrow(message);
  });
});

it('a notice of Stripe’s is not printed by the SDK', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  try {
    const notice = { 'stripe-notice': 'please upgrade' };
    server.script(json(200, intent(), notice), json(400, stripeError({ type: 'invalid_request_error' }), notice));
    await stripeFor(server).retrieveIntent(row());
    await stripeFor(server).retrieveIntent(row());
    expect(warn).not.toHaveBeenCalled();

    // The twin: the SDK on its own does.
    server.script(json(200, intent(), notice));
    const { hostname: host, port } = server.url;
    await new Stripe(API_KEY, { host, port, protocol: 'http' }).paymentIntents.retrieve('pi_1');
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('please upgrade'), 'Stripe');
  } finally {
    warn.mockRestore();
  }
});

it('logs and answers hold no key and no card', async () => {
  const message = `No such key: ${API_KEY}, card 4242 4242 4242 4242, sk_live_51abcdef`;
  server.script(json(400, stripeError({ type: 'invalid_request_error', code: 'x', message })));
  const stripe = stripeFor(server);
  const answer = await stripe.createIntent(row());
  const said = JSON.stringify([answer, stripe.recorder.lines]);
  expect(said).toContain('No such key');
  for (const secret of [API_KEY, '4242 4242', 'sk_live_51']) expect(said).not.toContain(secret);
});
