/** Sends of a publisher under way: so many at a time, at so many events a second. */
import type { Host } from '../../host/host';

export interface SendsOptions {
  readonly host: Host;
  /** Sends at a time. */
  readonly concurrency: number;
  /** Most events a second. Absent: as fast as they are taken. */
  readonly perSecond: number | undefined;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export class Sends {
  private readonly open = new Set<Promise<void>>();
  private nextStart: number;
  private fault: { readonly error: unknown } | undefined;

  constructor(private readonly options: SendsOptions) {
    this.nextStart = options.host.monotonic();
  }

  /** Resolves when it has been started, once there is room and the rate allows. `events`: how many it sends. */
  async start(events: number, send: () => Promise<void>): Promise<void> {
    const { host, concurrency, perSecond } = this.options;
    while (this.open.size >= concurrency) await Promise.race(this.open);
    if (perSecond !== undefined) {
      await host.sleep(this.nextStart - host.monotonic());
      this.nextStart = Math.max(this.nextStart, host.monotonic()) + (events / perSecond) * 1_000;
    }
    const work = send()
      .catch((error: unknown) => {
        this.fault ??= { error };
      })
      .finally(() => this.open.delete(work));
    this.open.add(work);
  }

  /** Resolves when all have ended. Rejects with what the first of them threw. */
  async finish(): Promise<void> {
    await Promise.all(this.open);
    if (this.fault !== undefined) throw this.fault.error;
  }

  /** Before what failed is sent again; `attempt` counts from 1. */
  async pause(attempt: number): Promise<void> {
    const { host } = this.options;
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
    await host.sleep(longest * (0.5 + host.random() / 2));
  }
}
