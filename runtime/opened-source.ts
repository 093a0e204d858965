/** What the pipeline needs of a source, whichever it is. */
import type { Host } from './host';
import type { Log, Metrics, Source } from './processor/ports';

export interface SourceContext {
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface OpenedSource {
  readonly source: Source;
  /** Who claims rows and partitions, for people. */
  readonly worker: string;
  /** How long a partition must certainly be held for a request to Stripe to be started. */
  readonly ownershipMarginMs: number;
  /** Closes what the source itself does not close at the end of its run. */
  close(): void;
}

/** The name that the configuration gives, or one of its own. */
export function workerName(given: string | undefined, host: Host): string {
  return given ?? `worker-${host.uuid()}`;
}
