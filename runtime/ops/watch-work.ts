/** Keeps the gauges that nobody sets by doing work: how long it stands still, and what of it has no outcome yet. */
import type { Host } from '../host';
import type { Ledger } from '../ledger';
import type { Log, Metrics } from '../processor/ports';
import type { Processor } from '../processor/processor';

export interface WatchedWork {
  readonly ledger: Pick<Ledger, 'counts'>;
  readonly processor: Pick<Processor, 'stalledMs'>;
  /** A row whose outcome is open for longer than this counts as unresolved. */
  readonly unresolvedAfterMs: number;
  /** Between two looks, jittered. Every worker asks, and all get the same answer. */
  readonly everyMs: number;
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Runs until the signal aborts. Never rejects. */
export async function watchWork(work: WatchedWork, signal: AbortSignal): Promise<void> {
  const { ledger, processor, host, log, metrics } = work;
  while (!signal.aborted) {
    metrics.gauge('checkpointStall', Math.round(processor.stalledMs()));
    try {
      metrics.gauge('unresolvedRows', (await ledger.counts(work.unresolvedAfterMs)).unresolved);
    } catch (error) {
      log.debug({ err: error }, 'The ledger did not say what is unresolved; asked again later');
    }
    await host.sleep(work.everyMs * (0.9 + 0.2 * host.random()), signal);
  }
}
