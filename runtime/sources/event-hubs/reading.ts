/** What the watchdog knows of a partition that is being read. */
import type { Host } from '../../host/host';
import type { HeldPartition } from './held-partition';

export class Reading {
  /** Batches that the processor has not taken yet: while there is one, silence is not the link's fault. */
  private handing = 0;
  private heardAt: number;

  constructor(
    readonly held: HeldPartition,
    private readonly host: Host,
  ) {
    this.heardAt = host.monotonic();
  }

  async handOver(work: () => Promise<void>): Promise<void> {
    this.handing += 1;
    try {
      await work();
    } finally {
      this.handing -= 1;
      this.heardAt = this.host.monotonic();
    }
  }

  /** Whether the hub has had more for longer than `stallMs` and none of it came. */
  isSilent(lastEnqueued: number, stallMs: number): boolean {
    if (this.handing > 0 || this.held.signal.aborted) return false;
    if (lastEnqueued <= (this.held.lastDelivered ?? -1)) {
      this.heardAt = this.host.monotonic();
      return false;
    }
    return this.host.monotonic() - this.heardAt > stallMs;
  }
}
