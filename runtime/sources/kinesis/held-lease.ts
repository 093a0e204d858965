/**
 * One lease while this process holds it: a partition for the processor, and the heartbeat that keeps it.
 *
 * How it ends: `expired` (my own deadline passed, so another worker may have it), `stolen` (the table names
 * another owner), `deleted` (the item is gone), `released` (given up on purpose). An ended lease never
 * revives: winning the shard again makes a new object, so a late checkpoint of an old one goes nowhere.
 */
import { renewalSeconds } from '../../contract';
import type { Host } from '../../host/host';
import type { Log, Metrics, Partition } from '../../processor/ports';
import { errorText } from './aws-errors';
import type { Lease } from './lease-item';
import type { LeaseStore, WriteOutcome } from './lease-store';
import { type Checkpoint, compareCheckpoints, parsePosition, SHARD_END } from './positions';

export type LeaseEnd = 'expired' | 'stolen' | 'deleted' | 'released';

export interface HeldLeaseDeps {
  readonly store: Pick<LeaseStore, 'renew' | 'release' | 'remove'>;
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly streamName: string;
  readonly leaseDurationMs: number;
  /** Called once, when the lease ended. */
  readonly onEnd: (held: HeldLease, reason: LeaseEnd) => void;
}

/** Backoff between tries of one write: short, because the deadline is short. */
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 500;

export class HeldLease implements Partition {
  readonly id: string;
  readonly signal: AbortSignal;
  /** Tells two acquisitions of one shard apart in logs. */
  readonly token: string;
  private readonly ending = new AbortController();
  private lease: Lease;
  private deadline: number;
  private wanted: Checkpoint;
  private leaving = false;
  private unsure = false;
  /** When the oldest write without an answer was sent: if it turns out to have landed, the lease counts from then. */
  private unansweredSince: number | undefined;
  private queue: Promise<unknown> = Promise.resolve();

  /** @param takenAt monotonic milliseconds *before* the request that took the lease was sent. */
  constructor(
    private readonly deps: HeldLeaseDeps,
    lease: Lease,
    takenAt: number,
  ) {
    this.id = `kinesis/${deps.streamName}/${lease.key}`;
    this.token = deps.host.uuid();
    this.signal = this.ending.signal;
    this.lease = lease;
    this.wanted = lease.checkpoint;
    this.deadline = takenAt + deps.leaseDurationMs;
  }

  get shardId(): string {
    return this.lease.key;
  }

  /** As last written by this process or read when it was taken. */
  get current(): Lease {
    return this.lease;
  }

  /** The furthest finished place, written or not yet. */
  get progress(): Checkpoint {
    return this.wanted;
  }

  holdsFor(marginMs: number): boolean {
    return !this.leaving && !this.signal.aborted && this.deps.host.monotonic() + marginMs < this.deadline;
  }

  checkpoint(position: string): void {
    this.advance(parsePosition(position));
  }

  /** Renews until the lease ends; resolves then. */
  async keep(): Promise<void> {
    await Promise.all([this.renewals(), this.watchDeadline()]);
  }

  /** Writes SHARD_END at once. False: the lease was lost before. */
  async finish(): Promise<boolean> {
    this.advance(SHARD_END);
    return this.writeNow();
  }

  /** Writes counter and checkpoint at once. False: the lease was lost. */
  writeNow(): Promise<boolean> {
    return this.exclusively(() =>
      this.writeUntilDeadline((lease, unsure) => this.deps.store.renew(lease, this.unwritten(), unsure)),
    );
  }

  /** Last checkpoint and giving up, in one write. False: it was lost, or could not be given up in time. */
  async release(): Promise<boolean> {
    this.leaving = true;
    const written = await this.exclusively(() =>
      this.writeUntilDeadline((lease, unsure) => this.deps.store.release(lease, this.unwritten(), unsure)),
    );
    this.end('released');
    return written;
  }

