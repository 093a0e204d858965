/** What the watchdog knows of a partition that is being read: whether it is silent, and how far it is behind. */
import type { Host } from '../../host/host';
import type { HeldPartition } from './held-partition';

/** What the hub says of a partition. */
export interface PartitionTip {
  /** Of the oldest event that is kept. */
  readonly first: number;
  /** Of the newest event that ever was. */
  readonly last: number;
  /** Nothing is kept. */
  readonly empty: boolean;
}

export class Reading {
  /** Batches that the processor has not taken yet: while there is one, silence is not the link's fault. */
  private handing = 0;
  /** Answers in a row that were below what had been delivered, while nothing more came. */
  private suspicion: { readonly done: number; readonly since: number } | undefined;
  /** Monotonic: something came, or there was nothing to come. */
  private heardAt: number;
  /** Since the epoch, by this machine's clock: there was nothing that had not come. */
  private caughtUpAt: number | undefined;
  private caught = false;
  /** Since the epoch, by the hub's clock. */
  private lastEnqueuedAt: number | undefined;

  constructor(
    readonly held: HeldPartition,
    private readonly host: Host,
  ) {
    this.heardAt = host.monotonic();
  }

  /** @param enqueuedAt of the newest event of the batch, by the hub's clock */
  async handOver(enqueuedAt: number | undefined, work: () => Promise<void>): Promise<void> {
    this.handing += 1;
    this.lastEnqueuedAt = enqueuedAt ?? this.lastEnqueuedAt;
    try {
      await work();
    } finally {
      this.handing -= 1;
      this.heardAt = this.host.monotonic();
    }
  }

  /** Whether the hub has had more for longer than `silenceMs` and none of it came. */
  isSilent(tip: PartitionTip, silenceMs: number): boolean {
    if (this.handing > 0 || this.held.signal.aborted) return false;
    this.caught = !this.hasMore(tip);
    if (this.caught) {
      this.heardAt = this.host.monotonic();
      this.caughtUpAt = this.host.now();
      return false;
    }
    return this.isQuiet(silenceMs);
  }

  /** Whether nothing came for longer than this, and nobody knows whether there is more. */
  isQuiet(silenceMs: number): boolean {
    if (this.handing > 0 || this.held.signal.aborted) return false;
    return this.host.monotonic() - this.heardAt > silenceMs;
  }

  /** Whether there was nothing to come when the hub was last asked. */
  get isCaughtUp(): boolean {
    return this.caught;
  }

  /** Events that are kept and above the checkpoint. */
  lag({ first, last, empty }: PartitionTip): number {
    if (empty) return 0;
    return Math.max(0, last - Math.max(this.held.checkpointed ?? first - 1, first - 1));
  }

  /** Milliseconds since the oldest event that has not come was put in, at most; 0 when there is none. */
  behindMs(tip: PartitionTip): number {
    if (!this.hasMore(tip)) return 0;
    const since = Math.max(this.lastEnqueuedAt ?? 0, this.caughtUpAt ?? 0);
    return since === 0 ? 0 : Math.max(0, this.host.now() - since);
  }

  /** Events above the checkpoint that are all gone: the hub keeps none. */
  allExpired({ last, empty }: PartitionTip): number {
    const done = this.held.lastDelivered;
    return empty && done !== undefined ? Math.max(0, last - done) : 0;
  }

  /**
   * The hub is another one, with numbers of its own: nothing would be read before they reach the checkpoint.
   *
   * Answers are of a cache of the hub, which may be behind what was delivered, and of some kinds of hubs always −1
   * (github.com/kedacore/keda/pull/5125, …/798): only those are believed that last while nothing comes.
   *
   * @param done what had been delivered before the hub was asked
   * @param silenceMs how long, if something was delivered since the partition was won: then its numbers had been right
   */
  isRenumbered({ last }: PartitionTip, done: number | undefined, silenceMs: number): boolean {
    const now = this.host.monotonic();
    const { suspicion } = this;
    if (done === undefined || last < 0 || last >= done) this.suspicion = undefined;
    else if (suspicion?.done !== done) this.suspicion = { done, since: now };
    else return done === this.held.start?.sequenceNumber || now - suspicion.since > silenceMs;
    return false;
  }

  private hasMore({ last, empty }: PartitionTip): boolean {
    return !empty && last > (this.held.lastDelivered ?? -1);
  }
}
