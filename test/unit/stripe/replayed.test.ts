/** A replayed answer is seen as one, on both of the SDK's clients, for successes and for errors. */
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { header, retryAfterMs, wasReplayed } from '../../../runtime/stripe/headers';
import { json, type ScriptedServer, startScriptedServer } from '../../support/scripted-http';
import { API_KEY, intent, KEY, row, stripeError, stripeFor } from './fixtures';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.clear());
afterAll(() => server.stop());

const REPLAYED = { 'Idempotent-Replayed': 'true', 'original-request': 'req_0' };

const clients = {
  fetch: () => Stripe.createFetchHttpClient(),
  node: () => Stripe.createNodeHttpClient(),
};

describe.each(['fetch', 'node'] as const)('the %s client', (name) => {
  const sdk = () =>
    new Stripe(API_KEY, {
      host: server.url.hostname,
      port: server.url.port,
      protocol: 'http',
      httpClient: clients[name](),
      maxNetworkRetries: 0,
      telemetry: false,
    });

  it.each([
    [REPLAYED, true],
    [{}, false],
    [{ 'Idempotent-Replayed': 'false' }, false],
  ])('a success with %j: %s', async (headers, replayed) => {
    server.script(json(200, intent(), headers as Record<string, string>));
    const { lastResponse } = await sdk().paymentIntents.retrieve('pi_1');
    expect(wasReplayed(lastResponse.headers)).toBe(replayed);
  });

  it.each([
    [REPLAYED, true],
    [{}, false],
  ])('an error with %j: %s', async (headers, replayed) => {
    server.script(json(402, stripeError({ type: 'card_error' }), headers as Record<string, string>));
    const error: unknown = await sdk()
      .paymentIntents.confirm('pi_1', {}, { idempotencyKey: KEY })
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(Stripe.errors.StripeError);
    expect(wasReplayed((error as InstanceType<typeof Stripe.errors.StripeError>).headers)).toBe(replayed);
  });
});

it('twin: an index into what the fetch client hands out sees no replay', async () => {
  server.script(json(200, intent(), REPLAYED));
  const sdk = new Stripe(API_KEY, {
    host: server.url.hostname,
    port: server.url.port,
    protocol: 'http',
    httpClient: Stripe.createFetchHttpClient(),
  });
  const { lastResponse } = await sdk.paymentIntents.retrieve('pi_1');
  expect((lastResponse.headers as Record<string, string>)['idempotent-replayed']).toBeUndefined();
});

it.each(['createIntent', 'confirmIntent'] as const)('%s says so', async (call) => {
  server.script(json(200, intent({ status: 'processing' }), REPLAYED), json(200, intent({ status: 'processing' })));
  const stripe = stripeFor(server);
  expect(await stripe[call](row())).toMatchObject({ kind: 'intent', replayed: true });
  expect(await stripe[call](row())).toMatchObject({ kind: 'intent', replayed: false });
});

describe('header', () => {
  it.each([
    [{ 'Idempotent-Replayed': 'TRUE' }, 'TRUE'],
    [{ 'idempotent-replayed': ['true', 'x'] }, 'true'],
    [new Headers({ 'Idempotent-Replayed': 'true' }), 'true'],
    [{}, undefined],
    [undefined, undefined],
    [null, undefined],
    ['text', undefined],
  ])('%j', (headers, value) => {
    expect(header(headers, 'idempotent-replayed')).toBe(value);
  });
});

it.each([
  ['2', 2000],
  ['0.5', 500],
  ['0', 0],
  ['9999', 60_000],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  ['-1', undefined],
  ['', undefined],
])('Retry-After %j is %s ms', (value, ms) => {
  expect(retryAfterMs({ 'retry-after': value })).toBe(ms);
});
