/**
 * Moves on, without a delivery, every row whose claim has expired: pending (with or without an intent),
 * processing, action_required, and declined or rejected rows that are to be read once more. It runs inside
 * every worker, claims like anybody else and walks the same table, so one stuck charge neither holds a
 * partition nor depends on the stream to be finished.
 */
import { type ChargeTools, charge, claimDeadline } from './charge';
import type { BusyCustomers } from './customer-queue';
import type { ChargeRow } from './ports';
import type { StripeHalt } from './stripe-halt';

export interface ReconcilerOptions {
  /** Milliseconds between looks at the ledger, jittered by half. */
  readonly intervalMs: number;
  readonly claimTtlMs: number;
  /** Rows moved on at the same time; they share Stripe's rate with the stream. */
  readonly maxConcurrent: number;
  readonly drain: AbortSignal;
}

/** What came of one look at the ledger. */
export interface Round {
  readonly taken: number;
  /** Of the taken ones. The others are still open: their outcome is not known yet, or their customer was busy. */
  readonly ended: number;
}

export class Reconciler {
  constructor(
    private readonly options: ReconcilerOptions,
    private readonly tools: ChargeTools,
    private readonly busy: BusyCustomers,
    private readonly halt: StripeHalt,
  ) {}

  /** Runs until drain; resolves when nothing of it is in flight. Never rejects. */
  async run(): Promise<void> {
    const { drain, intervalMs, maxConcurrent } = this.options;
    const underWay = new Set<Promise<void>>();
    let next = new AbortController();
    drain.addEventListener('abort', () => next.abort(), { once: true });
    while (!drain.aborted) {
      const free = maxConcurrent - underWay.size;
      const pause = this.halt.remainingMs();
      next = new AbortController();
      const begun = pause > 0 || free === 0 ? [] : await this.#begin(free);
      // Nothing was left over: there is probably more, which is taken when any row has ended, however long others take.
      const more = begun.length === free;
      for (const moving of begun) {
        const task = moving.then((ended) => {
          underWay.delete(task);
          if (ended) next.abort();
        });
        underWay.add(task);
      }
      const rest = intervalMs / 2 + this.tools.host.random() * (intervalMs / 2);
      await this.tools.host.sleep(Math.max(pause, rest), more ? next.signal : drain);
    }
    await Promise.all(underWay);
  }

  /** One look at the ledger, and the end of all that it gave. Rejects when the ledger does not say which rows are due. */
  async round(): Promise<Round> {
    const claimedAt = this.tools.host.monotonic();
    const rows = await this.tools.ledger.claimDue(this.options.maxConcurrent);
    const ended = await Promise.all(rows.map((row) => this.#moveOn(row, claimedAt)));
    return { taken: rows.length, ended: ended.filter(Boolean).length };
  }

  /** Takes rows and sets them going; each promise says whether its row ended, and never rejects. */
  async #begin(limit: number): Promise<Promise<boolean>[]> {
    const claimedAt = this.tools.host.monotonic();
    try {
      const rows = await this.tools.ledger.claimDue(limit);
      return rows.map((row) => this.#moveOn(row, claimedAt));
    } catch (error) {
      this.tools.log.warn({ err: error }, 'The ledger did not say which rows are due; asked again later');
      return [];
    }
  }

  async #moveOn(row: ChargeRow, claimedAt: number): Promise<boolean> {
    if (!this.busy.take(row.customerId)) {
      await this.tools.ledger.release(row).catch(() => undefined);
      return false;
    }
    try {
      const deadline = claimDeadline(claimedAt, this.options.claimTtlMs);
      const mayGoOn = () => !this.options.drain.aborted;
      const outcome = await charge(row, { mayGoOn, deadline }, this.tools);
      if (outcome.kind === 'halted') this.halt.halt(outcome.message);
      if (outcome.kind === 'ended') {
        this.halt.clear();
        const { customerId, billingPeriod } = row;
        this.tools.log.info(
          { customer_id: customerId, billing_period: billingPeriod, from: row.status, to: outcome.status },
          'Reconciled',
        );
      }
      return outcome.kind === 'ended';
    } catch (error) {
      this.tools.log.error({ err: error }, 'A row could not be moved on; it is taken up again later');
      return false;
    } finally {
      this.busy.free(row.customerId);
    }
  }
}
