/**
 * Headers arrive, then the body stalls or drips: bounded time, unknown. The next step reads the same intent, so that
 * one charge remains.
 */
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { drip, json, type ScriptedServer, stallAfterHeaders, startScriptedServer } from '../support/scripted-http';
import { API_KEY, intent, row, stripeFor } from '../unit/stripe/fixtures';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.clear());
afterAll(() => server.stop());

describe.each([
  ['stalls', stallAfterHeaders],
  ['drips', drip],
] as const)('the body %s', (_name, reply) => {
  it.each(['createIntent', 'confirmIntent', 'retrieveIntent'] as const)('%s ends as no answer', async (call) => {
    server.script(reply);
    const answer = await stripeFor(server, { timeoutMs: 1_000 })[call](row());
    expect(answer.kind).toBe('no_answer');
    expect('message' in answer && answer.message).toContain('headers arrived (HTTP 200, request req_1)');
    expect(server.seen).toHaveLength(1);
  });

  it('the intent is then read, and shows what became of the confirm', async () => {
    server.script(reply, json(200, intent()));
    const stripe = stripeFor(server, { timeoutMs: 1_000 });
    expect(await stripe.confirmIntent(row())).toMatchObject({ kind: 'no_answer' });
    expect(await stripe.retrieveIntent(row())).toMatchObject({ kind: 'intent', intent: { status: 'succeeded' } });
    expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });
});

it('twin: the SDK’s node client is still waiting on a drip when its timeout is long over', async () => {
  server.script(drip);
  const sdk = new Stripe(API_KEY, {
    host: server.url.hostname,
    port: server.url.port,
    protocol: 'http',
    httpClient: Stripe.createNodeHttpClient(),
    maxNetworkRetries: 0,
    timeout: 200,
  });
  let settled = false;
  const call = sdk.paymentIntents.retrieve('pi_1').then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  // Our own client, asked at the same time for something silent with five times the time, ends first.
  server.script(drip);
  await stripeFor(server, { timeoutMs: 1000 }).retrieveIntent(row());
  expect(settled).toBe(false);
  await server.stop();
  await call;
  server = await startScriptedServer();
});
