import { type Host, systemHost } from '../../../runtime/host/host';
import type { ChargeRow, Log, Metrics } from '../../../runtime/processor/ports';
import { createStripe, type StripeClient, type StripeOptions } from '../../../runtime/stripe';
import type { ScriptedServer } from '../../support/scripted-http';

export const KEY = '0123456789abcdef0123456789abcdef';

export const row = (over: Partial<ChargeRow> = {}): ChargeRow => ({
  customerId: 'acct-42',
  billingPeriod: '2026-10',
  stripeCustomerId: 'cus_42',
  paymentMethod: 'pm_card_visa',
  amountCents: 1234,
  currency: 'usd',
  description: 'Usage 2026-10',
  metadata: { plan: 'gold' },
  status: 'pending',
  idempotencyKey: KEY,
  attempt: 1,
  paymentIntentId: 'pi_1',
  confirmStarted: false,
  reserved: true,
  fence: 1n,
  ...over,
});

export const intent = (over: Readonly<Record<string, unknown>> = {}) => ({
  id: 'pi_1',
  object: 'payment_intent',
  amount: 1234,
  currency: 'usd',
  customer: 'cus_42',
  livemode: false,
  status: 'succeeded',
  latest_charge: 'ch_1',
  created: 1_790_000_000,
  metadata: {},
  last_payment_error: null,
  ...over,
});

/** An error body in Stripe's shape. */
export const stripeError = (error: Readonly<Record<string, unknown>>) => ({ error });

export interface Recorder {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly lines: object[];
  readonly counts: string[];
}

export function createRecorder(): Recorder {
  const lines: object[] = [];
  const counts: string[] = [];
  const write = (fields: object, message: string) => {
    lines.push({ ...fields, message });
  };
  return {
    log: { debug: write, info: write, warn: write, error: write },
    metrics: {
      count: (name, labels = {}) => {
        counts.push(`${name} ${Object.values(labels).join(' ')}`);
      },
      gauge: () => undefined,
    },
    lines,
    counts,
  };
}

export const API_KEY = 'rk_test_51NoSuchKey0000000000';

/** The real room against the scripted server. */
export function stripeFor(
  server: Pick<ScriptedServer, 'url'>,
  over: Partial<StripeOptions> & { readonly host?: Host } = {},
): StripeClient & { readonly recorder: Recorder } {
  const recorder = createRecorder();
  const client = createStripe({
    apiKey: API_KEY,
    mode: 'test',
    apiBase: server.url,
    maxRps: 1000,
    timeoutMs: 5000,
    ledgerId: 'ledger-1',
    namespace: 'billing',
    host: systemHost,
    log: recorder.log,
    metrics: recorder.metrics,
    ...over,
  });
  return { ...client, recorder };
}
