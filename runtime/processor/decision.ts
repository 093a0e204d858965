/** The vocabulary of `decide`: where a row stands, what is written next and what is asked next. */
import type { Settlement } from './ports';

/** Why an intent is being retrieved: the same status means different things after different answers. */
export type RetrieveReason =
  /** Whether the confirm arrived is not known, or the row is read without one. */
  | { readonly why: 'unknown' }
  /** A replayed answer is old news (R20); a decline is only booked after the intent was read. */
  | { readonly why: 'replayed_decline'; readonly declineCode: string; readonly message: string }
  | { readonly why: 'replayed_status' }
  /** A 400 or 404 on a confirm is about that request only (R19). */
  | { readonly why: 'refused'; readonly message: string }
  /** The confirm key will answer the same for ever (a stored 500, or other parameters): a new attempt is needed. */
  | { readonly why: 'burnt' };

/** Why the customer's intents are listed: it decides what an empty list means. */
export type ListReason =
  /** A row without an intent was taken over: an earlier create may have arrived. */
  | 'resume'
  /** The create key will answer the same for ever. */
  | 'burnt'
  /** The create was answered with something that is no intent of ours. */
  | 'wrong_shape';

/** What was asked last. `tries` counts the sends of this step in a row, this one included. */
export type Phase =
  | { readonly step: 'resolve'; readonly tries: number }
  | { readonly step: 'create'; readonly tries: number }
  | { readonly step: 'list'; readonly why: ListReason; readonly tries: number }
  | { readonly step: 'confirm'; readonly tries: number }
  | { readonly step: 'retrieve'; readonly reason: RetrieveReason; readonly tries: number };

/** What the ledger is told. SQL only carries it out, under the guards of protocol §1. */
export type Write =
  | { readonly kind: 'none' }
  | { readonly kind: 'freeze_payment_method'; readonly paymentMethod: string }
  | { readonly kind: 'save_intent'; readonly paymentIntentId: string }
  | { readonly kind: 'settle'; readonly settlement: Settlement }
  /** The row's intent was seen canceled (R6). */
  | { readonly kind: 'drop_intent' }
  /** Attempt n+1 on the same intent, or with a new create key while there is none (R7). */
  | { readonly kind: 'next_attempt' };

export type Next =
  | { readonly do: 'create'; readonly backoff: boolean }
  | { readonly do: 'resolve'; readonly backoff: boolean }
  | { readonly do: 'list'; readonly why: ListReason; readonly backoff: boolean }
  /** Always through the gate (R12). */
  | { readonly do: 'confirm'; readonly backoff: boolean }
  | { readonly do: 'retrieve'; readonly reason: RetrieveReason; readonly backoff: boolean }
  /** The row has ended, or waits for somebody outside: the event is finished. */
  | { readonly do: 'done' }
  /** Row, claim, hold and key stay as they are; somebody comes back when the claim has expired. */
  | { readonly do: 'leave_unknown' }
  /** Stripe refuses the key: stop consuming; the row stays pending. */
  | { readonly do: 'halt'; readonly message: string };

/** Names of answers that must not happen; each is counted and logged. */
export type Alarm =
  | 'create_wrong_shape'
  | 'confirm_wrong_shape'
  | 'retrieve_wrong_shape'
  | 'idempotency_mismatch'
  | 'confirmed_before_saved'
  | 'intent_missing'
  | 'requires_capture';

export interface Decision {
  readonly write: Write;
  readonly next: Next;
  readonly alarm?: Alarm;
}

export const NO_WRITE: Write = { kind: 'none' };
export const DONE: Next = { do: 'done' };
export const LEAVE_UNKNOWN: Next = { do: 'leave_unknown' };
export const UNKNOWN_REASON: RetrieveReason = { why: 'unknown' };

/** How often one step is sent again in a row before the row is left unknown; each send waits longer. */
export const MAX_TRIES = 6;
/** "Same key once or twice" after a fresh 5xx on a create. */
export const MAX_SERVER_ERROR_TRIES = 3;

export function settle(settlement: Settlement): Decision {
  return { write: { kind: 'settle', settlement }, next: DONE };
}

/** CHARGED: the one settlement that any fence may write. */
export function charged(chargeId: string | undefined): Decision {
  return settle(chargeId === undefined ? { status: 'charged' } : { status: 'charged', chargeId });
}

export function only(next: Next, alarm?: Alarm): Decision {
  return alarm === undefined ? { write: NO_WRITE, next } : { write: NO_WRITE, next, alarm };
}
