/**
 * The table from what came back to a verdict. Pure.
 *
 * Only a body in Stripe's own error shape may say that no money moved. Everything else (a proxy's page, an error that
 * this table does not name, silence) is on the unknown side: the intent is read before anything is concluded.
 */
import Stripe from 'stripe';
import type { StripeAnswer } from '../processor/ports';
import { retryAfterMs, wasReplayed } from './headers';
import { asRecord, asText, type Expected, readIntent } from './read-intent';
import { scrub } from './scrub';
import { UnreadableAnswer } from './single-fetch';

/** Answers that an error can mean, whatever the endpoint. */
export type Failure = Extract<
  StripeAnswer,
  { kind: 'refused' | 'unauthorized' | 'busy' | 'server_error' | 'no_answer' }
>;

interface StripeFailure {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly headers: unknown;
}

/** Types of Stripe's v1 errors. A proxy's JSON has none of them. */
const STRIPE_TYPES: ReadonlySet<string> = new Set([
  'api_error',
  'authentication_error',
  'card_error',
  'idempotency_error',
  'invalid_request_error',
  'rate_limit_error',
]);

/** The error as Stripe words it; undefined when whoever answered was not Stripe. */
function inStripesWords(error: InstanceType<typeof Stripe.errors.StripeError>): StripeFailure | undefined {
  const raw = asRecord(error.raw);
  const type = asText(raw?.type);
  if (error.type.includes('OAuth') || type === undefined || !STRIPE_TYPES.has(type)) return undefined;
  if (error.statusCode === undefined) return undefined;
  return {
    status: error.statusCode,
    type,
    code: asText(raw?.code) ?? '',
    message: scrub(asText(raw?.message) ?? `Stripe answered ${error.statusCode} ${type} without a message`),
    headers: error.headers,
  };
}

function busy(why: 'in_use' | 'rate' | 'lock', headers: unknown): Failure {
  const waitMs = retryAfterMs(headers);
  return { kind: 'busy', why, ...(waitMs !== undefined && { retryAfterMs: waitMs }) };
}

const serverError = (status: number | undefined, replayed: boolean, message: string): Failure => ({
  kind: 'server_error',
  ...(status !== undefined && { status }),
  replayed,
  message: scrub(message),
});

function classifyStripeFailure(failure: StripeFailure): Failure {
  const { status, code, headers, message } = failure;
  if (code === 'lock_timeout' && (status === 429 || status === 400)) return busy('lock', headers);
  if (status === 429 || (status === 400 && code === 'rate_limit')) return busy('rate', headers);
  if (status === 409) return busy('in_use', headers);
  if (status === 401 || status === 403) return { kind: 'unauthorized', status, message };
  if ((status === 400 || status === 404) && failure.type === 'invalid_request_error') {
    return { kind: 'refused', status, code: code === '' ? 'invalid_request' : code, message };
  }
  return serverError(status, wasReplayed(headers), message);
}

/** An error of the SDK as far as it does not depend on the intent. Never throws. */
export function classifyFailure(error: unknown): Failure {
  if (!(error instanceof Stripe.errors.StripeError)) {
    return serverError(undefined, false, error instanceof Error ? error.message : 'the answer could not be read');
  }
  const cause: unknown = error.detail;
  if (cause instanceof UnreadableAnswer) return serverError(cause.status, cause.replayed, cause.message);
  if (error instanceof Stripe.errors.StripeConnectionError) {
    const detail = cause instanceof Error ? cause.message : error.message;
    return { kind: 'no_answer', message: scrub(detail) };
  }
  const failure = inStripesWords(error);
  if (failure !== undefined) return classifyStripeFailure(failure);
  const status = error.statusCode;
  const shown = status === undefined ? 'an answer' : `HTTP ${status}`;
  return serverError(status, wasReplayed(error.headers), `${shown} that is not in Stripe's words: ${error.message}`);
}

/**
 * A decline is believed when the body is Stripe's card_error and the intent in it, if any, is the row's and can have
 * been declined. A card_error about a paid or a foreign intent contradicts itself: unknown, so that it is read.
 */
function declined(failure: StripeFailure, raw: Readonly<Record<string, unknown>>, expected: Expected): StripeAnswer {
  const answer = {
    kind: 'declined' as const,
    declineCode: scrub(asText(raw.decline_code) ?? (failure.code || 'card_declined')),
    message: failure.message,
    replayed: wasReplayed(failure.headers),
  };
  if (raw.payment_intent === undefined || raw.payment_intent === null) return answer;
  const read = readIntent(raw.payment_intent, expected);
  if ('wrong' in read) return { kind: 'wrong_shape', detail: `a decline of another intent: ${read.wrong}` };
  const { intent } = read;
  if (intent.status === 'succeeded' || intent.status === 'processing' || intent.status === 'requires_capture') {
    return { kind: 'wrong_shape', detail: `a decline that shows ${intent.id} as ${intent.status}` };
  }
  return { ...answer, intent };
}

/** An error of create, confirm or retrieve. */
export function classifyIntentFailure(error: unknown, expected: Expected): StripeAnswer {
  const failure = error instanceof Stripe.errors.StripeError ? inStripesWords(error) : undefined;
  if (failure === undefined) return classifyFailure(error);
  const raw = asRecord((error as InstanceType<typeof Stripe.errors.StripeError>).raw) ?? {};
  if (failure.status === 402 && failure.type === 'card_error') return declined(failure, raw, expected);
  if (failure.status === 400 && failure.type === 'idempotency_error') {
    return { kind: 'idempotency_mismatch', message: failure.message };
  }
  if (failure.status === 400 && failure.code === 'payment_intent_unexpected_state') {
    const read = readIntent(raw.payment_intent, expected);
    return { kind: 'unexpected_state', ...('intent' in read && { intent: read.intent }) };
  }
  return classifyFailure(error);
}

/** A body that the SDK took for a success. It does so with any status when the JSON has no `error` member. */
export function notOk(status: number | undefined, headers: unknown): Failure | undefined {
  if (status === 200) return undefined;
  return serverError(status, wasReplayed(headers), `HTTP ${status ?? 'without a status'} with JSON that has no error`);
}

/** The answer of create, confirm or retrieve that the SDK took for a success. */
export function classifyIntent(
  body: unknown,
  response: { readonly status: number | undefined; readonly headers: unknown },
  expected: Expected,
): StripeAnswer {
  const failed = notOk(response.status, response.headers);
  if (failed !== undefined) return failed;
  const read = readIntent(body, expected);
  if ('wrong' in read) return { kind: 'wrong_shape', detail: read.wrong };
  return { kind: 'intent', intent: read.intent, replayed: wasReplayed(response.headers) };
}
