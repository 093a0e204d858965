/** A whole processor with reconciler on parts in memory and a fake clock. */
import type { CheckpointOptions } from '../../../runtime/checkpoint/policy';
import type { CrashPoint } from '../../../runtime/contract';
import type { ChargeTools } from '../../../runtime/processor/charge';
import { BusyCustomers } from '../../../runtime/processor/customer-queue';
import { decide } from '../../../runtime/processor/decide';
import type { Decoded } from '../../../runtime/processor/intake';
import type { BillingEvent } from '../../../runtime/processor/ports';
import { Processor, type ProcessorOptions } from '../../../runtime/processor/processor';
import { Reconciler } from '../../../runtime/processor/reconciler';
import { StripeHalt } from '../../../runtime/processor/stripe-halt';
import { FakeHost } from '../../support/fake-host';
import { MemoryLedger } from '../../support/memory-ledger';
import { MemoryStripe } from '../../support/memory-stripe';
import { KeptLog, KeptMetrics } from '../../support/quiet';

export const TTL_MS = 120_000;
export const EVERY: CheckpointOptions = { mode: 'record', intervalMs: 1_000, count: 1 };

export interface World {
  readonly host: FakeHost;
  readonly ledger: MemoryLedger;
  readonly stripe: MemoryStripe;
  readonly processor: Processor;
  readonly reconciler: Reconciler;
  readonly halt: StripeHalt;
  readonly busy: BusyCustomers;
  readonly log: KeptLog;
  readonly metrics: KeptMetrics;
  readonly crashPoints: CrashPoint[];
  drain(): void;
}

/** Bodies are JSON events as the processor knows them; anything else is malformed. */
function decodeBody(body: Uint8Array): Decoded {
  const value: unknown = JSON.parse(new TextDecoder().decode(body));
  if (typeof value !== 'object' || value === null) return { ok: false, reason: 'not an object' };
  return { ok: true, event: value as BillingEvent };
}

export function aWorld(options: Partial<ProcessorOptions> = {}): World {
  const host = new FakeHost();
  const ledger = new MemoryLedger(host, TTL_MS);
  const stripe = new MemoryStripe(host);
  const log = new KeptLog();
  const metrics = new KeptMetrics();
  const crashPoints: CrashPoint[] = [];
  const drain = new AbortController();
  const halt = new StripeHalt(host, log, metrics);
  const busy = new BusyCustomers();
  const keyOfAttempt = (row: { customerId: string; billingPeriod: string }, attempt: number) =>
    `${row.customerId}:${row.billingPeriod}:${attempt}`;
  const tools: ChargeTools = {
    ledger,
    stripe,
    decide,
    host,
    log,
    metrics,
    keyOfAttempt,
    crash: (point) => crashPoints.push(point),
  };
  const processor = new Processor(
    {
      decode: decodeBody,
      describe: () => null,
      keyOf: (event) => keyOfAttempt(event, 1),
      maxConcurrentCharges: 16,
      claimTtlMs: TTL_MS,
      stripeMaxRps: 20,
      parkAfterMs: 300_000,
      ownershipMarginMs: 2_000,
      checkpoint: EVERY,
      drain: drain.signal,
      ...options,
    },
    tools,
    busy,
    halt,
  );
  const reconciler = new Reconciler(
    { intervalMs: 10_000, claimTtlMs: TTL_MS, maxConcurrent: 4, drain: drain.signal },
    tools,
    busy,
    halt,
  );
  return {
    host,
    ledger,
    stripe,
    processor,
    reconciler,
    halt,
    busy,
    log,
    metrics,
    crashPoints,
    drain: () => drain.abort(),
  };
}

/** Watches a promise without awaiting it, so that the clock can be moved meanwhile. */
export function watch<T>(promise: Promise<T>): { readonly done: () => boolean; readonly value: () => T } {
  let result: { value: T } | undefined;
  let failure: unknown;
  promise.then(
    (value) => {
      result = { value };
    },
    (error: unknown) => {
      failure = error;
    },
  );
  return {
    done: () => {
      if (failure !== undefined) throw failure;
      return result !== undefined;
    },
    value: () => {
      if (!result) throw new Error('The promise has not resolved yet');
      return result.value;
    },
  };
}
