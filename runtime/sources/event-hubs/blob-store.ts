/**
 * Ownership and checkpoints in a blob container, for the event processor of Microsoft's client. Unlike the store that
 * Microsoft publishes: a first claim is conditional, so that of two workers that start together one wins; a checkpoint
 * never moves backwards; and whoever holds a partition is told at once when the blobs say that somebody else does.
 */
import type { Checkpoint, CheckpointStore, PartitionOwnership } from '@azure/event-hubs';
import type { ContainerClient } from '@azure/storage-blob';
import type { Host } from '../../host/host';
import { isConditionFailed } from './azure-errors';
import { type BlobKind, blobName, blobPrefix, type GroupName } from './blob-names';
import { BlobRequests, type FoundBlob, type ListedBlob } from './blob-requests';

/** Where a consumer goes on, exclusively. */
export interface EventPlace {
  readonly sequenceNumber: number;
  /** Opaque. */
  readonly offset: string;
}

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
  private starts: ReadonlyMap<string, EventPlace> = new Map();

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
      // A blob that is no ownership does not stop the balancing of all others.
      if (metadata.ownerid === undefined) continue;
      const ownership = { ...group, partitionId, ownerId: metadata.ownerid, lastModifiedTimeInMs: lastModified, etag };
      found.push(ownership);
      if (metadata.ownerid !== this.owner) listener.lost(partitionId, metadata.ownerid);
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
    await this.writeCheckpoint(checkpoint, checkpoint.partitionId, checkpoint);
  }

  async listCheckpoints(
    fullyQualifiedNamespace: string,
    eventHubName: string,
    consumerGroup: string,
  ): Promise<Checkpoint[]> {
    const group = { fullyQualifiedNamespace, eventHubName, consumerGroup };
    const found: Checkpoint[] = [];
    const blobs = await this.list(group, 'checkpoint').catch(async (error: unknown) => {
      // The client forgets what it has claimed, and would leave it unread until the ownership ends.
      if (this.claimedLast !== undefined) await this.release(group, this.claimedLast).catch(() => undefined);
      throw error;
    });
    for (const { name: partitionId, metadata } of blobs) {
      const place = placeOf(metadata);
      if (place === undefined) continue;
      found.push({ ...group, partitionId, ...place });
    }
    this.starts = new Map(
      found.map(({ partitionId, sequenceNumber, offset }) => [partitionId, { sequenceNumber, offset }]),
    );
    return found;
  }

  /** Writes it if this worker still owns the partition and nobody has come further. Rejects when the storage fails. */
  async writeCheckpoint(group: GroupName, partitionId: string, place: EventPlace): Promise<CheckpointOutcome> {
    if (!(await this.stillOwns(group, partitionId))) return 'lost';
    const metadata = { sequencenumber: String(place.sequenceNumber), offset: place.offset };
    for (let race = 0; race < RACES; race += 1) {
      const found = await this.read(group, 'checkpoint', partitionId);
      const before = found === undefined ? undefined : placeOf(found.metadata);
      if (before !== undefined && before.sequenceNumber >= place.sequenceNumber) return 'newer';
      try {
        await this.requests.write(blobName(this.filed(group), 'checkpoint', partitionId), metadata, found?.etag);
        return 'written';
      } catch (error) {
        if (!isConditionFailed(error)) throw error;
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

  /** Where reading begins after the last look at the checkpoints; undefined: at the oldest event. */
  startOf(partitionId: string): EventPlace | undefined {
    return this.starts.get(partitionId);
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
    const place = found === undefined ? undefined : placeOf(found.metadata);
    if (found === undefined || place === undefined || place.sequenceNumber <= beyond) return;
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
      return found?.metadata.ownerid === wanted.ownerId && wanted.ownerId !== NOBODY ? { etag: found.etag } : undefined;
    }
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

/** Undefined when the metadata are no checkpoint. */
function placeOf(metadata: Readonly<Record<string, string>>): EventPlace | undefined {
  const { sequencenumber, offset } = metadata;
  // Clients of other languages write one without an offset, from which this client cannot go on.
  if (sequencenumber === undefined || !offset || !/^-?\d+$/.test(sequencenumber)) return undefined;
  return { sequenceNumber: Number(sequencenumber), offset };
}
