/** A 200 with a JSON body that is not our PaymentIntent is not a success. */
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { json, type ScriptedServer, startScriptedServer } from '../support/scripted-http';
import { API_KEY, intent, row, stripeFor } from '../unit/stripe/fixtures';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.clear());
afterAll(() => server.stop());

const BODIES: readonly [string, object][] = [
  ['a proxy’s greeting', { status: 'ok' }],
  ['an empty object', {}],
  ['another object', { id: 'ch_1', object: 'charge', amount: 1234, currency: 'usd', status: 'succeeded' }],
  ['an id that is none', intent({ id: 'xx_1' })],
  ['an id with more behind it', intent({ id: 'pi_1/../x' })],
  ['another amount', intent({ amount: 1235 })],
  ['an amount that is a text', intent({ amount: '1234' })],
  ['another currency', intent({ currency: 'eur' })],
  ['another customer', intent({ customer: 'cus_43' })],
  ['no customer', intent({ customer: null })],
  ['the live mode', intent({ livemode: true })],
  ['no mode', intent({ livemode: undefined })],
  ['a status of tomorrow', intent({ status: 'teleported' })],
  ['a status that every object has', intent({ status: 'constructor' })],
];

describe.each(BODIES)('%s', (_name, body) => {
  it.each(['createIntent', 'confirmIntent', 'retrieveIntent'] as const)('%s', async (call) => {
    server.script(json(200, body));
    const stripe = stripeFor(server);
    expect(await stripe[call](row())).toMatchObject({ kind: 'wrong_shape', detail: expect.any(String) });
    expect(server.seen).toHaveLength(1);
    expect(stripe.recorder.counts).toEqual([`stripeCalls ${call.replace('Intent', '')} wrong_shape`]);
  });
});

it.each(['confirmIntent', 'retrieveIntent'] as const)('another intent of the same amount: %s', async (call) => {
  server.script(json(200, intent({ id: 'pi_2' })));
  expect(await stripeFor(server)[call](row())).toEqual({ kind: 'wrong_shape', detail: 'id is pi_2, not pi_1' });
});

it('twin: the real one is a success', async () => {
  server.script(json(200, intent()));
  expect(await stripeFor(server).confirmIntent(row())).toMatchObject({ kind: 'intent', replayed: false });
});

it('twin: the SDK on its own takes the greeting for a success', async () => {
  server.script(json(200, { status: 'succeeded' }));
  const sdk = new Stripe(API_KEY, { host: server.url.hostname, port: server.url.port, protocol: 'http' });
  await expect(sdk.paymentIntents.confirm('pi_1', {}, { idempotencyKey: 'k' })).resolves.toMatchObject({
    status: 'succeeded',
  });
});
