/** Claiming: what is asked of claim_batch, and what its answers mean. */

import type { RowStatus } from '../contract';
import type { ClaimAnswer, ClaimRequest, LookAnswer } from '../processor/ports';
import { chargeRow, identityKey, type RecordRow } from './rows';

/** Whether a spend cap is enforced, and the limit of a period that has no row yet, in minor units by currency. */
export interface SpendCapOptions {
  /** `off`: holds and spend are counted, nothing is blocked. `ledger`: what does not fit becomes `cap_blocked`. */
  readonly mode: 'off' | 'ledger';
  /** A currency that is not named here is blocked in mode `ledger` unless its period has a row with a limit. */
  readonly defaults: Readonly<Record<string, number>>;
}

export type ClaimRow = RecordRow & {
  readonly outcome: ClaimAnswer['outcome'];
  readonly retry_in_ms: string | null;
};

export interface LookRow {
  readonly outcome: LookAnswer['outcome'];
  readonly status: RowStatus | null;
  readonly retry_in_ms: string | null;
}

export function claimValues(token: string, ttlMs: number, cap: SpendCapOptions, requests: readonly ClaimRequest[]) {
  const events = requests.map((request) => request.event);
  return [
    token,
    ttlMs,
    cap.mode === 'ledger',
    Object.keys(cap.defaults),
    Object.values(cap.defaults),
    events.map((event) => event.customerId),
    events.map((event) => event.billingPeriod),
    events.map((event) => event.stripeCustomerId),
    events.map((event) => event.paymentMethod ?? null),
    events.map((event) => event.amountCents),
    events.map((event) => event.currency),
    requests.map((request) => request.description),
    events.map((event) => (event.metadata ? JSON.stringify(event.metadata) : null)),
    requests.map((request) => request.idempotencyKey),
    requests.map((request) => request.source),
    requests.map((request) => request.sourcePosition),
  ];
}

export function claimAnswer(row: ClaimRow): ClaimAnswer {
  switch (row.outcome) {
    case 'mine':
      return { outcome: 'mine', row: chargeRow(row) };
    case 'settled':
      return { outcome: 'settled', status: row.status };
    case 'in_flight':
      return { outcome: 'in_flight', retryInMs: Number(row.retry_in_ms) };
    default:
      return { outcome: row.outcome };
  }
}

export function lookAnswer(row: LookRow): LookAnswer {
  switch (row.outcome) {
    case 'settled':
      return { outcome: 'settled', status: row.status as RowStatus };
    case 'in_flight':
      return { outcome: 'in_flight', retryInMs: Number(row.retry_in_ms) };
    default:
      return { outcome: row.outcome };
  }
}

/**
 * The requests of one call without those that repeat an earlier one of it, amount and currency included. `answers` is
 * told the answers to the others and gives one for each request, `duplicate` for the repeated.
 */
export function withoutRepeats(requests: readonly ClaimRequest[]): {
  readonly distinct: ClaimRequest[];
  answers(given: readonly ClaimAnswer[]): ClaimAnswer[];
} {
  const seen = new Set<string>();
  const repeated = requests.map(({ event }) => {
    const key = `${identityKey(event)}${event.amountCents}${event.currency}`;
    if (seen.has(key)) return true;
    seen.add(key);
    return false;
  });
  return {
    distinct: requests.filter((_, index) => !repeated[index]),
    answers(given) {
      let next = 0;
      return repeated.map((again) => (again ? { outcome: 'duplicate' } : given[next++]!));
    },
  };
}
