/** Stripe's refusals with the bodies that Stripe sends. */

/** What goes back over the wire. `body` is the JSON text. */
export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface StripeErrorBody {
  readonly type: 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error';
  readonly code?: string;
  readonly message: string;
  readonly param?: string;
  readonly doc_url?: string;
  readonly [more: string]: unknown;
}

/** A refusal. `kept` says whether an idempotency key keeps it once the endpoint has begun to execute. */
export class StripeError extends Error {
  override readonly name = 'StripeError';

  constructor(
    readonly status: number,
    readonly error: StripeErrorBody,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly kept = true,
  ) {
    super(error.message);
  }

  toReply(): Reply {
    return { status: this.status, body: toJson({ error: this.error }), headers: this.headers };
  }
}

/** Stripe indents its JSON by two spaces. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

const docUrl = (code: string) => `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}`;

/** 400 (or another status) of type invalid_request_error. */
export function invalidRequest(
  message: string,
  more: { code?: string; param?: string; status?: number; [extra: string]: unknown } = {},
): StripeError {
  const { status = 400, ...rest } = more;
  const link = rest.code === undefined ? {} : { doc_url: docUrl(rest.code) };
  return new StripeError(status, { type: 'invalid_request_error', message, ...rest, ...link });
}

/** 404 when the id stands in the path, 400 when it is a parameter. */
export function resourceMissing(kind: string, id: string, param: string, options: { inPath: boolean; hint?: string }) {
  return invalidRequest(`No such ${kind}: '${id}'${options.hint ?? ''}`, {
    code: 'resource_missing',
    param,
    status: options.inPath ? 404 : 400,
  });
}

export function unexpectedState(message: string, intent: object): StripeError {
  return invalidRequest(message, { code: 'payment_intent_unexpected_state', payment_intent: intent });
}

export function keyMismatch(key: string): StripeError {
  return new StripeError(400, {
    type: 'idempotency_error',
    message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
  });
}

export function keyInUse(key: string): StripeError {
  return invalidRequest(
    `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`,
    { code: 'idempotency_key_in_use', status: 409 },
  );
}

export type RateLimitReason =
  | 'global-rate'
  | 'endpoint-rate'
  | 'global-concurrency'
  | 'endpoint-concurrency'
  | 'resource-specific';

export function rateLimited(reason: RateLimitReason): StripeError {
  return new StripeError(
    429,
    {
      type: 'invalid_request_error',
      code: 'rate_limit',
      message: 'Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.',
      doc_url: docUrl('rate_limit'),
    },
    { 'stripe-rate-limited-reason': reason },
    false,
  );
}

export function lockTimeout(): StripeError {
  return new StripeError(
    429,
    {
      type: 'invalid_request_error',
      code: 'lock_timeout',
      message:
        "This object can't be accessed right now because another API request or Stripe process is currently accessing it. If you see this error intermittently, retry the request. If you see this error frequently and are making multiple concurrent requests to a single object, make your requests serially or at a lower rate.",
      doc_url: docUrl('lock_timeout'),
    },
    { 'stripe-should-retry': 'true' },
    false,
  );
}

export function serverError(headers: Readonly<Record<string, string>> = {}): StripeError {
  return new StripeError(500, { type: 'api_error', message: 'An unknown error occurred' }, headers);
}
