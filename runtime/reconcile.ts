/** Moves on, once, every row that nobody works on: the reconciler without a worker around it. */
import { type ChargingContext, openCharging } from './charging';
import type { ChargingConfig } from './config';
import type { OpenRows } from './ledger';
import { BusyCustomers } from './processor/customer-queue';
import { Reconciler } from './processor/reconciler';
import { StripeHalt } from './processor/stripe-halt';

export interface Progress {
  /** Rows that were claimed for it. */
  readonly taken: number;
  /** Of them, those that are finished, or accepted by Stripe and waiting for it. */
  readonly ended: number;
}

export interface Reconciled extends Progress {
  /** What is not finished afterwards. */
  readonly open: OpenRows;
  /** Stripe refused the key, in its words: the rest was not tried. */
  readonly refused?: string;
}

export interface ReconcileContext extends Omit<ChargingContext, 'overdueAfterMs' | 'crash'> {
  /** Aborts when no further row shall be begun; what is under way is finished. */
  readonly signal: AbortSignal;
  /** Of the rows that are still open, how many to answer. */
  readonly limit: number;
  onProgress(soFar: Progress): void;
}

const AT_ONCE = 4;

/** Rejects as `openCharging` does, and when the ledger stops answering. */
export async function reconcileOnce(config: ChargingConfig, context: ReconcileContext): Promise<Reconciled> {
  const { host, log, metrics, signal } = context;
  // Somebody asked for it now: rows are not left to a delivery that may come.
  const { tools, ledger } = await openCharging(config, { ...context, crash: () => undefined, overdueAfterMs: 0 });
  try {
    const halt = new StripeHalt(host, log, metrics);
    const { claimTtlMs, reconcileIntervalMs: intervalMs } = config.billing;
    const options = { intervalMs, claimTtlMs, maxConcurrent: AT_ONCE, drain: signal };
    const reconciler = new Reconciler(options, tools, new BusyCustomers(), halt);
    let sum: Progress = { taken: 0, ended: 0 };
    while (!signal.aborted && halt.reason() === undefined) {
      const { taken, ended } = await reconciler.round();
      if (taken === 0) break;
      sum = { taken: sum.taken + taken, ended: sum.ended + ended };
      context.onProgress(sum);
    }
    const refused = halt.reason();
    return { ...sum, open: await ledger.openRows(context.limit), ...(refused === undefined ? {} : { refused }) };
  } finally {
    await ledger.close();
  }
}
