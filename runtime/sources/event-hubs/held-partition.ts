/**
 * One partition while this worker holds it: for the processor a partition, for the container a checkpoint that is
 * written behind. An ended one never revives: when the partition is won again, it is a new object.
 */
import type { Host } from '../../host/host';
import type { Log, Metrics, Partition } from '../../processor/ports';
import { errorText } from './azure-errors';
import type { GroupName } from './blob-names';
import type { BlobStore } from './blob-store';
import type { EventPlace } from './checkpoint-metadata';

export interface HeldPartitionDeps {
  readonly store: Pick<BlobStore, 'writeCheckpoint' | 'release'>;
  readonly group: GroupName;
  /** The namespace's own name, whatever endpoint is in front of it. */
  readonly namespace: string;
  /** Milliseconds since the epoch; undefined when the hub does not say. */
  readonly hubCreatedOn: number | undefined;
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
  /** An ownership that is not claimed anew for so long is free for others. */
  readonly ownershipMs: number;
  /** Between two writes of the checkpoint. */
  readonly checkpointEveryMs: number;
}

/** Others see the time of a claim in whole seconds. */
const RESOLUTION_MS = 1_000;
/** Others compare the storage's clock with their own, which may be ahead by so much. */
const CLOCK_SKEW_MS = 5_000;
const RETRY_FIRST_MS = 200;
const RETRY_LONGEST_MS = 5_000;

export class HeldPartition implements Partition {
  readonly id: string;
  readonly signal: AbortSignal;
  private readonly ending = new AbortController();
  /** Aborts when the last checkpoint shall be written now, or none any more. */
  private readonly hurry = new AbortController();
  private readonly certainMs: number;
  private deadline: number;
  /** Delivered and not yet passed, in order, from `head` on. */
  private places: EventPlace[] = [];
  private head = 0;
  private last: number | undefined;
  private wanted: EventPlace | undefined;
  private written: EventPlace | undefined;
  private writing: Promise<void> | undefined;
  private leaving = false;

  /**
   * @param claimedAt monotonic milliseconds from before the claim was sent
   * @param start the checkpoint that reading goes on from; undefined: from the oldest event
   */
  constructor(
    readonly deps: HeldPartitionDeps,
    readonly partitionId: string,
    claimedAt: number,
    readonly start?: EventPlace,
  ) {
    const { ownershipMs, namespace, group, hubCreatedOn } = deps;
    // Numbers begin again in a hub that is made anew: what is remembered of the old one's must not be taken for these.
    const made = hubCreatedOn === undefined ? '' : `@${new Date(hubCreatedOn).toISOString().slice(0, 19)}Z`;
    this.id = `event-hubs/${namespace}/${group.eventHubName}${made}/${partitionId}`;
    this.signal = this.ending.signal;
    // Once: a signal made of two for each write would stay in the memory of both for as long as they live.
    this.signal.addEventListener('abort', () => this.hurry.abort(), { once: true });
    this.certainMs = ownershipMs - RESOLUTION_MS - Math.min(CLOCK_SKEW_MS, ownershipMs / 10);
    this.deadline = claimedAt + this.certainMs;
  }

  holdsFor(marginMs: number): boolean {
    return !this.leaving && !this.signal.aborted && this.deps.host.monotonic() + marginMs < this.deadline;
  }

  /**
   * The claim was made again; or it could not be made because the storage failed. Then nobody else could claim there
   * either, and whoever could takes the link away, which is heard: consumption goes on.
   */
  renewed(askedAt: number): void {
    this.deadline = Math.max(this.deadline, askedAt + this.certainMs);
  }

  /** Remembers the offset of a delivery, whose position is its sequence number. False: it was delivered before. */
  delivered(place: EventPlace): boolean {
    if (place.sequenceNumber <= (this.lastDelivered ?? -1)) return false;
    this.places.push(place);
    this.last = place.sequenceNumber;
    return true;
  }

  /** The furthest sequence number that was handed over, or that of the start; undefined before the first of all. */
  get lastDelivered(): number | undefined {
    return this.last ?? this.start?.sequenceNumber;
  }

  /** The sequence number of the checkpoint as the container has it; undefined: it has none. */
  get checkpointed(): number | undefined {
    return this.written?.sequenceNumber ?? this.start?.sequenceNumber;
  }

  /** Places that are kept. */
  get remembered(): number {
    return this.places.length;
  }

  /** Whether it is being given up. */
  get isLeaving(): boolean {
    return this.leaving;
  }

  checkpoint(position: string): void {
    if (this.signal.aborted) return;
    const sequenceNumber = Number(position);
    if (sequenceNumber <= (this.wanted?.sequenceNumber ?? -1)) return;
    this.passed(position);
    const place = this.places[this.head];
    if (place?.sequenceNumber !== sequenceNumber) {
      throw new Error(`Partition ${this.partitionId} never delivered ${position}`);
    }
    this.wanted = place;
    this.writing ??= this.write();
  }

  /** Forgets what lies before it: in some checkpoint modes nothing is written for days. */
  passed(position: string): void {
    const sequenceNumber = Number(position);
    while ((this.places[this.head]?.sequenceNumber ?? sequenceNumber) < sequenceNumber) this.head += 1;
    if (this.head < 1024 || this.head * 2 < this.places.length) return;
    this.places = this.places.slice(this.head);
    this.head = 0;
  }

  /** Ends it: nothing new is charged, and no checkpoint is written any more. */
  lose(reason: string): void {
    if (this.signal.aborted) return;
    this.deps.metrics.count('leasesLost', { reason });
    this.deps.log.warn({ partition: this.id, reason }, 'a partition is held no longer');
    this.ending.abort();
  }

  /** Writes what is finished, then gives the partition up; ends after this time at the latest, done or not. */
  async release(withinMs: number): Promise<void> {
    this.leaving = true;
    this.hurry.abort();
    const done = new AbortController();
    const late = this.deps.host.sleep(withinMs, done.signal);
    await Promise.race([this.leave(), late]);
    done.abort();
    this.ending.abort();
  }

  private async leave(): Promise<void> {
    await this.writing;
    if (this.signal.aborted) return;
    await this.deps.store.release(this.deps.group, this.partitionId).catch((error: unknown) => {
      this.complain(error, 'a partition could not be given up; others take it when its ownership expires');
    });
  }

  /** One write at a time, each of the newest place; a failure is repeated, with what is newest then. */
  private async write(): Promise<void> {
    const { store, group, hubCreatedOn, host, log, metrics, checkpointEveryMs } = this.deps;
    for (let failures = 0; !this.signal.aborted; ) {
      const place = this.wanted;
      if (place === undefined || place === this.written) {
        // In the very turn of the look: a checkpoint in between would be left to nobody.
        this.writing = undefined;
        return;
      }
      try {
        const outcome = await store.writeCheckpoint(group, this.partitionId, place, hubCreatedOn);
        if (outcome === 'lost') return this.lose('stolen');
        if (outcome === 'written') metrics.count('checkpoints');
        if (failures > 0) log.info({ partition: this.id, failures }, 'checkpoints are written again');
        failures = 0;
        this.written = place;
        await host.sleep(checkpointEveryMs, this.hurry.signal);
      } catch (error) {
        metrics.count('checkpointFailures');
        failures += 1;
        if (failures === 1)
          this.complain(error, 'a checkpoint could not be written; trying again, consumption goes on');
        const pause = Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** (failures - 1));
        await host.sleep(pause * (0.5 + host.random() / 2), this.signal);
      }
    }
  }

  private complain(error: unknown, what: string): void {
    this.deps.log.warn({ partition: this.id, error: errorText(error) }, what);
  }
}
