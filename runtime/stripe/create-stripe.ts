/** Stripe as the processor's port sees it: one HTTP request a call (a page, for lists), every ending an answer. */
import Stripe from 'stripe';
import type { Host } from '../host/host';
import { confirmKey, createKey } from '../processor/keys';
import type {
  ChargeRow,
  Log,
  Metrics,
  NotSent,
  PaymentMethodAnswer,
  StripeAnswer,
  StripePort,
} from '../processor/ports';
import { classifyFailure, classifyIntent, classifyIntentFailure, type Failure, notOk } from './classify';
import { collectIntents, type Page } from './list-intents';
import { confirmParams, createParams, rowBillingKey } from './params';
import { createRateLimit } from './rate-limit';
import { type AccountIdentity, readAccount } from './read-account';
import { readDefaultPaymentMethod } from './read-customer';
import type { Expected } from './read-intent';
import { createSingleFetch } from './single-fetch';

/** Stripe's answers have this version's shape, whatever the account's default is. Raised with the SDK, by hand. */
export const STRIPE_API_VERSION = '2026-10-28.endive';

export interface StripeOptions {
  /** Restricted or secret key. Whether it may be unrestricted is the configuration's affair. */
  readonly apiKey: string;
  readonly mode: 'test' | 'live';
  /** http or https, any port; a path goes before Stripe's own. */
  readonly apiBase: URL;
  /** This worker's share for each endpoint, in requests a second; fractions are fine. */
  readonly maxRps: number;
  /** Deadline of one request over connect, headers and body together, in whole milliseconds. */
  readonly timeoutMs: number;
  /** Names the ledger in the metadata of every intent. */
  readonly ledgerId: string;
  /** The namespace that the rows' keys are made with. */
  readonly namespace: string;
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The platform's own when absent. */
  readonly fetch?: typeof fetch;
}

export type StripeClient = StripePort & {
  /**
   * Whose key this is. `accountId` is absent when the key may not read its account (checked by mode alone then).
   * Rejects when Stripe refuses the key, or gives no answer for about a minute.
   */
  account(): Promise<AccountIdentity>;
};

type Endpoint = 'create' | 'confirm' | 'retrieve' | 'list' | 'customer' | 'account';

interface Received {
  readonly body: unknown;
  readonly status: number | undefined;
  readonly headers: unknown;
}
type Outcome = { readonly received: Received } | { readonly error: unknown };

function checkOptions(options: StripeOptions): void {
  if (options.apiBase.protocol !== 'https:' && options.apiBase.protocol !== 'http:') {
    throw new Error(`The Stripe base URL has the scheme ${options.apiBase.protocol}; allowed are http: and https:`);
  }
  if (!Number.isSafeInteger(options.timeoutMs) || options.timeoutMs < 1) {
    throw new Error(`The Stripe timeout is ${options.timeoutMs}; allowed is a whole number of milliseconds above 0`);
  }
  if (!/^[\x21-\x7e]+$/.test(options.apiKey)) {
    throw new Error(
      'The Stripe key is empty or holds blanks or line breaks; give it as Stripe shows it, without quotes',
    );
  }
  const keyMode = /^(?:sk|rk)_(live|test)_/.exec(options.apiKey)?.[1];
  if (keyMode !== undefined && keyMode !== options.mode) {
    throw new Error(`The Stripe key is a ${keyMode} key, but the mode is ${options.mode}: give a key of that mode`);
  }
}

function createSdk(options: StripeOptions): Stripe {
  const fetchFn = createSingleFetch(options.apiBase, options.fetch ?? fetch);
  return new Stripe(options.apiKey, {
    apiVersion: STRIPE_API_VERSION,
    httpClient: Stripe.createFetchHttpClient(fetchFn),
    maxNetworkRetries: 0,
    telemetry: false,
    timeout: options.timeoutMs,
  });
}

function requireIntentId(row: ChargeRow): string {
  if (row.paymentIntentId === null) {
    throw new Error('The row names no payment intent: nothing was sent to Stripe. This is a fault of the caller.');
  }
  return row.paymentIntentId;
}

/** The label of an answer in the metric. */
const labelOf = (answer: StripeAnswer | PaymentMethodAnswer): string =>
  answer.kind === 'busy' ? `busy_${answer.why}` : answer.kind;

/** Sends requests and counts their answers. */
class Caller {
  private readonly mayCall: (endpoint: string) => Promise<void>;
  readonly sdk: Stripe;

  constructor(private readonly options: StripeOptions) {
    this.mayCall = createRateLimit(options.maxRps, options.host);
    this.sdk = createSdk(options);
  }

  async send<A extends StripeAnswer | PaymentMethodAnswer | Page>(
    endpoint: Endpoint,
    request: () => Promise<Stripe.Response<unknown>>,
    classify: (outcome: Outcome) => A,
  ): Promise<A> {
    await this.mayCall(endpoint);
    return this.sendNow(endpoint, request, classify);
  }

