/**
 * Ownership and checkpoints in a blob container, for the event processor of Microsoft's client. Unlike the store that
 * Microsoft publishes: a first claim is conditional, so that of two workers that start together one wins; a checkpoint
 * never moves backwards; and whoever holds a partition is told at once when the blobs say that somebody else does.
 */
import {
  type Checkpoint,
  type CheckpointStore,
  type EventPosition,
  earliestEventPosition,
  type PartitionOwnership,
} from '@azure/event-hubs';
import type { ContainerClient } from '@azure/storage-blob';
import type { Host } from '../../host/host';
import { isConditionFailed } from './azure-errors';
import { type BlobKind, blobName, blobPrefix, type GroupName } from './blob-names';
import { BlobRequests, type FoundBlob, type ListedBlob } from './blob-requests';
import { checkpointMetadata, type EventPlace, type Start, startOf } from './checkpoint-metadata';

export type CheckpointOutcome =
  | 'written'
  /** The blob is at this place or further: somebody wrote it after this worker had read the event. */
  | 'newer'
  /** Somebody else owns the partition. */
  | 'lost';

/** Told what the container says of who owns what. */
export interface OwnershipListener {
  /** Whether this worker wants the partition (still). */
  mayClaim(partitionId: string): boolean;
  /** The container was read: the balancing goes round. */
  listed(owners: readonly Ownership[]): void;
  /**
   * The storage did not say who owns what; nobody can have claimed anything there meanwhile.
   *
   * @param sentAt monotonic milliseconds from before it was asked
   */
  unlisted(sentAt: number): void;
  /** @param sentAt monotonic milliseconds from before the claim was sent */
  claimed(partitionId: string, sentAt: number): void;
  /** The storage did not say whether a claim stands; nobody can have claimed it there meanwhile. */
  unanswered(partitionId: string, sentAt: number): void;
  /** The blobs name another owner, or none. */
  lost(partitionId: string, owner: string): void;
  /** Its checkpoint cannot be understood: it was given back. */
  unreadable(partitionId: string, why: string): void;
}

export interface Ownership {
  readonly partitionId: string;
  /** Empty: it was given up. */
  readonly owner: string;
  /** Milliseconds since the epoch, by this machine's clock, give or take a second. */
  readonly claimedAt: number;
}

export interface BlobStoreOptions {
  readonly container: ContainerClient;
  /** The owner's name, unique for each start of a worker. */
  readonly owner: string;
  readonly host: Host;
  readonly listener: OwnershipListener;
  /** When the hub was created, in milliseconds since the epoch, as it says itself. Default: nobody is asked. */
  readonly hubCreatedOn?: () => Promise<number | undefined>;
  /**
   * Host name of the namespace, which blobs are filed under. Default: what the client calls it, which behind a private
   * endpoint is the endpoint's name; autoscalers and clients of other languages look under the namespace's own.
   */
  readonly namespace?: string;
  /** Milliseconds that one request to the storage may take, with its retries. Default: 10,000. */
  readonly timeoutMs?: number;
}

/** Tries of one checkpoint against others who write the same blob. */
const RACES = 5;
const NOBODY = '';

export class BlobStore implements CheckpointStore {
  /** The client must have it as its `identifier`, or its own claims would look like somebody else's. */
  readonly owner: string;
  /** The checkpoints as they were listed last, from which the client goes on. */
  private starts: ReadonlyMap<string, Start> = new Map();
  private createdOn: number | undefined;

  /** The partition that was claimed last: if it is new, the client asks for its checkpoint next. */
  private claimedLast: string | undefined;
  private readonly requests: BlobRequests;

  constructor(private readonly options: BlobStoreOptions) {
    this.owner = options.owner;
    const { container, host, timeoutMs = 10_000 } = options;
    this.requests = new BlobRequests({ container, host, timeoutMs });
  }

  async listOwnership(
    fullyQualifiedNamespace: string,
    eventHubName: string,
    consumerGroup: string,
  ): Promise<PartitionOwnership[]> {
    const group = { fullyQualifiedNamespace, eventHubName, consumerGroup };
    const { host, listener } = this.options;
    const found: PartitionOwnership[] = [];
    const sentAt = host.monotonic();
    const blobs = await this.list(group, 'ownership').catch((error: unknown) => {
      listener.unlisted(sentAt);
      throw error;
    });
    for (const { name: partitionId, metadata, etag, lastModified } of blobs) {
      // Left out, a blob without an owner could not be claimed by anybody: a first claim asks that there is none.
      const ownerId = metadata.ownerid ?? NOBODY;
      found.push({ ...group, partitionId, ownerId, lastModifiedTimeInMs: lastModified, etag });
      if (ownerId !== this.owner) listener.lost(partitionId, ownerId);
    }
    listener.listed(
      found.map(({ partitionId, ownerId, lastModifiedTimeInMs = 0 }) => ({
        partitionId,
        owner: ownerId,
        claimedAt: lastModifiedTimeInMs,
      })),
    );
    return found;
  }