  /** Deletes the item of a shard that is done with. False: it had changed meanwhile. */
  remove(): Promise<boolean> {
    return this.exclusively(async () => {
      const removed = !this.signal.aborted && (await this.deps.store.remove(this.lease));
      if (removed) this.end('released');
      return removed;
    });
  }

  private advance(checkpoint: Checkpoint): void {
    if (this.signal.aborted || this.leaving) {
      this.deps.log.debug({ partition: this.id, token: this.token }, 'checkpoint refused: the lease has ended');
      return;
    }
    if (compareCheckpoints(checkpoint, this.wanted) > 0) this.wanted = checkpoint;
  }

  private unwritten(): Checkpoint | undefined {
    return compareCheckpoints(this.wanted, this.lease.checkpoint) > 0 ? this.wanted : undefined;
  }

  private async renewals(): Promise<void> {
    const { host, leaseDurationMs } = this.deps;
    const every = 1_000 * renewalSeconds(leaseDurationMs / 1_000);
    let wait = every * host.random();
    while (!this.signal.aborted) {
      await host.sleep(wait, this.signal);
      if (this.signal.aborted) return;
      const begun = host.monotonic();
      await this.writeNow().catch((error: unknown) => {
        this.deps.log.error({ partition: this.id, error: errorText(error) }, 'a renewal failed in an unforeseen way');
      });
      this.deps.metrics.gauge('leaseRenewalTime', Math.round(host.monotonic() - begun));
      wait = every * (0.95 + 0.05 * host.random());
    }
  }

  private async watchDeadline(): Promise<void> {
    while (!this.signal.aborted) {
      const left = this.deadline - this.deps.host.monotonic();
      if (left <= 0) this.end('expired');
      else await this.deps.host.sleep(left, this.signal);
    }
  }

  /** One write at a time: each one names the counter that the one before it wrote. */
  private exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(work);
    this.queue = result.catch(() => undefined);
    return result;
  }

  private async writeUntilDeadline(send: (lease: Lease, unsure: boolean) => Promise<WriteOutcome>): Promise<boolean> {
    const { host } = this.deps;
    for (let attempt = 0; !this.signal.aborted; attempt++) {
      const sentAt = host.monotonic();
      if (sentAt >= this.deadline) {
        this.end('expired');
        return false;
      }
      if (this.accept(await send(this.lease, this.unsure), sentAt)) return !this.signal.aborted;
      if (this.signal.aborted) return false;
      const backoff = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** attempt);
      await host.sleep(backoff * (0.5 + 0.5 * host.random()), this.signal);
    }
    return false;
  }

  /** Takes in what became of a write; true when nothing is left to be tried. */
  private accept(outcome: WriteOutcome, sentAt: number): boolean {
    const { log, metrics } = this.deps;
    if (this.signal.aborted) return true;
    if (outcome.kind === 'lost') {
      metrics.count('leaseRenewals', { result: 'lost' });
      this.end(outcome.now ? 'stolen' : 'deleted');
      return true;
    }
    if (outcome.kind === 'retry') {
      metrics.count('leaseRenewals', { result: outcome.why });
      log.warn({ partition: this.id, error: outcome.error }, 'a lease write did not go through; trying again');
      this.unsure = outcome.unsure;
      if (outcome.why === 'unknown') this.unansweredSince ??= sentAt;
      return false;
    }
    metrics.count('leaseRenewals', { result: outcome.recovered ? 'recovered' : 'written' });
    if (compareCheckpoints(outcome.lease.checkpoint, this.lease.checkpoint) > 0) metrics.count('checkpoints');
    this.deadline = (outcome.recovered ? (this.unansweredSince ?? sentAt) : sentAt) + this.deps.leaseDurationMs;
    this.lease = outcome.lease;
    this.unsure = false;
    this.unansweredSince = undefined;
    // A recovered write may have been an older one, which carried less: then there is another one to do.
    return this.unwritten() === undefined || !outcome.recovered;
  }

  private end(reason: LeaseEnd): void {
    if (this.signal.aborted) return;
    this.ending.abort(reason);
    this.deps.onEnd(this, reason);
  }
}
