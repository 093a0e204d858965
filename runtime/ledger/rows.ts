/** Between the driver's rows and the processor's. */
import type { RowStatus } from '../contract';
import type { ChargeRow } from '../processor/ports';

/** A row as the statements return it: bigint as text. */
export interface RecordRow {
  readonly customer_id: string;
  readonly billing_period: string;
  readonly stripe_customer_id: string;
  readonly payment_method: string | null;
  readonly amount_cents: string;
  readonly currency: string;
  readonly description: string | null;
  readonly metadata: Record<string, string> | null;
  readonly status: RowStatus;
  readonly idempotency_key: string;
  readonly attempt: number;
  readonly payment_intent_id: string | null;
  readonly confirm_started: boolean;
  readonly reserved: boolean;
  readonly fence: string;
}

export function chargeRow(row: RecordRow): ChargeRow {
  return {
    customerId: row.customer_id,
    billingPeriod: row.billing_period,
    stripeCustomerId: row.stripe_customer_id,
    paymentMethod: row.payment_method,
    amountCents: Number(row.amount_cents),
    currency: row.currency,
    description: row.description,
    metadata: row.metadata,
    status: row.status,
    idempotencyKey: row.idempotency_key,
    attempt: row.attempt,
    paymentIntentId: row.payment_intent_id,
    confirmStarted: row.confirm_started,
    reserved: row.reserved,
    fence: BigInt(row.fence),
  };
}

/** One text for an identity, the same for no other. */
export function identityKey(of: { readonly customerId: string; readonly billingPeriod: string }): string {
  return JSON.stringify([of.customerId, of.billingPeriod]);
}

/** PostgreSQL's text holds neither NUL nor lone surrogates: words for people lose theirs rather than fail their write. */
export function wholeText(text: string): string {
  return Buffer.from(text).toString().replaceAll('\0', '\uFFFD');
}

export function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
