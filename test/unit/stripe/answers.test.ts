/** Every row of Stripe's error table, against a real HTTP server: one request, one verdict. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { StripeAnswer } from '../../../runtime/processor/ports';
import {
  json,
  type Reply,
  reset,
  type ScriptedServer,
  silence,
  startScriptedServer,
} from '../../support/scripted-http';
import { intent, row, stripeError, stripeFor } from './fixtures';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.clear());
afterAll(() => server.stop());

type Call = 'createIntent' | 'confirmIntent' | 'retrieveIntent';
interface Case {
  readonly name: string;
  readonly reply: Reply;
  readonly answer: object;
  readonly label: string;
  readonly calls?: readonly Call[];
}

const REPLAYED = { 'Idempotent-Replayed': 'true' };
const declinedIntent = intent({ status: 'requires_payment_method', latest_charge: 'ch_9' });
const cardError = {
  type: 'card_error',
  code: 'card_declined',
  decline_code: 'insufficient_funds',
  message: 'Your card has insufficient funds.',
  charge: 'ch_9',
};
const ALL: readonly Call[] = ['createIntent', 'confirmIntent', 'retrieveIntent'];

const CASES: readonly Case[] = [
  {
    name: 'StripeConnectionError, connection reset after the request was read',
    reply: reset,
    answer: { kind: 'no_answer' },
    label: 'no_answer',
  },
  {
    name: 'StripeConnectionError, deadline without an answer',
    reply: silence,
    answer: { kind: 'no_answer' },
    label: 'no_answer',
  },
  {
    name: '409 idempotency_key_in_use',
    reply: json(409, stripeError({ type: 'invalid_request_error', code: 'idempotency_key_in_use', message: 'in use' })),
    answer: { kind: 'busy', why: 'in_use' },
    label: 'busy_in_use',
  },
  {
    name: '500 first time',
    reply: json(500, stripeError({ type: 'api_error', message: 'An unknown error occurred' })),
    answer: { kind: 'server_error', status: 500, replayed: false, message: 'An unknown error occurred' },
    label: 'server_error',
  },
  {
    name: '500 replayed (a burnt key)',
    reply: json(500, stripeError({ type: 'api_error', message: 'oops' }), REPLAYED),
    answer: { kind: 'server_error', status: 500, replayed: true, message: 'oops' },
    label: 'server_error',
  },
  {
    name: '503 with Stripe-Should-Retry: true is not sent again',
    reply: json(503, stripeError({ type: 'api_error', message: 'oops' }), { 'Stripe-Should-Retry': 'true' }),
    answer: { kind: 'server_error', status: 503, replayed: false, message: 'oops' },
    label: 'server_error',
  },
  {
    name: '424 external dependency failed',
    reply: json(424, stripeError({ type: 'api_error', message: 'dependency' })),
    answer: { kind: 'server_error', status: 424, replayed: false, message: 'dependency' },
    label: 'server_error',
  },
  {
    name: 'StripeIdempotencyError: same key, other parameters',
    reply: json(400, stripeError({ type: 'idempotency_error', message: 'Keys for idempotent requests …' })),
    answer: { kind: 'idempotency_mismatch', message: 'Keys for idempotent requests …' },
    label: 'idempotency_mismatch',
  },
  {
    name: '429 rate_limit with a Retry-After',
    reply: json(429, stripeError({ type: 'invalid_request_error', code: 'rate_limit', message: 'slow down' }), {
      'Stripe-Rate-Limited-Reason': 'global-rate',
      'Retry-After': '2',
    }),
    answer: { kind: 'busy', why: 'rate', retryAfterMs: 2000 },
    label: 'busy_rate',
  },
  {
    name: '429 lock_timeout, with Stripe-Should-Retry: true',
    reply: json(429, stripeError({ type: 'invalid_request_error', code: 'lock_timeout', message: 'locked' }), {
      'Stripe-Should-Retry': 'true',
    }),
    answer: { kind: 'busy', why: 'lock' },
    label: 'busy_lock',
  },
  {
    name: '400 code rate_limit is a rate limit too',
    reply: json(400, stripeError({ type: 'invalid_request_error', code: 'rate_limit', message: 'slow down' })),
    answer: { kind: 'busy', why: 'rate' },
    label: 'busy_rate',
  },
  {
    name: '402 card_error with the declined intent',
    calls: ['confirmIntent'],
    reply: json(402, stripeError({ ...cardError, payment_intent: declinedIntent })),
    answer: {
      kind: 'declined',
      declineCode: 'insufficient_funds',
      message: 'Your card has insufficient funds.',
      replayed: false,
      intent: { id: 'pi_1', status: 'requires_payment_method', chargeId: 'ch_9', created: 1_790_000_000 },
    },
    label: 'declined',
  },
  {
    name: '402 card_error replayed: old news',
    calls: ['confirmIntent'],
    reply: json(402, stripeError({ ...cardError, payment_intent: declinedIntent }), REPLAYED),
    answer: expect.objectContaining({ kind: 'declined', replayed: true }),
    label: 'declined',
  },
  {
    name: '402 card_error without an intent',
    calls: ['confirmIntent'],
    reply: json(402, stripeError(cardError)),
    answer: {
      kind: 'declined',
      declineCode: 'insufficient_funds',
      message: 'Your card has insufficient funds.',
      replayed: false,
    },
    label: 'declined',
  },
  {
    name: '402 authentication_required',
    calls: ['confirmIntent'],
    reply: json(
      402,
      stripeError({
        type: 'card_error',
        code: 'authentication_required',
        message: 'needs 3DS',
        payment_intent: declinedIntent,
      }),
    ),
    answer: expect.objectContaining({ kind: 'declined', declineCode: 'authentication_required' }),
    label: 'declined',
  },
  {
    name: '402 card_error about another intent is not believed',
    calls: ['confirmIntent'],
    reply: json(402, stripeError({ ...cardError, payment_intent: { ...declinedIntent, id: 'pi_other' } })),
    answer: expect.objectContaining({ kind: 'wrong_shape' }),
    label: 'wrong_shape',
  },
  {
    name: '402 card_error that shows the intent as succeeded is not believed',
    calls: ['confirmIntent'],
    reply: json(402, stripeError({ ...cardError, payment_intent: intent() })),
    answer: expect.objectContaining({ kind: 'wrong_shape' }),
    label: 'wrong_shape',
  },
  {
    name: '402 that is no card_error is unknown',
    reply: json(402, stripeError({ type: 'invalid_request_error', message: 'failed' })),
    answer: { kind: 'server_error', status: 402, replayed: false, message: 'failed' },
    label: 'server_error',
  },
  {
    name: '400 invalid_request_error',
    reply: json(400, stripeError({ type: 'invalid_request_error', code: 'amount_too_small', message: 'too small' })),
    answer: { kind: 'refused', status: 400, code: 'amount_too_small', message: 'too small' },
    label: 'refused',
  },
  {
    name: '404 resource_missing',
    reply: json(404, stripeError({ type: 'invalid_request_error', code: 'resource_missing', message: 'No such' })),
    answer: { kind: 'refused', status: 404, code: 'resource_missing', message: 'No such' },
    label: 'refused',
  },
  {
    name: '400 unexpected_state with the intent succeeded',
    calls: ['confirmIntent'],
    reply: json(
      400,
      stripeError({
        type: 'invalid_request_error',
        code: 'payment_intent_unexpected_state',
        message: 'already succeeded',
        payment_intent: intent(),
      }),
    ),
    answer: {
      kind: 'unexpected_state',
      intent: { id: 'pi_1', status: 'succeeded', chargeId: 'ch_1', created: 1_790_000_000 },
    },
    label: 'unexpected_state',
  },
  {
    name: '400 unexpected_state without an intent, or with another one',
    calls: ['confirmIntent'],
    reply: json(
      400,
      stripeError({
        type: 'invalid_request_error',
        code: 'payment_intent_unexpected_state',
        message: 'already succeeded',
        payment_intent: intent({ id: 'pi_other' }),
      }),
    ),
    answer: { kind: 'unexpected_state' },
    label: 'unexpected_state',
  },
  {
    name: 'StripeAuthenticationError 401',
    reply: json(
      401,
      stripeError({ type: 'invalid_request_error', message: 'Invalid API Key provided: rk_test_***xx' }),
    ),
    answer: { kind: 'unauthorized', status: 401, message: 'Invalid API Key provided: rk_[hidden]' },
    label: 'unauthorized',
  },
  {
    name: 'StripePermissionError 403',
    reply: json(403, stripeError({ type: 'invalid_request_error', message: 'not permitted' })),
    answer: { kind: 'unauthorized', status: 403, message: 'not permitted' },
    label: 'unauthorized',
  },
  {
    name: '400 with a type that is not in the table is unknown, never a refusal',
    reply: json(400, stripeError({ type: 'new_kind_of_error', message: 'hm' })),
    answer: expect.objectContaining({ kind: 'server_error', status: 400 }),
    label: 'server_error',
  },
  {
    name: '400 api_error is unknown, never a refusal',
    reply: json(400, stripeError({ type: 'api_error', message: 'hm' })),
    answer: { kind: 'server_error', status: 400, replayed: false, message: 'hm' },
    label: 'server_error',
  },
  {
    name: '404 card_error is unknown, never a refusal or a decline',
    reply: json(404, stripeError({ ...cardError, message: 'hm' })),
    answer: { kind: 'server_error', status: 404, replayed: false, message: 'hm' },
    label: 'server_error',
  },
  {
    name: '200 with an error of Stripe’s is no decline',
    reply: json(200, stripeError({ ...cardError, message: 'hm' })),
    answer: { kind: 'server_error', status: 200, replayed: false, message: 'hm' },
    label: 'server_error',
  },
  {
    name: '418 in Stripe’s words is unknown',
    reply: json(418, stripeError({ type: 'invalid_request_error', message: 'hm' })),
    answer: { kind: 'server_error', status: 418, replayed: false, message: 'hm' },
    label: 'server_error',
  },
];

describe.each(CASES)('$name', ({ reply, answer, label, calls = ALL }) => {
  it.each(calls)('%s', async (call) => {
    server.script(reply);
    const timeoutMs = reply === silence ? 150 : 5000;
    const stripe = stripeFor(server, { timeoutMs });
    const got: StripeAnswer = await stripe[call](row());
    if (label === 'no_answer') expect(got).toMatchObject(answer);
    else expect(got).toEqual(answer);
    expect(server.seen).toHaveLength(1);
    expect(stripe.recorder.counts).toEqual([`stripeCalls ${call.replace('Intent', '')} ${label}`]);
  });
});

it('nothing listens: no answer', async () => {
  const gone = await startScriptedServer();
  await gone.stop();
  expect(await stripeFor(gone).createIntent(row())).toMatchObject({ kind: 'no_answer' });
});
