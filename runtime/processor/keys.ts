/**
 * The keys of one identity. Pure: equal input gives equal text on every machine, for ever.
 *
 * A key is made of the identity and the namespace only. Sequence numbers, partitions, times, amounts and
 * payment methods are never part of it: a key that changes is a second charge.
 */
import { createHash } from 'node:crypto';

export interface KeyInput {
  readonly customerId: string;
  readonly billingPeriod: string;
  /** What is billed: `billing` by default; an existing consumer's own word reproduces its keys. */
  readonly namespace: string;
}

/** Without this, `a:b` + `c` and `a` + `b:c` would be one identity. */
const escapeId = (id: string): string => id.replace(/[%:]/g, (found) => (found === '%' ? '%25' : '%3A'));

const hash = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 32);

function identityText({ customerId, billingPeriod, namespace }: KeyInput): string {
  for (const [name, value] of Object.entries({ customerId, billingPeriod, namespace })) {
    if (value === '') throw new Error(`No idempotency key can be made: ${name} is empty`);
  }
  return `${escapeId(customerId)}:${escapeId(billingPeriod)}:${namespace}`;
}

/**
 * The key of `paymentIntents.create`: 32 hex characters. `attempt` is the attempt that creates the intent; 1 has no
 * suffix. A raised attempt on the same intent keeps its key, so callers ask for a new one only for a new intent.
 */
export function idempotencyKey(input: KeyInput & { readonly attempt: number }): string {
  if (!Number.isSafeInteger(input.attempt) || input.attempt < 1) {
    throw new Error(`No idempotency key can be made: attempt is ${input.attempt}, it counts from 1`);
  }
  const text = identityText(input);
  return hash(input.attempt === 1 ? text : `${text}:attempt-${input.attempt}`);
}

/** Names the row in Stripe's metadata over all its attempts: equal to the key of attempt 1. */
export const billingKey = (input: KeyInput): string => hash(identityText(input));

/** The key of `paymentIntents.confirm`. Throws when the row has none, since the SDK would invent one. */
export function confirmKey(row: { readonly idempotencyKey: string; readonly attempt: number }): string {
  return `${createKey(row)}-confirm-${row.attempt}`;
}

/** The row's key of `paymentIntents.create`. Throws when it is empty, since the SDK would invent a random one. */
export function createKey(row: { readonly idempotencyKey: string }): string {
  if (row.idempotencyKey.trim() === '') {
    throw new Error('The row has an empty idempotency key: nothing was sent to Stripe. This is a fault of the caller.');
  }
  return row.idempotencyKey;
}
