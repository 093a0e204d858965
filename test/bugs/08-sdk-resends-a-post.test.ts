/**
 * The SDK re-sends a POST though retries are off: with its node client, after a reset. If it did so to us, both must
 * carry our key; in fact we send one request. And an empty key, which the SDK would replace by a random one, throws
 * before any I/O.
 */
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { json, reset, type ScriptedServer, startScriptedServer } from '../support/scripted-http';
import { API_KEY, intent, KEY, row, stripeFor } from '../unit/stripe/fixtures';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.clear());
afterAll(() => server.stop());

const keysOnTheWire = () => server.seen.map(({ headers }) => headers['idempotency-key']);

const nodeClient = () =>
  new Stripe(API_KEY, {
    host: server.url.hostname,
    port: server.url.port,
    protocol: 'http',
    httpClient: Stripe.createNodeHttpClient(),
    maxNetworkRetries: 0,
    telemetry: false,
  });

it('the bug: the node client sends twice with retries off, with the key it was given', async () => {
  server.script(reset, json(200, intent()));
  await nodeClient().paymentIntents.create({ amount: 1234, currency: 'usd' }, { idempotencyKey: KEY });
  expect(keysOnTheWire()).toEqual([KEY, KEY]);
});

it('the bug: an empty key is replaced by a random one', async () => {
  server.script(json(200, intent()));
  await nodeClient().paymentIntents.create({ amount: 1234, currency: 'usd' }, { idempotencyKey: '' });
  expect(keysOnTheWire()[0]).toMatch(/^stripe-node-retry-/);
});

it.each([
  ['createIntent', KEY],
  ['confirmIntent', `${KEY}-confirm-1`],
] as const)('%s sends one request with our key, and says that nothing answered', async (call, key) => {
  server.script(reset, json(200, intent()));
  expect(await stripeFor(server)[call](row())).toMatchObject({ kind: 'no_answer' });
  expect(keysOnTheWire()).toEqual([key]);
});

it('one request too when a fetch reports the very code that makes the SDK resend', async () => {
  let calls = 0;
  const fetch = () => {
    calls++;
    return Promise.reject(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  };
  expect(await stripeFor(server, { fetch }).createIntent(row())).toMatchObject({ kind: 'no_answer' });
  expect(calls).toBe(1);

  // The twin: the same fetch under the plain SDK is called twice.
  const plain = new Stripe(API_KEY, { httpClient: Stripe.createFetchHttpClient(fetch), maxNetworkRetries: 0 });
  await expect(plain.paymentIntents.retrieve('pi_1')).rejects.toThrow();
  expect(calls).toBe(3);
});

it('a resend by our own hand carries the same key and the same bytes', async () => {
  server.script(reset, json(200, intent()));
  const stripe = stripeFor(server);
  await stripe.createIntent(row());
  expect(await stripe.createIntent(row())).toMatchObject({ kind: 'intent' });
  expect(keysOnTheWire()).toEqual([KEY, KEY]);
  expect(server.seen[1]?.body).toBe(server.seen[0]?.body);
});

it.each(['createIntent', 'confirmIntent'] as const)('%s with an empty key throws before any I/O', async (call) => {
  await expect(stripeFor(server)[call](row({ idempotencyKey: '' }))).rejects.toThrow('empty idempotency key');
  expect(server.seen).toEqual([]);
});