  async claimOwnership(wanted: PartitionOwnership[]): Promise<PartitionOwnership[]> {
    const claimed = await Promise.all(wanted.map((ownership) => this.claim(ownership)));
    return claimed.filter((ownership) => ownership !== undefined);
  }

  /** For the processor's own calls, which this source does not make. */
  async updateCheckpoint(checkpoint: Checkpoint): Promise<void> {
    await this.writeCheckpoint(checkpoint, checkpoint.partitionId, checkpoint, this.createdOn);
  }

  async listCheckpoints(
    fullyQualifiedNamespace: string,
    eventHubName: string,
    consumerGroup: string,
  ): Promise<Checkpoint[]> {
    const group = { fullyQualifiedNamespace, eventHubName, consumerGroup };
    const starts = await this.listStarts(group).catch(async (error: unknown) => {
      // The client forgets what it has claimed, and would leave it unread until the ownership ends.
      if (this.claimedLast !== undefined) await this.release(group, this.claimedLast).catch(() => undefined);
      throw error;
    });
    this.starts = starts;
    // Where no offset is known, the client asks for the position to begin at: see `positions`.
    return [...starts].flatMap(([partitionId, start]) =>
      start.kind === 'behind' && start.place.offset !== '' ? [{ ...group, partitionId, ...start.place }] : [],
    );
  }

  /**
   * Where the client begins a partition of which it was given no checkpoint, by id: behind a number that has no offset,
   * else at the oldest event. Asked after each `listCheckpoints`; of a partition that is not in it, the client would take
   * the newest event.
   */
  get positions(): Record<string, EventPosition> {
    const position = (partitionId: string): EventPosition => {
      const start = this.starts.get(partitionId);
      if (start?.kind !== 'behind') return earliestEventPosition;
      return { sequenceNumber: start.place.sequenceNumber, isInclusive: false };
    };
    // The client refuses a record without any key.
    return new Proxy({ '0': earliestEventPosition }, { get: (_, partitionId) => position(String(partitionId)) });
  }

  /**
   * Writes it if this worker still owns the partition and nobody has come further. Rejects when the storage fails.
   *
   * @param hubCreatedOn of the hub that the place is in, in milliseconds since the epoch
   */
  async writeCheckpoint(
    group: GroupName,
    partitionId: string,
    place: EventPlace,
    hubCreatedOn?: number,
  ): Promise<CheckpointOutcome> {
    if (!(await this.stillOwns(group, partitionId))) return 'lost';
    const name = blobName(this.filed(group), 'checkpoint', partitionId);
    let refused: { readonly etag: string | undefined; readonly error: unknown } | undefined;
    for (let race = 0; race < RACES; race += 1) {
      const found = await this.requests.read(name);
      if (refused !== undefined && refused.etag === found?.etag) throw refused.error;
      const before = found && startOf(found.metadata, found.writtenAt, hubCreatedOn);
      if (before?.kind === 'behind' && before.place.sequenceNumber >= place.sequenceNumber) return 'newer';
      try {
        await this.requests.write(name, checkpointMetadata(place, hubCreatedOn), found?.etag);
        return 'written';
      } catch (error) {
        if (!isConditionFailed(error)) throw error;
        refused = { etag: found?.etag, error };
      }
    }
    throw new Error(`The checkpoint of partition ${partitionId} is written by others all the time`);
  }

  /** Gives the partition up, so that another worker need not wait for its expiry. */
  async release(group: GroupName, partitionId: string): Promise<void> {
    const found = await this.read(group, 'ownership', partitionId);
    if (found?.metadata.ownerid !== this.owner) return;
    try {
      await this.requests.write(blobName(this.filed(group), 'ownership', partitionId), { ownerid: NOBODY }, found.etag);
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
    }
  }

  /** Where reading begins after the last look at the checkpoints; undefined: there was none. */
  startOf(partitionId: string): Start | undefined {
    return this.starts.get(partitionId);
  }

  /** When the hub was created that the last look at the checkpoints was for. */
  get hubCreatedOn(): number | undefined {
    return this.createdOn;
  }

  /** Whether the container answers. Rejects with the storage's error otherwise. */
  check(): Promise<void> {
    return this.requests.check();
  }

