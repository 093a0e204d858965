/**
 * What is sent, built from the row alone: equal rows give equal bytes, whatever was deployed or changed in between.
 */
import type Stripe from 'stripe';
import { billingKey } from '../processor/keys';
import type { ChargeRow } from '../processor/ports';

/** Names of ours in an intent's metadata. They win over the event's own. */
export const METADATA = {
  billingKey: 'billing_key',
  billingPeriod: 'billing_period',
  customerId: 'customer_id',
  ledgerId: 'ledger_id',
  attempt: 'attempt',
} as const;
const OURS = Object.values(METADATA).length;

/** Stripe's limits of metadata. */
const MAX_KEYS = 50;
const MAX_KEY_LENGTH = 40;
const MAX_VALUE_LENGTH = 500;
const MAX_DESCRIPTION_LENGTH = 1000;

export interface ParamsContext {
  readonly namespace: string;
  readonly ledgerId: string;
}

/** Cuts at the limit, never inside a surrogate pair. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = /[\ud800-\udbff]/.test(text[limit - 1] ?? '') ? limit - 1 : limit;
  return text.slice(0, end);
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The decoder keeps events within the limits; a row from elsewhere is cut rather than refused for ever. */
function metadata(row: ChargeRow, context: ParamsContext): Record<string, string> {
  const all: Record<string, string> = {};
  const theirs = Object.entries(row.metadata ?? {})
    .filter(([key, value]) => {
      const fits = key !== '' && key.length <= MAX_KEY_LENGTH && !/[[\]]/.test(key);
      return fits && value !== '';
    })
    .sort(([a], [b]) => byCodeUnit(a, b))
    .slice(0, MAX_KEYS - OURS);
  for (const [key, value] of theirs) all[key] = cut(value, MAX_VALUE_LENGTH);
  all[METADATA.attempt] = String(row.attempt);
  all[METADATA.billingKey] = rowBillingKey(row, context);
  all[METADATA.billingPeriod] = cut(row.billingPeriod, MAX_VALUE_LENGTH);
  all[METADATA.customerId] = cut(row.customerId, MAX_VALUE_LENGTH);
  all[METADATA.ledgerId] = cut(context.ledgerId, MAX_VALUE_LENGTH);
  return all;
}

/** What `listIntents` finds the row's intents by. */
export const rowBillingKey = (row: ChargeRow, { namespace }: ParamsContext): string =>
  billingKey({ customerId: row.customerId, billingPeriod: row.billingPeriod, namespace });

/**
 * An unconfirmed intent. `automatic_payment_methods` rather than `payment_method_types: ['card']`: the row's method may
 * be a bank debit, which a list of types would refuse; redirects are excluded, as nobody is there to follow one.
 */
export function createParams(row: ChargeRow, context: ParamsContext): Stripe.PaymentIntentCreateParams {
  return {
    amount: row.amountCents,
    currency: row.currency,
    customer: row.stripeCustomerId,
    ...(row.paymentMethod !== null && { payment_method: row.paymentMethod }),
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    ...(row.description !== null &&
      row.description !== '' && { description: cut(row.description, MAX_DESCRIPTION_LENGTH) }),
    metadata: metadata(row, context),
  };
}

/** Names the method again, so that attempt n+1 uses the newly frozen one on the same intent. */
export function confirmParams(row: ChargeRow): Stripe.PaymentIntentConfirmParams {
  return { off_session: true, ...(row.paymentMethod !== null && { payment_method: row.paymentMethod }) };
}
