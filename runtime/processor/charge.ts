/**
 * Moves one claimed row on until it ends or must wait: ask Stripe, `decide`, write, ask again.
 * All branching is in `decide`; this loop only carries it out, and stops where it may no longer go on.
 */
import type { RowStatus } from '../contract';
import type { Host } from '../host/host';
import type { Decide } from './decide';
import { type Next, type Phase, UNKNOWN_REASON, type Write } from './decision';
import type {
  ChargeRow,
  LedgerPort,
  Log,
  Metrics,
  PaymentMethodAnswer,
  ReachCrashPoint,
  StripeAnswer,
  StripePort,
} from './ports';

export interface ChargeTools {
  readonly ledger: LedgerPort;
  readonly stripe: StripePort;
  readonly decide: Decide;
  /** The key of another intent: attempt n of the row's identity. */
  readonly keyOfAttempt: (row: ChargeRow, attempt: number) => string;
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly crash: ReachCrashPoint;
}

export interface ChargeLimits {
  /** Asked before each create and each confirm: false stops the charge where it stands. */
  mayGoOn(): boolean;
  /** Monotonic milliseconds after which no new step is begun; the claim is about to end. */
  readonly deadline: number;
}

export type ChargeOutcome =
  | { readonly kind: 'ended'; readonly status: RowStatus }
  /** The row stays pending with its claim; it is taken up again when the claim has expired. */
  | { readonly kind: 'unknown' }
  /** Ownership, drain or time stopped it between two steps; the claim was given back. */
  | { readonly kind: 'stopped' }
  /** A fenced write met 0 rows: the row is somebody else's now. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'halted'; readonly message: string };

/** A row cannot walk in circles for longer than this; it is left unknown and taken up again later. */
const MAX_STEPS = 40;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_LONGEST_MS = 8_000;
/** A wait that is asked for and longer than this would use up the claim. */
const RETRY_AFTER_LONGEST_MS = 30_000;

/** Part of the claim's time within which steps may be begun; the rest lets the last one finish. */
const CLAIM_USE = 0.75;

/** `claimedAt`: monotonic milliseconds from before the claim was sent. */
export function claimDeadline(claimedAt: number, claimTtlMs: number): number {
  return claimedAt + claimTtlMs * CLAIM_USE;
}

type Ask = Exclude<Next, { do: 'done' | 'leave_unknown' | 'halt' }>;

/** Where a freshly claimed row begins (R5: from the row, never from memory). */
export function firstAsk(row: ChargeRow): Ask {
  if (row.paymentIntentId !== null) {
    const fresh = row.status === 'pending' && !row.confirmStarted;
    return fresh ? { do: 'confirm', backoff: false } : { do: 'retrieve', reason: UNKNOWN_REASON, backoff: false };
  }
  // Fence 1 is the first claim of all: nothing can have been created yet.
  return row.fence > 1n ? { do: 'list', why: 'resume', backoff: false } : { do: 'create', backoff: false };
}

export async function charge(start: ChargeRow, limits: ChargeLimits, tools: ChargeTools): Promise<ChargeOutcome> {
  let row = start;
  let ask: Ask = firstAsk(row);
  let tries = 0;
  // Sends since the row last moved: asking in turns (confirm, retrieve, confirm) must slow down as well.
  let waits = 0;
  let atLeastMs = 0;
  for (let step = 0; step < MAX_STEPS; step++) {
    if (ask.backoff) await backoff(++waits, atLeastMs, tools.host);
    const stop = await mayNotGoOn(row, ask, limits, tools);
    if (stop) return stop;
    const phase = phaseOf(row, ask, tries + 1);
    const answer = await send(row, phase, limits, tools);
    if (answer === 'lost' || answer === 'stopped') return answer === 'lost' ? { kind: 'lost' } : stopped(row, tools);
    const decision = tools.decide(row, phase, answer);
    note(row, phase, answer, decision.alarm, tools);
    atLeastMs = answer.kind === 'busy' ? (answer.retryAfterMs ?? 0) : 0;
    const written = await write(row, decision.write, tools);
    if (written === undefined) return { kind: 'lost' };
    if (decision.write.kind !== 'none') waits = 0;
    row = written;
    const next = decision.next;
    if (next.do === 'done') return { kind: 'ended', status: row.status };
    if (next.do === 'leave_unknown') return { kind: 'unknown' };
    if (next.do === 'halt') return halted(row, next.message, tools);
    tries = next.backoff && phase.step === next.do ? tries + 1 : 0;
    ask = next;
  }
  return { kind: 'unknown' };
}

/** A row without a payment method asks for the customer's default before it can create. */
function phaseOf(row: ChargeRow, ask: Ask, tries: number): Phase {
  switch (ask.do) {
    case 'resolve':
    case 'create':
      return row.paymentMethod === null ? { step: 'resolve', tries } : { step: 'create', tries };
    case 'list':
      return { step: 'list', why: ask.why, tries };
    case 'confirm':
      return { step: 'confirm', tries };
    case 'retrieve':
      return { step: 'retrieve', reason: ask.reason, tries };
  }
}

