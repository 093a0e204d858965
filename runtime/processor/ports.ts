/**
 * What the processor needs of the world, as interfaces. It knows no SDK: a source, the ledger and Stripe
 * are handed to it by `pipeline.ts`.
 */
import type { CrashPoint, MetricName, RowStatus } from '../contract';

/** One JSON event, decoded and checked. */
export interface BillingEvent {
  readonly customerId: string;
  readonly billingPeriod: string;
  readonly stripeCustomerId: string;
  /** Minor units as Stripe counts them for the currency; a safe integer. */
  readonly amountCents: number;
  /** Lower-case ISO code. */
  readonly currency: string;
  readonly paymentMethod?: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** One arrival of an event. */
export interface Delivery {
  readonly body: Uint8Array;
  readonly position: string;
  readonly partitionKey: string;
  /** Milliseconds since the epoch, by the broker's clock. */
  readonly enqueuedAt?: number;
}

/** A partition while this process owns it. Given by a source; a re-won partition is a new object. */
export interface Partition {
  /** Unique among all partitions of all sources of this process: `<transport>/<stream>/<partition>`. */
  readonly id: string;
  /** Aborts when ownership is lost or the source drains past its deadline. */
  readonly signal: AbortSignal;
  /** Whether ownership certainly lasts for this many milliseconds more, by the monotonic clock. */
  holdsFor(marginMs: number): boolean;
  /** Everything up to and including the position is finished. The source decides when it is written. */
  checkpoint(position: string): void;
  /**
   * Everything up to and including the position is finished, whether it is to be written or not: no position before it
   * is given to `checkpoint` any more. Absent: the source need not know.
   */
  passed?(position: string): void;
}

/** What a source feeds. */
export interface PartitionConsumer {
  /**
   * Hands over a batch, in partition order. Resolves when there is room for the next one (back-pressure).
   * Never rejects.
   */
  deliver(partition: Partition, batch: readonly Delivery[]): Promise<void>;
  /**
   * Resolves when everything delivered for the partition is finished (settled, dead-lettered or parked)
   * and its last position was given to `checkpoint`: true; or when ownership was lost or work stopped: false.
   */
  finished(partition: Partition): Promise<boolean>;
}

/** A stream with partitions, as the process runs it. */
export interface Source {
  /** Runs until the signal aborts; then stops intake, waits for work in flight, checkpoints and releases. */
  run(consumer: PartitionConsumer, signal: AbortSignal): Promise<void>;
  /** Empty when ready, otherwise why not, in words. */
  notReady(): string | undefined;
}

/** The frozen request and the state of one ledger row. */
export interface ChargeRow {
  readonly customerId: string;
  readonly billingPeriod: string;
  readonly stripeCustomerId: string;
  readonly paymentMethod: string | null;
  readonly amountCents: number;
  readonly currency: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly status: RowStatus;
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly paymentIntentId: string | null;
  readonly confirmStarted: boolean;
  readonly reserved: boolean;
  /** bigint in the database. */
  readonly fence: bigint;
}

export interface RowIdentity {
  readonly customerId: string;
  readonly billingPeriod: string;
}

/** What the ledger is asked to claim: the event and what is frozen with it. */
export interface ClaimRequest {
  readonly event: BillingEvent;
  readonly idempotencyKey: string;
  readonly description: string | null;
  readonly source: string;
  readonly sourcePosition: string;
}

export type ClaimAnswer =
  | { readonly outcome: 'mine'; readonly row: ChargeRow }
  /** The same identity stands earlier in the same call; that one decides. */
  | { readonly outcome: 'duplicate' }
  | { readonly outcome: 'settled'; readonly status: RowStatus }
  | { readonly outcome: 'in_flight'; readonly retryInMs: number }
  | { readonly outcome: 'conflict' }
  | { readonly outcome: 'cap_blocked' };

/** Answers to a read of many identities; `absent` and expired `pending` rows are worth a claim. */
export type LookAnswer =
  | { readonly outcome: 'claimable' }
  | { readonly outcome: 'settled'; readonly status: RowStatus }
  | { readonly outcome: 'in_flight'; readonly retryInMs: number }
  /** Amount or currency differ: claim it, so that the conflict is recorded. */
  | { readonly outcome: 'differs' };

/** Statuses a settle can write. */
export type SettledStatus = 'charged' | 'processing' | 'action_required' | 'card_declined' | 'rejected';

export interface Settlement {
  readonly status: SettledStatus;
  readonly chargeId?: string;
  readonly error?: string;
  readonly declineCode?: string;
  /** The row was read once more and stays what it is (protocol R14): sets settled_at. */
  readonly closed?: boolean;
}

/** What the ledger can do. Every method takes one row; calls that arrive together share a statement. */
export interface LedgerPort {
  look(events: readonly BillingEvent[]): Promise<LookAnswer[]>;
  /** An amount of zero is settled on the spot, as `zero_amount`: it never is `mine`. */
  claim(requests: readonly ClaimRequest[]): Promise<ClaimAnswer[]>;
  /** Rows to be moved on without a delivery: expired pending, due processing / action_required, unread declines. */
  claimDue(limit: number): Promise<ChargeRow[]>;
  /** Freezes the payment method that was looked up. False: the row is somebody else's now. */
  freezePaymentMethod(row: ChargeRow, paymentMethod: string): Promise<boolean>;
  /** R2–R4: fenced, insert-once. True also when the same id was saved before. */
  saveIntent(row: ChargeRow, paymentIntentId: string): Promise<boolean>;
  /** R12: sets confirm_started_at where fence, attempt and intent match. */
  gate(row: ChargeRow): Promise<boolean>;
  /** R8–R11, R13. True also when the same settlement stands already. */
  settle(row: ChargeRow, settlement: Settlement): Promise<boolean>;
  /** R6: the intent was seen canceled: clears it and raises attempt and key. Answers the row as it is then. */
  dropIntent(row: ChargeRow, newIdempotencyKey: string): Promise<ChargeRow | undefined>;
  /** Attempt n+1: on the same intent (key unchanged) or, while there is no intent, with a new create key. */
  nextAttempt(row: ChargeRow, newIdempotencyKey?: string): Promise<ChargeRow | undefined>;
  /** Gives the claim back at once, so that another worker need not wait for it to expire. */
  release(row: ChargeRow): Promise<void>;
  deadLetter(letters: readonly DeadLetter[]): Promise<void>;
}

export interface DeadLetter {
  readonly source: string;
  readonly sourcePosition: string;
  readonly partitionKey: string;
  readonly body: Uint8Array;
  readonly reason: string;
}

/** An intent as far as we read it. */
export interface IntentView {
  readonly id: string;
  readonly status:
    | 'requires_payment_method'
    | 'requires_confirmation'
    | 'requires_action'
    | 'processing'
    | 'requires_capture'
    | 'succeeded'
    | 'canceled';
  readonly chargeId?: string;
  readonly created?: number;
  readonly declineCode?: string;
  readonly error?: string;
}

/** Every Stripe answer, error or silence, classified (facts: Stripe's error table). */
export type StripeAnswer =
  | { readonly kind: 'intent'; readonly intent: IntentView; readonly replayed: boolean }
  | { readonly kind: 'intents'; readonly intents: readonly IntentView[] }
  /** 200, but not a PaymentIntent with our id, amount, currency, customer and livemode. */
  | { readonly kind: 'wrong_shape'; readonly detail: string }
  | {
      readonly kind: 'declined';
      readonly declineCode: string;
      readonly message: string;
      readonly intent?: IntentView;
      readonly replayed: boolean;
    }
  | { readonly kind: 'unexpected_state'; readonly intent?: IntentView }
  | { readonly kind: 'idempotency_mismatch'; readonly message: string }
  | { readonly kind: 'refused'; readonly status: number; readonly code: string; readonly message: string }
  | { readonly kind: 'unauthorized'; readonly status: number; readonly message: string }
  | { readonly kind: 'busy'; readonly why: 'in_use' | 'rate' | 'lock'; readonly retryAfterMs?: number }
  | { readonly kind: 'server_error'; readonly status?: number; readonly replayed: boolean; readonly message: string }
  | { readonly kind: 'no_answer'; readonly message: string };

export type PaymentMethodAnswer =
  | { readonly kind: 'found'; readonly paymentMethod: string }
  | { readonly kind: 'none'; readonly message: string }
  | Extract<StripeAnswer, { kind: 'refused' | 'unauthorized' | 'busy' | 'server_error' | 'no_answer' | 'wrong_shape' }>;

/** Nothing was sent, because the caller may not go on any more. */
export type NotSent = 'not_sent';

/** One HTTP request a call, never retried inside. Never rejects: silence is an answer too. */
export interface StripePort {
  defaultPaymentMethod(row: ChargeRow): Promise<PaymentMethodAnswer>;
  /**
   * Unconfirmed (R1), with the row's key. `mayGoOn` is asked once more when the worker's share of Stripe's rate has been
   * waited for, right before the request: false sends nothing.
   */
  createIntent(row: ChargeRow): Promise<StripeAnswer>;
  createIntent(row: ChargeRow, mayGoOn: () => boolean): Promise<StripeAnswer | NotSent>;
  /** Key `<key>-confirm-<attempt>`. `mayGoOn` as for a create. */
  confirmIntent(row: ChargeRow): Promise<StripeAnswer>;
  confirmIntent(row: ChargeRow, mayGoOn: () => boolean): Promise<StripeAnswer | NotSent>;
  retrieveIntent(row: ChargeRow): Promise<StripeAnswer>;
  /** The customer's intents whose metadata name this row, all pages, oldest first. */
  listIntents(row: ChargeRow): Promise<StripeAnswer>;
}

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface Metrics {
  count(name: MetricName, labels?: Readonly<Record<string, string>>, by?: number): void;
  gauge(name: MetricName, value: number): void;
}

/** Kills the process when a test armed this point. */
export type ReachCrashPoint = (point: CrashPoint) => void;
