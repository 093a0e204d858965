/**
 * One partition while this worker holds it: for the processor a partition, for the container a checkpoint that is
 * written behind. An ended one never revives: when the partition is won again, it is a new object.
 */
import type { Host } from '../../host/host';
import type { Log, Metrics, Partition } from '../../processor/ports';
import { errorText } from './azure-errors';
import type { GroupName } from './blob-names';
import type { BlobStore, EventPlace } from './blob-store';

export interface HeldPartitionDeps {
  readonly store: Pick<BlobStore, 'writeCheckpoint' | 'release'>;
  readonly group: GroupName;
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
  /** An ownership that is not claimed anew for so long is free for others. */
  readonly ownershipMs: number;
}

/** Others see the claim's time in whole seconds. */
const RESOLUTION_MS = 1_000;
const RETRY_FIRST_MS = 200;
const RETRY_LONGEST_MS = 5_000;

export class HeldPartition implements Partition {
  readonly id: string;
  readonly signal: AbortSignal;
  private readonly ending = new AbortController();
  private deadline: number;
  /** Delivered and not yet checkpointed, in order. */
  private places: EventPlace[] = [];
  private wanted: EventPlace | undefined;
  private written: EventPlace | undefined;
  private writing: Promise<void> | undefined;
  private leaving = false;

  /** @param claimedAt monotonic milliseconds from before the claim was sent */
  constructor(
    private readonly deps: HeldPartitionDeps,
    readonly partitionId: string,
    claimedAt: number,
  ) {
    this.id = `event-hubs/${deps.group.eventHubName}/${partitionId}`;
    this.signal = this.ending.signal;
    this.deadline = claimedAt + deps.ownershipMs - RESOLUTION_MS;
  }

  holdsFor(marginMs: number): boolean {
    return !this.leaving && !this.signal.aborted && this.deps.host.monotonic() + marginMs < this.deadline;
  }

  /** The claim was made again. */
  renewed(claimedAt: number): void {
    this.deadline = Math.max(this.deadline, claimedAt + this.deps.ownershipMs - RESOLUTION_MS);
  }

  /** Remembers the offset of a delivery, whose position is its sequence number. */
  delivered(place: EventPlace): void {
    this.places.push(place);
  }

  /** The furthest sequence number that was handed over; undefined before the first. */
  get lastDelivered(): number | undefined {
    return this.places.at(-1)?.sequenceNumber ?? this.wanted?.sequenceNumber;
  }

  /** The furthest finished sequence number, written or not yet. */
  get finishedUpTo(): number | undefined {
    return this.wanted?.sequenceNumber;
  }

  checkpoint(position: string): void {
    const sequenceNumber = Number(position);
    const index = this.places.findIndex((place) => place.sequenceNumber === sequenceNumber);
    if (index < 0) throw new Error(`Partition ${this.partitionId} never delivered ${position}`);
    this.wanted = this.places[index];
    this.places = this.places.slice(index + 1);
    this.writing ??= this.write().finally(() => {
      this.writing = undefined;
    });
  }

  /** Ends it: nothing new is charged, and no checkpoint is written any more. */
  lose(reason: string): void {
    if (this.signal.aborted) return;
    this.deps.metrics.count('leasesLost', { reason });
    this.deps.log.warn({ partition: this.id, reason }, 'the partition is somebody else’s now');
    this.ending.abort();
  }

  /** Waits until what is finished is written, or until the deadline's signal aborts; then gives the partition up. */
  async release(deadline: AbortSignal): Promise<void> {
    this.leaving = true;
    const over = new Promise<void>((resolve) => {
      if (deadline.aborted) resolve();
      else deadline.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([this.writing, over]);
    if (!this.signal.aborted && !deadline.aborted) {
      const released = this.deps.store.release(this.deps.group, this.partitionId);
      await Promise.race([released.catch((error: unknown) => this.complain(error, 'released')), over]);
    }
    this.ending.abort();
  }

  /** One write at a time, each of the newest place; a failure is repeated, with what is newest then. */
  private async write(): Promise<void> {
    const { store, group, host, log, metrics } = this.deps;
    for (let failures = 0; !this.signal.aborted; ) {
      const place = this.wanted;
      if (place === undefined || place === this.written) return;
      try {
        const outcome = await store.writeCheckpoint(group, this.partitionId, place);
        if (outcome === 'lost') return this.lose('stolen');
        if (outcome === 'written') metrics.count('checkpoints');
        if (failures > 0) log.info({ partition: this.id, failures }, 'checkpoints are written again');
        failures = 0;
        this.written = place;
      } catch (error) {
        metrics.count('checkpointFailures');
        failures += 1;
        if (failures === 1) this.complain(error, 'checkpointed');
        const pause = Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** (failures - 1));
        await host.sleep(pause * (0.5 + host.random() / 2), this.signal);
      }
    }
  }

  private complain(error: unknown, what: string): void {
    this.deps.log.warn(
      { partition: this.id, error: errorText(error) },
      `a partition could not be ${what}; trying again`,
    );
  }
}