async function send(
  row: ChargeRow,
  phase: Phase,
  limits: ChargeLimits,
  tools: ChargeTools,
): Promise<StripeAnswer | PaymentMethodAnswer | 'lost' | 'stopped'> {
  switch (phase.step) {
    case 'resolve':
      return tools.stripe.defaultPaymentMethod(row);
    case 'create': {
      const answer = await tools.stripe.createIntent(row, () => limits.mayGoOn());
      if (answer === 'not_sent') return 'stopped';
      tools.crash('after-create');
      return answer;
    }
    case 'list':
      return tools.stripe.listIntents(row);
    case 'retrieve':
      return tools.stripe.retrieveIntent(row);
    case 'confirm': {
      if (!(await tools.ledger.gate(row))) return 'lost';
      tools.crash('after-gate');
      // The gate may have waited for the database: ownership is asked once more, right before money moves.
      const answer = limits.mayGoOn() ? await tools.stripe.confirmIntent(row, () => limits.mayGoOn()) : 'not_sent';
      if (answer === 'not_sent') return 'stopped';
      tools.crash('after-confirm');
      return answer;
    }
  }
}

/** Carries out one write. Answers the row as it is then, or undefined when it is somebody else's. */
async function write(row: ChargeRow, what: Write, tools: ChargeTools): Promise<ChargeRow | undefined> {
  const { ledger } = tools;
  switch (what.kind) {
    case 'none':
      return row;
    case 'freeze_payment_method':
      return (await ledger.freezePaymentMethod(row, what.paymentMethod))
        ? { ...row, paymentMethod: what.paymentMethod }
        : undefined;
    case 'save_intent': {
      if (!(await ledger.saveIntent(row, what.paymentIntentId))) return undefined;
      tools.crash('after-save');
      return { ...row, paymentIntentId: what.paymentIntentId };
    }
    case 'settle': {
      if (!(await ledger.settle(row, what.settlement))) {
        if (what.settlement.status === 'charged') raise('charged_not_booked', row, tools);
        return undefined;
      }
      tools.crash('after-settle');
      if (row.status !== what.settlement.status) tools.metrics.count('charges', { status: what.settlement.status });
      return { ...row, status: what.settlement.status };
    }
    case 'drop_intent':
      return ledger.dropIntent(row, tools.keyOfAttempt(row, row.attempt + 1));
    case 'next_attempt':
      return row.paymentIntentId === null
        ? ledger.nextAttempt(row, tools.keyOfAttempt(row, row.attempt + 1))
        : ledger.nextAttempt(row);
  }
}

async function mayNotGoOn(
  row: ChargeRow,
  ask: Ask,
  limits: ChargeLimits,
  tools: ChargeTools,
): Promise<ChargeOutcome | undefined> {
  const movesOn = ask.do === 'create' || ask.do === 'resolve' || ask.do === 'confirm';
  if (movesOn && !limits.mayGoOn()) return stopped(row, tools);
  // A read settles what is in flight, so it is only bounded by the claim.
  if (tools.host.monotonic() >= limits.deadline) return { kind: 'unknown' };
  return undefined;
}

/** CHARGED is accepted at any fence; 0 rows means that the row names another intent. */
function raise(alarm: string, row: ChargeRow, tools: ChargeTools): void {
  tools.metrics.count('alarms', { name: alarm });
  tools.log.error(
    { customer_id: row.customerId, billing_period: row.billingPeriod, payment_intent: row.paymentIntentId, alarm },
    'A successful charge could not be booked; compare the intent with the row',
  );
}

/** Between two steps nothing travels, or the row names what does: another worker may go on at once. */
async function stopped(row: ChargeRow, tools: ChargeTools): Promise<ChargeOutcome> {
  await tools.ledger.release(row).catch((error: unknown) => {
    tools.log.warn({ err: error }, 'The claim could not be given back; it expires by itself');
  });
  return { kind: 'stopped' };
}

async function halted(row: ChargeRow, message: string, tools: ChargeTools): Promise<ChargeOutcome> {
  await stopped(row, tools);
  return { kind: 'halted', message };
}

/** Longer each time, jittered, and as long as Stripe asked for, within reason. */
async function backoff(waits: number, atLeastMs: number, host: Host): Promise<void> {
  const longest = Math.min(BACKOFF_LONGEST_MS, BACKOFF_FIRST_MS * 2 ** (waits - 1));
  const ms = longest / 2 + (host.random() * longest) / 2;
  await host.sleep(Math.max(ms, Math.min(atLeastMs, RETRY_AFTER_LONGEST_MS)));
}

function note(
  row: ChargeRow,
  phase: Phase,
  answer: StripeAnswer | PaymentMethodAnswer,
  alarm: string | undefined,
  tools: ChargeTools,
): void {
  const fields = {
    customer_id: row.customerId,
    billing_period: row.billingPeriod,
    payment_intent: row.paymentIntentId,
    step: phase.step,
    answer: answer.kind,
  };
  if (answer.kind === 'no_answer' || answer.kind === 'server_error' || answer.kind === 'wrong_shape') {
    tools.metrics.count('unknown');
    tools.log.warn(fields, 'Stripe gave no verdict; the row stays pending until it is known');
  }
  if (alarm !== undefined) {
    tools.metrics.count('alarms', { name: alarm });
    tools.log.error({ ...fields, alarm }, 'Stripe answered something that must not happen');
  }
}