  /** Whether this worker is the owner that the container names. Rejects when the storage fails. */
  async stillOwns(group: GroupName, partitionId: string): Promise<boolean> {
    const owner = await this.ownerOf(group, partitionId);
    if (owner !== this.owner) this.options.listener.lost(partitionId, owner);
    return owner === this.owner;
  }

  /** Deletes a checkpoint that is beyond this place, so that the partition is read from its oldest event. */
  async dropCheckpoint(group: GroupName, partitionId: string, beyond: number): Promise<void> {
    const found = await this.read(group, 'checkpoint', partitionId);
    const start = found && startOf(found.metadata, found.writtenAt, undefined);
    if (found === undefined || start?.kind !== 'behind' || start.place.sequenceNumber <= beyond) return;
    await this.requests.delete(blobName(this.filed(group), 'checkpoint', partitionId), found.etag);
  }

  private async claim(wanted: PartitionOwnership): Promise<PartitionOwnership | undefined> {
    const { host, listener } = this.options;
    if (wanted.ownerId !== this.owner && wanted.ownerId !== NOBODY) {
      throw new Error(`The client claims as ${wanted.ownerId}; make it with the identifier ${this.owner}.`);
    }
    const releases = wanted.ownerId === NOBODY;
    if (!releases && !listener.mayClaim(wanted.partitionId)) return undefined;
    const sentAt = host.monotonic();
    try {
      const written = await this.put(wanted);
      if (written === undefined) {
        listener.lost(wanted.partitionId, 'somebody who was faster');
        return undefined;
      }
      if (!releases) {
        this.claimedLast = wanted.partitionId;
        listener.claimed(wanted.partitionId, sentAt);
      }
      return { ...wanted, ...written };
    } catch (error) {
      if (!releases) listener.unanswered(wanted.partitionId, sentAt);
      throw error;
    }
  }

  /** Undefined when somebody else wrote first. */
  private async put(
    wanted: PartitionOwnership,
  ): Promise<Pick<PartitionOwnership, 'etag' | 'lastModifiedTimeInMs'> | undefined> {
    try {
      const name = blobName(this.filed(wanted), 'ownership', wanted.partitionId);
      const { etag, lastModified } = await this.requests.write(name, { ownerid: wanted.ownerId }, wanted.etag);
      return {
        ...(etag === undefined ? {} : { etag }),
        ...(lastModified === undefined ? {} : { lastModifiedTimeInMs: lastModified }),
      };
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
      // A first try whose answer was lost looks the same: then the blob says what was wanted.
      const found = await this.read(wanted, 'ownership', wanted.partitionId);
      if (found?.metadata.ownerid === wanted.ownerId && wanted.ownerId !== NOBODY) return { etag: found.etag };
      // Nobody was faster: it is refused for another reason, such as a lease on the blob, and always will be.
      if (found?.etag === wanted.etag) throw error;
      return undefined;
    }
  }

  /** The checkpoints of the hub that is there now. Rejects when that of the partition just claimed is not understood. */
  private async listStarts(group: GroupName): Promise<ReadonlyMap<string, Start>> {
    const [hubCreatedOn, blobs] = await Promise.all([this.options.hubCreatedOn?.(), this.list(group, 'checkpoint')]);
    this.createdOn = hubCreatedOn;
    const starts = new Map(
      blobs.map(({ name, metadata, writtenAt }) => [name, startOf(metadata, writtenAt, hubCreatedOn)] as const),
    );
    const claimed = this.claimedLast;
    const start = claimed === undefined ? undefined : starts.get(claimed);
    if (claimed === undefined || start?.kind !== 'unreadable') return starts;
    const why = `its checkpoint, the blob ${blobName(this.filed(group), 'checkpoint', claimed)}, cannot be read: ${start.why}`;
    this.options.listener.unreadable(claimed, why);
    throw new Error(`Partition ${claimed} is not read: ${why}`);
  }

  private async ownerOf(group: GroupName, partitionId: string): Promise<string> {
    return (await this.read(group, 'ownership', partitionId))?.metadata.ownerid ?? NOBODY;
  }

  private filed(group: GroupName): GroupName {
    const { namespace = group.fullyQualifiedNamespace } = this.options;
    return { ...group, fullyQualifiedNamespace: namespace };
  }

  private read(group: GroupName, kind: BlobKind, partitionId: string): Promise<FoundBlob | undefined> {
    return this.requests.read(blobName(this.filed(group), kind, partitionId));
  }

  private list(group: GroupName, kind: BlobKind): Promise<ListedBlob[]> {
    return this.requests.list(blobPrefix(this.filed(group), kind));
  }
}
