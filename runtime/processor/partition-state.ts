/** What the processor knows of one partition that this process owns: its open deliveries and its mark. */
import { LowWater, type LowWaterEntry, type Mark } from '../checkpoint/low-water';
import { type CheckpointOptions, CheckpointPolicy } from '../checkpoint/policy';
import type { Host } from '../host/host';
import type { Partition, ReachCrashPoint } from './ports';

export class PartitionState {
  readonly #water = new LowWater();
  readonly #policy: CheckpointPolicy;
  /** Events of this partition that are being claimed, charged, waited for or given back. */
  inHand = 0;
  /** A batch was turned away while draining, so the partition can never count as finished here. */
  refused = false;
  #written: string | undefined;
  #asksAgain = false;
  /** Monotonic milliseconds at which the mark last moved, or the first of the open deliveries came. */
  #movedAt: number;
  #waiters: (() => void)[] = [];

  constructor(
    readonly partition: Partition,
    options: CheckpointOptions,
    private readonly host: Host,
    private readonly crash: ReachCrashPoint,
  ) {
    this.#movedAt = host.monotonic();
    this.#policy = new CheckpointPolicy(options, this.#movedAt);
    partition.signal.addEventListener('abort', () => this.wake(), { once: true });
  }

  get lost(): boolean {
    return this.partition.signal.aborted;
  }

  get open(): number {
    return this.#water.open;
  }

  /** For how long deliveries have been open without the mark moving over any of them; 0 while none is open. */
  get stalledMs(): number {
    return this.open === 0 ? 0 : this.host.monotonic() - this.#movedAt;
  }

  add(position: string, endsBatch: boolean): LowWaterEntry {
    if (this.open === 0) this.#movedAt = this.host.monotonic();
    return this.#water.add(position, endsBatch);
  }

  /** The delivery is settled, dead-lettered or parked: committed before this is called. */
  finish(entry: LowWaterEntry): void {
    entry.finished = true;
    const mark = this.#water.advance();
    if (mark) this.#movedAt = this.host.monotonic();
    if (mark && !this.lost) {
      this.#offer(mark);
      this.partition.passed?.(mark.position);
    }
    this.wake();
  }

  /** Hands the mark over whatever the mode says: at the end of a partition and on drain. */
  flush(): void {
    const position = this.#water.position;
    if (position !== undefined && !this.lost) this.#write(position);
  }

  /** Resolves at the next change: a delivery finished, ownership lost, work stopped. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  #offer(mark: Mark): void {
    const position = this.#policy.eligible(mark, this.host.monotonic());
    if (position !== undefined) this.#write(position);
    else void this.#offerLater();
  }

  /** The partition may fall quiet: the last mark must not wait for a delivery that never comes. */
  async #offerLater(): Promise<void> {
    const waitMs = this.#policy.askAgainIn(this.host.monotonic());
    if (waitMs === undefined || this.#asksAgain) return;
    this.#asksAgain = true;
    await this.host.sleep(waitMs, this.partition.signal);
    this.#asksAgain = false;
    const position = this.#water.position;
    if (position !== undefined && !this.lost) this.#offer({ position, passed: 0, batchEnd: undefined });
  }

  #write(position: string): void {
    if (position === this.#written) return;
    this.crash('before-checkpoint');
    this.#written = position;
    this.partition.checkpoint(position);
  }
}
