/** Rows that are not finished, as people read them. */
import type { RowStatus } from '../contract';

export interface OpenRow {
  readonly customerId: string;
  readonly billingPeriod: string;
  readonly status: RowStatus;
  readonly amountCents: number;
  readonly currency: string;
  readonly attempt: number;
  readonly paymentIntentId: string | null;
  /** Whether a request that may have moved money was ever sent. */
  readonly confirmStarted: boolean;
  readonly error: string | null;
  readonly declineCode: string | null;
  readonly source: string | null;
  readonly sourcePosition: string | null;
  /** Who works on it now; null when nobody does. */
  readonly claimedBy: string | null;
  /** Milliseconds since the first claim, by the database's clock. */
  readonly ageMs: number;
}

export interface OpenRows {
  /** How many there are. */
  readonly total: number;
  /** The oldest of them. */
  readonly rows: readonly OpenRow[];
}

/** A row of the statement: bigint as text. */
export interface OpenRecord {
  readonly customer_id: string;
  readonly billing_period: string;
  readonly status: RowStatus;
  readonly amount_cents: string;
  readonly currency: string;
  readonly attempt: number;
  readonly payment_intent_id: string | null;
  readonly confirm_started: boolean;
  readonly error: string | null;
  readonly decline_code: string | null;
  readonly source: string | null;
  readonly source_position: string | null;
  readonly claimed_by: string | null;
  readonly age_ms: string;
  readonly total: string;
}

export function openRows(records: readonly OpenRecord[]): OpenRows {
  return {
    total: Number(records[0]?.total ?? 0),
    rows: records.map((row) => ({
      customerId: row.customer_id,
      billingPeriod: row.billing_period,
      status: row.status,
      amountCents: Number(row.amount_cents),
      currency: row.currency,
      attempt: row.attempt,
      paymentIntentId: row.payment_intent_id,
      confirmStarted: row.confirm_started,
      error: row.error,
      declineCode: row.decline_code,
      source: row.source,
      sourcePosition: row.source_position,
      claimedBy: row.claimed_by,
      ageMs: Number(row.age_ms),
    })),
  };
}
