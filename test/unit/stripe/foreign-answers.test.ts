/** Answers that are not Stripe's: proxies, portals, half a body. None may be a success, a decline or a refusal. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  drip,
  html,
  json,
  type Reply,
  redirect,
  reset,
  type ScriptedServer,
  stallAfterHeaders,
  startScriptedServer,
  text,
  truncated,
} from '../../support/scripted-http';
import { API_KEY, intent, KEY, row, stripeFor } from './fixtures';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.clear());
afterAll(() => server.stop());

/** What a plain SDK makes of it, for the twins. */
const plainSdk = () =>
  new Stripe(API_KEY, {
    host: server.url.hostname,
    port: server.url.port,
    protocol: 'http',
    httpClient: Stripe.createFetchHttpClient(),
    maxNetworkRetries: 0,
    telemetry: false,
  });

interface Case {
  readonly name: string;
  readonly reply: Reply;
  readonly answer: object;
  readonly timeoutMs?: number;
}

const unknown = (status: number, replayed = false) => ({ kind: 'server_error', status, replayed });

const CASES: readonly Case[] = [
  ...[400, 401, 402, 403, 404, 409, 429, 500, 503].map((status) => ({
    name: `${status} with JSON whose error is a text`,
    reply: json(status, { error: 'Daily spend cap of $50 reached', spent_today_usd: 50 }),
    answer: unknown(status),
  })),
  ...['card_error', 'invalid_request_error', 'idempotency_error', 'invalid_grant'].flatMap((error) =>
    [400, 402, 404].map((status) => ({
      name: `${status} with the text ${error} for an error`,
      reply: json(status, { error, error_description: 'hm' }),
      answer: unknown(status),
    })),
  ),
  ...[400, 401, 402, 403, 404, 409, 429, 500, 503].map((status) => ({
    name: `${status} with JSON without an error member`,
    reply: json(status, { message: 'nope' }),
    answer: unknown(status),
  })),
  {
    name: '500 replayed, without an error member',
    reply: json(500, { message: 'nope' }, { 'Idempotent-Replayed': 'true' }),
    answer: unknown(500, true),
  },
  {
    name: '503 with our own intent in it',
    reply: json(503, intent()),
    answer: unknown(503),
  },
  { name: '202 with our own intent in it', reply: json(202, intent()), answer: unknown(202) },
  { name: '200 with an error member', reply: json(200, { error: { message: 'hm' } }), answer: unknown(200) },
  { name: '502 HTML', reply: html(502), answer: unknown(502) },
  { name: '200 HTML (a portal)', reply: html(200), answer: unknown(200) },
  { name: '403 HTML (a firewall)', reply: html(403), answer: unknown(403) },
  { name: '402 HTML', reply: html(402), answer: unknown(402) },
  { name: '200 null', reply: text(200, 'null'), answer: unknown(200) },
  { name: '200 a JSON text', reply: text(200, '"ok"'), answer: unknown(200) },
  { name: '200 a JSON number', reply: text(200, '1'), answer: unknown(200) },
  { name: '200 true', reply: text(200, 'true'), answer: unknown(200) },
  { name: '200 an array', reply: json(200, [intent()]), answer: unknown(200) },
  { name: '200 with an empty body', reply: text(200, ''), answer: unknown(200) },
  { name: '200 with half a JSON, rightly framed', reply: text(200, '{"id":"pi_1","obj'), answer: unknown(200) },
  { name: '204', reply: text(204, ''), answer: unknown(204) },
  { name: '304', reply: text(304, ''), answer: unknown(304) },
  { name: 'a reset', reply: reset, answer: { kind: 'no_answer' } },
  { name: 'a body cut short', reply: truncated(JSON.stringify(intent())), answer: { kind: 'no_answer' } },
  { name: 'headers, then nothing', reply: stallAfterHeaders, answer: { kind: 'no_answer' }, timeoutMs: 500 },
  { name: 'headers, then a drip', reply: drip, answer: { kind: 'no_answer' }, timeoutMs: 500 },
  {
    name: 'a gzip that is none',
    reply: text(200, JSON.stringify(intent()), { 'content-encoding': 'gzip' }),
    answer: { kind: 'no_answer' },
  },
];

describe.each(CASES)('$name is unknown', ({ reply, answer, timeoutMs = 5000 }) => {
  it.each(['createIntent', 'confirmIntent', 'retrieveIntent', 'listIntents', 'defaultPaymentMethod'] as const)(
    '%s',
    async (call) => {
      server.script(reply);
      const stripe = stripeFor(server, { timeoutMs });
      expect(await stripe[call](row())).toMatchObject(answer);
      expect(server.seen).toHaveLength(1);
    },
  );
});

describe('a redirect', () => {
  it.each([301, 302, 307, 308])('%i is not followed', async (status) => {
    const elsewhere = await startScriptedServer();
    try {
      elsewhere.script(json(200, intent()));
      server.script(redirect(status, `${elsewhere.url.origin}/v1/payment_intents`));
      expect(await stripeFor(server).createIntent(row())).toMatchObject({ kind: 'no_answer' });
      expect(server.seen).toHaveLength(1);
      expect(elsewhere.seen).toHaveLength(0);

      // The twin: the SDK on its own carries the charge to the other server.
      server.script(redirect(status, `${elsewhere.url.origin}/v1/payment_intents`));
      await plainSdk().paymentIntents.create({ amount: 1234, currency: 'usd' }, { idempotencyKey: KEY });
      expect(elsewhere.seen).toHaveLength(1);
    } finally {
      await elsewhere.stop();
    }
  });
});

it('twin: the SDK on its own takes a 503 without an error member for a success', async () => {
  server.script(json(503, { id: 'pi_1', message: 'nope' }));
  await expect(plainSdk().paymentIntents.retrieve('pi_1')).resolves.toMatchObject({ id: 'pi_1' });
});

it('twin: the SDK on its own never settles on a JSON text, and rejects a promise that nobody holds', async () => {
  server.script(text(200, '"ok"'));
  const script = `
    const Stripe = require('stripe');
    const sdk = new Stripe('rk_test_1', { host: '127.0.0.1', port: ${server.url.port}, protocol: 'http',
      httpClient: Stripe.createFetchHttpClient(), maxNetworkRetries: 0, telemetry: false });
    process.on('unhandledRejection', () => { console.log('unhandled'); process.exit(0); });
    sdk.paymentIntents.retrieve('pi_1').then(() => console.log('settled'), () => console.log('settled'));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { cwd: `${__dirname}/../../..` });
  expect(stdout.trim()).toBe('unhandled');
});
