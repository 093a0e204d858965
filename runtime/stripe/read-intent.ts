/** Reads a PaymentIntent out of an answer, and says what is wrong with one that is not the row's. */
import type { ChargeRow, IntentView } from '../processor/ports';
import { METADATA } from './params';
import { scrub } from './scrub';

/** What the answer must agree with. */
export interface Expected {
  readonly row: ChargeRow;
  readonly livemode: boolean;
  /** Set when the call named an intent; absent for create and list. */
  readonly intentId?: string;
  /** Set for create: what the request said. An answer that names another row is somebody else's intent. */
  readonly billingKey?: string;
}

export type ReadIntent = { readonly intent: IntentView } | { readonly wrong: string };

const STATUSES: ReadonlySet<string> = new Set<IntentView['status']>([
  'requires_payment_method',
  'requires_confirmation',
  'requires_action',
  'processing',
  'requires_capture',
  'succeeded',
  'canceled',
]);
const isStatus = (value: unknown): value is IntentView['status'] => typeof value === 'string' && STATUSES.has(value);

export const asRecord = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;

export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Stripe gives a reference as its id, or as the object when it was expanded. */
export const idOf = (value: unknown): string | undefined => asText(value) ?? asText(asRecord(value)?.id);

const show = (value: unknown): string => scrub(JSON.stringify(value)?.slice(0, 80) ?? 'nothing');

function mismatch(found: Readonly<Record<string, unknown>>, expected: Expected): string | undefined {
  const { row } = expected;
  const id = asText(found.id);
  if (found.object !== 'payment_intent') return `object is ${show(found.object)}, not "payment_intent"`;
  if (id === undefined || !/^pi_\w+$/.test(id)) return `id is ${show(found.id)}, not pi_…`;
  if (expected.intentId !== undefined && id !== expected.intentId) return `id is ${id}, not ${expected.intentId}`;
  if (found.amount !== row.amountCents) return `amount of ${id} is ${show(found.amount)}, not ${row.amountCents}`;
  if (found.currency !== row.currency) return `currency of ${id} is ${show(found.currency)}, not "${row.currency}"`;
  if (idOf(found.customer) !== row.stripeCustomerId) {
    return `customer of ${id} is ${show(idOf(found.customer))}, not "${row.stripeCustomerId}"`;
  }
  if (found.livemode !== expected.livemode) {
    return `livemode of ${id} is ${show(found.livemode)}, not ${expected.livemode}`;
  }
  const named = asText(asRecord(found.metadata)?.[METADATA.billingKey]);
  if (expected.billingKey !== undefined && named !== undefined && named !== expected.billingKey) {
    return `${METADATA.billingKey} of ${id} is ${show(named)}, not "${expected.billingKey}"`;
  }
  if (!isStatus(found.status)) return `status of ${id} is ${show(found.status)}, which is unknown`;
  return undefined;
}

/** The intent, when it has our id, amount, currency, customer and livemode; otherwise the first difference in words. */
export function readIntent(value: unknown, expected: Expected): ReadIntent {
  const found = asRecord(value);
  if (found === undefined) return { wrong: `the answer is ${show(value)}, not a PaymentIntent` };
  const wrong = mismatch(found, expected);
  if (wrong !== undefined) return { wrong };
  const lastError = asRecord(found.last_payment_error);
  const chargeId = idOf(found.latest_charge);
  const declineCode = asText(lastError?.decline_code) ?? asText(lastError?.code);
  const error = asText(lastError?.message);
  return {
    intent: {
      id: found.id as string,
      status: found.status as IntentView['status'],
      ...(chargeId !== undefined && { chargeId }),
      ...(typeof found.created === 'number' && { created: found.created }),
      ...(declineCode !== undefined && { declineCode: scrub(declineCode) }),
      ...(error !== undefined && { error: scrub(error) }),
    },
  };
}