  /** As `send`, unless the caller may not go on when its turn has come. */
  async sendIf<A extends StripeAnswer>(
    mayGoOn: (() => boolean) | undefined,
    endpoint: Endpoint,
    request: () => Promise<Stripe.Response<unknown>>,
    classify: (outcome: Outcome) => A,
  ): Promise<A | NotSent> {
    await this.mayCall(endpoint);
    return mayGoOn === undefined || mayGoOn() ? this.sendNow(endpoint, request, classify) : 'not_sent';
  }

  private async sendNow<A extends StripeAnswer | PaymentMethodAnswer | Page>(
    endpoint: Endpoint,
    request: () => Promise<Stripe.Response<unknown>>,
    classify: (outcome: Outcome) => A,
  ): Promise<A> {
    const startedAt = this.options.host.monotonic();
    // Not `request()`: what the SDK throws at once must end as an answer too.
    const outcome = await Promise.resolve()
      .then(request)
      .then(
        (body): Outcome => ({
          received: { body, status: body.lastResponse?.statusCode, headers: body.lastResponse?.headers },
        }),
        (error: unknown): Outcome => ({ error }),
      );
    const answer = classify(outcome);
    const label = 'kind' in answer ? labelOf(answer) : 'answer' in answer ? labelOf(answer.answer) : 'page';
    const ms = Math.round(this.options.host.monotonic() - startedAt);
    this.options.metrics.count('stripeCalls', { endpoint, answer: label });
    this.options.log.debug({ endpoint, answer: label, ms }, 'Stripe answered');
    return answer;
  }
}

const toIntentAnswer =
  (expected: Expected) =>
  (outcome: Outcome): StripeAnswer =>
    'error' in outcome
      ? classifyIntentFailure(outcome.error, expected)
      : classifyIntent(outcome.received.body, outcome.received, expected);

/** The failure in an outcome, if any. */
const failureOf = (outcome: Outcome): Failure | undefined =>
  'error' in outcome ? classifyFailure(outcome.error) : notOk(outcome.received.status, outcome.received.headers);

const bodyOf = (outcome: Outcome): unknown => ('received' in outcome ? outcome.received.body : undefined);

const callAccount = (caller: Caller): Promise<Page> =>
  caller.send(
    'account',
    () => caller.sdk.accounts.retrieveCurrent(),
    (outcome): Page => {
      const failure = failureOf(outcome);
      return failure === undefined ? { body: bodyOf(outcome) } : { answer: failure };
    },
  );

/**
 * Makes the port. Its calls never reject; the one exception is a fault of the caller that is seen before any I/O
 * (an empty key, a confirm of a row without an intent).
 */
export function createStripe(options: StripeOptions): StripeClient {
  checkOptions(options);
  const caller = new Caller(options);
  const livemode = options.mode === 'live';
  const { paymentIntents, customers } = caller.sdk;
  const getPage = (row: ChargeRow, after: string | undefined): Promise<Page> =>
    caller.send(
      'list',
      () =>
        paymentIntents
          .list({ customer: row.stripeCustomerId, limit: 100, ...(after !== undefined && { starting_after: after }) })
          .then((page) => page),
      (outcome): Page => {
        const failure = failureOf(outcome);
        return failure === undefined ? { body: bodyOf(outcome) } : { answer: failure };
      },
    );
  return {
    createIntent: (async (row: ChargeRow, mayGoOn?: () => boolean) => {
      const idempotencyKey = createKey(row);
      const params = createParams(row, options);
      const send = () => paymentIntents.create(params, { idempotencyKey });
      const billingKey = rowBillingKey(row, options);
      return caller.sendIf(mayGoOn, 'create', send, toIntentAnswer({ row, livemode, billingKey }));
    }) as StripePort['createIntent'],
    confirmIntent: (async (row: ChargeRow, mayGoOn?: () => boolean) => {
      const intentId = requireIntentId(row);
      const idempotencyKey = confirmKey(row);
      const send = () => paymentIntents.confirm(intentId, confirmParams(row), { idempotencyKey });
      return caller.sendIf(mayGoOn, 'confirm', send, toIntentAnswer({ row, livemode, intentId }));
    }) as StripePort['confirmIntent'],
    async retrieveIntent(row) {
      const intentId = requireIntentId(row);
      return caller.send(
        'retrieve',
        () => paymentIntents.retrieve(intentId),
        toIntentAnswer({ row, livemode, intentId }),
      );
    },
    async listIntents(row) {
      return collectIntents(row, rowBillingKey(row, options), { row, livemode }, getPage);
    },
    defaultPaymentMethod: (row) =>
      caller.send(
        'customer',
        () => customers.retrieve(row.stripeCustomerId),
        (outcome): PaymentMethodAnswer =>
          failureOf(outcome) ?? readDefaultPaymentMethod(bodyOf(outcome), row, livemode),
      ),
    account: () => readAccount(() => callAccount(caller), livemode, options),
  };
}
