/**
 * While the consumer has no room, nothing is read: the worker would go on saying how far behind it was before, and Kinesis,
 * which measures the age of what is read, would say nothing at all, as if nobody were there.
 */
import type { Host } from '../../host/host';

/** Twice in each of CloudWatch's minutes. */
const LOOK_EVERY_MS = 30_000;

export interface LagWatch {
  readonly host: Host;
  /** Reads one record, forgets it, and tells how far behind it is. */
  look(signal: AbortSignal): Promise<void>;
}

/** Settles as the delivery does. A look that fails is left out: reading says what is wrong, when it goes on. */
export async function watchLagDuring(delivery: Promise<void>, { host, look }: LagWatch): Promise<void> {
  const over = new AbortController();
  const looking = (async () => {
    for (;;) {
      await host.sleep(LOOK_EVERY_MS, over.signal);
      if (over.signal.aborted) return;
      await look(over.signal).catch(() => undefined);
    }
  })();
  try {
    await delivery;
  } finally {
    over.abort();
    await looking;
  }
}
