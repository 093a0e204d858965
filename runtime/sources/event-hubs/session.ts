/**
 * One client of the hub and what it reads. It is begun under an owner name of its own, so that nothing that an older
 * client still does can be taken for the doing of this one.
 */
import {
  CloseReason,
  type EventHubConsumerClient,
  type PartitionContext,
  type ReceivedEventData,
  type Subscription,
} from '@azure/event-hubs';
import type { PartitionConsumer } from '../../processor/ports';
import { errorText, isEntityMissing, isLinkStolen, isPlaceRefused, isRefused, isThrottled } from './azure-errors';
import type { GroupName } from './blob-names';
import { BlobStore, type Ownership } from './blob-store';
import { isSameHub } from './checkpoint-metadata';
import { deliveryOf } from './delivery';
import { HeldPartition } from './held-partition';
import { LOOKS_PER_OWNERSHIP, type SourceSettings } from './options';
import { Reading } from './reading';
import { ROLES } from './start-up';
import { reportExpired } from './watchdog';

/** What a session tells the source. */
export interface SessionEvents {
  /** The container was read, and who owns what. */
  listed(owners: readonly Ownership[]): void;
  /** Balancing works: a partition is read, or all have an owner. */
  balanced(): void;
  /** It does not, for this reason. */
  troubled(reason: string): void;
  /** Events of the partition came. */
  heard(partitionId: string): void;
  /** A partition is not read before somebody has repaired its checkpoint. */
  refused(partitionId: string, why: string): void;
  /** It cannot go on: what it reads does not exist. */
  failed(error: Error): void;
}

/** A handler that rejects with this ends its pump; it is not `retryable`, or the client would skip the batch. */
class PartitionOver extends Error {}

/** How often a pump without events asks whether it may go on. */
const WAIT_S = 2;
/** While a handler runs the client hears nothing of a link that is stolen; after this long the container is asked. */
const ASK_AFTER_MS = 1_000;
/** Of an ownership. After a quarter the storage is given up: what takes twice as long was this process standing still. */
const STOOD_STILL = 0.5;
const OTHER_HUB =
  'the checkpoint is of a hub that had this name before: this one was created later, and is read from its oldest event';
const REPAIR =
  'Nobody knows what was charged: write the sequencenumber of the last event that was, or delete the blob to read from the oldest event';
/** A refusal is believed when it is repeated: what it costs is to read all that the hub keeps. */
const REFUSALS = 2;

export class Session {
  readonly client: EventHubConsumerClient;
  readonly store: BlobStore;
  private readonly current = new Map<string, Reading>();
  /** Each of the client's pumps has a context of its own: what an old pump still brings is told by it. */
  private readonly byPump = new WeakMap<PartitionContext, Reading>();
  private readonly claimedAt = new Map<string, number>();
  /** Monotonic, by partition: since when every pump of it ended before it had read. */
  private readonly unreadSince = new Map<string, number>();
  /** By partition: how often in a row the hub refused the place to begin at. */
  private readonly refusals = new Map<string, number>();
  /** Monotonic, by partition: before that it is not claimed again. */
  private readonly refusedUntil = new Map<string, number>();
  /** As the hub named them last. */
  partitionIds: readonly string[] = [];
  private subscription: Subscription | undefined;
  private closing = false;
  private troubles = 0;
  private looks = 0;
  /** Monotonic: the balancing last came as far as the storage. */
  private reachedAt = 0;
  private asking = false;

  constructor(
    private readonly settings: SourceSettings,
    private readonly consumer: PartitionConsumer,
    private readonly events: SessionEvents,
    private readonly stop: AbortSignal,
  ) {
    const { container, host, namespace, workerId, ownershipMs } = settings;
    this.store = new BlobStore({
      container,
      ...(namespace === undefined ? {} : { namespace }),
      host,
      owner: `${workerId}:${host.uuid()}`,
      listener: this.listener(),
      hubCreatedOn: () => this.hubCreatedOn(),
      // Several may fail in a row before an ownership ends.
      timeoutMs: Math.min(10_000, ownershipMs / 4),
    });
    this.client = settings.connect(this.store);
  }

  /** What is read and not lost. */
  get readings(): readonly Reading[] {
    return [...this.current.values()].filter(({ held }) => !held.signal.aborted);
  }

  /** Partitions that could not be opened for longer than this, although they are ours to read. */
  unread(forMs: number): readonly string[] {
    const now = this.settings.host.monotonic();
    return [...this.unreadSince].filter(([, since]) => now - since > forMs).map(([partitionId]) => partitionId);
  }

  start(): void {
    const { batchSize } = this.settings;
    this.subscription = this.client.subscribe(
      {
        processInitialize: async (context) => this.begin(context),
        processEvents: (events, context) => this.take(events, context),
        processError: (error, context) => this.onError(error, context),
        processClose: (reason, context) => this.end(reason, context),
      },
      {
        startPosition: this.store.positions,
        maxBatchSize: batchSize,
        prefetchCount: batchSize,
        maxWaitTimeInSeconds: WAIT_S,
        skipParsingBodyAsJson: true,
      },
    );
  }

  /** Gives up every partition at once, without waiting for work in flight: its connection cannot be trusted. */
  async abandon(reason: string, withinMs: number): Promise<void> {
    this.closing = true;
    const readings = this.readings;
    for (const { held } of readings) held.lose(reason);
    await this.within(withinMs, Promise.all([this.close(), ...readings.map((reading) => this.giveBack(reading))]));
  }

  /** Ends the connection. What is held must have been given up before. */
  async leave(withinMs: number): Promise<void> {
    this.closing = true;
    await this.within(withinMs, this.close());
  }

  private listener() {
    const { host, log, metrics, ownershipMs } = this.settings;
    return {
      mayClaim: (partitionId: string) => {
        if (this.closing || (this.refusedUntil.get(partitionId) ?? 0) > host.monotonic()) return false;
        return !this.stop.aborted || this.current.get(partitionId)?.held.isLeaving === false;
      },
      unlisted: (sentAt: number) => {
        this.reachedAt = host.monotonic();
        // See `renewed`. But whoever stood still cannot say what others were answered meanwhile.
        const askedAt = this.reachedAt - sentAt > ownershipMs * STOOD_STILL ? sentAt : this.reachedAt;
        for (const { held } of this.readings) held.renewed(askedAt);
      },
      listed: (owners: readonly Ownership[]) => {
        this.reachedAt = host.monotonic();
        this.events.listed(owners);
        this.looks += 1;
        // The second look without trouble: what the first one wanted was claimed, or somebody else has it.
        if (this.looks > 1 && this.troubles === 0 && this.unreadSince.size === 0) this.events.balanced();
        this.troubles = 0;
      },
      claimed: (partitionId: string, sentAt: number) => {
        metrics.count('leaseRenewals', { result: 'written' });
        this.claimedAt.set(partitionId, sentAt);
        this.current.get(partitionId)?.held.renewed(sentAt);
      },
      unanswered: (partitionId: string, sentAt: number) => this.current.get(partitionId)?.held.renewed(sentAt),
      lost: (partitionId: string, owner: string) => {
        this.lose(this.current.get(partitionId), 'stolen');
        if (owner !== '') this.unreadSince.delete(partitionId);
      },
      unreadable: (partitionId: string, why: string) => {
        this.refusedUntil.set(partitionId, host.monotonic() + ownershipMs);
        log.error({ partition: partitionId }, `a partition is not read: ${why}. ${REPAIR}`);
        this.events.refused(partitionId, why);
      },
    };
  }

  private begin(context: PartitionContext): void {
    const { host, log, metrics, ownershipMs, checkpointEveryMs } = this.settings;
    const { partitionId } = context;
    const { store } = this;
    const group = groupOf(context);
    const namespace = this.settings.namespace ?? group.fullyQualifiedNamespace;
    const hub = { group, namespace, hubCreatedOn: store.hubCreatedOn };
    const deps = { store, ...hub, host, log, metrics, ownershipMs, checkpointEveryMs };
    const claimedAt = this.claimedAt.get(partitionId) ?? host.monotonic();
    const start = store.startOf(partitionId);
    const held = new HeldPartition(deps, partitionId, claimedAt, start?.kind === 'behind' ? start.place : undefined);
    if (start?.kind === 'other-hub') {
      log.error({ partition: held.id, checkpoint: start.place.sequenceNumber }, OTHER_HUB);
    }
    this.lose(this.current.get(partitionId), 'replaced');
    const reading = new Reading(held, host);
    this.current.set(partitionId, reading);
    this.byPump.set(context, reading);
    // A client that takes long to close still begins what it had claimed.
    if (this.closing) {
      this.lose(reading, 'closed');
      return;
    }
    this.events.balanced();
    metrics.count('leasesTaken', { how: 'claimed' });
    log.info({ partition: held.id, after: held.start?.sequenceNumber ?? null }, 'a partition is read');
    this.countHeld();
  }

  /** Never rejects with anything that the client could take for transient: it would skip the batch. */
  private async take(events: readonly ReceivedEventData[], context: PartitionContext): Promise<void> {
    const reading = this.byPump.get(context);
    if (reading === undefined || reading.held.signal.aborted) throw new PartitionOver('The partition was lost');
    this.unreadSince.delete(context.partitionId);
    this.refusals.delete(context.partitionId);
    if (events.length === 0) return;
    const { held } = reading;
    if (this.stop.aborted) {
      // Held back, not skipped: the partition is given up before this ends.
      await aborted(held.signal);
      throw new PartitionOver('The worker stops');
    }
    const begun = this.settings.host.monotonic();
    await this.handOver(reading, events).catch((error: unknown) => {
      this.settings.log.error(
        { partition: held.id, error: errorText(error) },
        'a batch was not taken; it is read again',
      );
      this.lose(reading, 'failed');
    });
    if (this.settings.host.monotonic() - begun > ASK_AFTER_MS) await this.askWhetherHeld(reading, groupOf(context));
    if (held.signal.aborted) throw new PartitionOver('The partition was lost');
  }

  private async handOver(reading: Reading, events: readonly ReceivedEventData[]): Promise<void> {
    const { held } = reading;
    const { lastDelivered } = held;
    const [oldest] = events;
    const { start } = held;
    if (start !== undefined && lastDelivered === start.sequenceNumber && oldest !== undefined) {
      // Behind the checkpoint's offset there are only higher numbers, unless they began again.
      const below = oldest.sequenceNumber <= start.sequenceNumber;
      if (below) return this.readAnew(reading, oldest.sequenceNumber - 1);
    }
    const fresh = events.filter(({ sequenceNumber, offset }) => held.delivered({ sequenceNumber, offset }));
    const [first] = fresh;
    if (first === undefined) return;
    const gap = lastDelivered === undefined ? 0 : first.sequenceNumber - lastDelivered - 1;
    if (gap > 0) {
      if (lastDelivered === start?.sequenceNumber) reportExpired(reading, gap, this.settings.log);
      else void this.reportOvertaken(reading, first.sequenceNumber - gap, first.sequenceNumber);
    }
    this.events.heard(held.partitionId);
    await reading.handOver(fresh.at(-1)?.enqueuedTimeUtc.getTime(), () =>
      this.consumer.deliver(held, fresh.map(deliveryOf)),
    );
  }

  /**
   * Numbers were left out between two events of a partition that is read: the hub may have deleted them first, as it does
   * when a consumer stood still for as long as it keeps events. Transactions and compaction leave numbers out as well, so
   * what the hub says is believed; when it says nothing, the worst is.
   */
  private async reportOvertaken(reading: Reading, from: number, next: number): Promise<void> {
    const asked = this.client.getPartitionProperties(reading.held.partitionId);
    const oldest = await asked.then(
      (found) => found.beginningSequenceNumber,
      () => next,
    );
    const expired = Math.min(oldest, next) - from;
    if (expired > 0) reportExpired(reading, expired, this.settings.log);
  }

  /** The client would take a partition back that was stolen meanwhile. */
  private async askWhetherHeld({ held }: Reading, group: GroupName): Promise<void> {
    if (held.signal.aborted || held.isLeaving) return;
    // A storage that fails says nothing: whoever takes the partition takes the link as well.
    await this.store.stillOwns(group, held.partitionId).catch(() => undefined);
  }

  /** What is read of a hub that is no more is given up; of the one that has its name now it is read from the start. */
  async leaveFormerHub(withinMs: number): Promise<void> {
    let createdOn: number | undefined;
    const asked = this.hubCreatedOn().then((time) => {
      createdOn = time;
    });
    await this.within(
      withinMs,
      asked.catch(() => undefined),
    );
    if (createdOn === undefined) return;
    for (const reading of this.readings) {
      const { hubCreatedOn } = reading.held.deps;
      if (hubCreatedOn !== undefined && !isSameHub(hubCreatedOn, createdOn)) this.lose(reading, 'renumbered');
    }
  }

  private async hubCreatedOn(): Promise<number | undefined> {
    const { createdOn, partitionIds } = await this.client.getEventHubProperties();
    this.partitionIds = partitionIds;
    const time = new Date(createdOn).getTime();
    return Number.isNaN(time) ? undefined : time;
  }

  /**
   * The hub was made anew, or is another one: its numbers began again. The ledger knows what was charged before.
   * @param beyond the checkpoint is deleted when it is above this number
   */
  async readAnew(reading: Reading, beyond: number): Promise<void> {
    const { log } = this.settings;
    const { held } = reading;
    log.error(
      { partition: held.id, checkpoint: held.lastDelivered ?? null, last: beyond },
      'the checkpoint is beyond the last event of the hub: it is another hub now, read from its oldest event',
    );
    this.lose(reading, 'renumbered');
    await this.store.dropCheckpoint(held.deps.group, held.partitionId, beyond).catch((error: unknown) => {
      log.warn({ partition: held.id, error: errorText(error) }, 'a checkpoint could not be deleted; trying again');
    });
  }

  private async onError(error: Error, context: PartitionContext): Promise<void> {
    if (error instanceof PartitionOver || this.closing || this.stop.aborted) return;
    const { partitionId } = context;
    const reading = this.byPump.get(context);
    if (isLinkStolen(error)) {
      this.lose(reading, 'stolen');
      return;
    }
    const start = reading?.held.start;
    if (reading !== undefined && start !== undefined && isPlaceRefused(error)) {
      const times = (this.refusals.get(partitionId) ?? 0) + 1;
      this.refusals.set(partitionId, times);
      if (times >= REFUSALS) return this.readAnew(reading, start.sequenceNumber - 1);
    }
    if (isEntityMissing(error)) {
      const { eventHubName, consumerGroup } = this.settings;
      const what = `The hub ${eventHubName} or its consumer group ${consumerGroup} does not exist`;
      this.events.failed(new Error(`${what} (${errorText(error)}). Create it, or correct its name.`));
      return;
    }
    if (partitionId === '') this.balancingFailed(error);
    const refused = isRefused(error) ? `${ROLES}: ` : '';
    const fields = partitionId === '' ? {} : { partition: partitionId };
    this.settings.log.warn(
      { ...fields, error: errorText(error) },
      `${refused}the hub or its container failed; going on`,
    );
  }

  private balancingFailed(error: Error): void {
    const { host, metrics, ownershipMs } = this.settings;
    this.troubles += 1;
    // While nothing can be claimed, that nothing is read says nothing of a partition.
    this.unreadSince.clear();
    metrics.count('leaseRenewals', { result: isThrottled(error) ? 'throttled' : 'failed' });
    this.events.troubled(errorText(error));
    if (host.monotonic() - this.reachedAt > ownershipMs / (2 * LOOKS_PER_OWNERSHIP)) void this.askWhoOwns();
  }

  /** It was the hub that failed, before the storage was asked; others may well have taken what is held here. */
  private async askWhoOwns(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    await Promise.all(
      this.readings.map(async ({ held }) => {
        const askedAt = this.settings.host.monotonic();
        const mine = await this.store.stillOwns(held.deps.group, held.partitionId).catch(() => true);
        if (mine) held.renewed(askedAt);
      }),
    );
    this.asking = false;
  }

  private async end(reason: CloseReason, context: PartitionContext): Promise<void> {
    const reading = this.byPump.get(context);
    if (reading === undefined || this.closing || this.stop.aborted) return;
    const stolen = reason === CloseReason.OwnershipLost;
    this.lose(reading, stolen ? 'stolen' : 'closed');
    const { partitionId } = context;
    if (!stolen && !this.unreadSince.has(partitionId)) {
      this.unreadSince.set(partitionId, this.settings.host.monotonic());
    }
    if (this.current.get(partitionId) === reading) this.current.delete(partitionId);
    // The client would leave it owned and unread until the ownership expires.
    await this.giveBack(reading);
  }

  private async giveBack({ held }: Reading): Promise<void> {
    await this.store.release(held.deps.group, held.partitionId).catch((error: unknown) => {
      const fields = { partition: held.id, error: errorText(error) };
      this.settings.log.warn(fields, 'a partition could not be given up; others take it when its ownership expires');
    });
  }

  private lose(reading: Reading | undefined, reason: string): void {
    reading?.held.lose(reason);
    this.countHeld();
  }

  private countHeld(): void {
    this.settings.metrics.gauge('leasesHeld', this.readings.length);
  }

  private async close(): Promise<void> {
    const complain = (error: unknown) =>
      this.settings.log.warn({ error: errorText(error) }, 'the connection to the hub was not closed cleanly');
    await this.subscription?.close().catch(complain);
    await this.client.close().catch(complain);
  }

  /** A client that does not close must hold up neither the next one nor the stop. */
  private async within(withinMs: number, work: Promise<unknown>): Promise<void> {
    const done = new AbortController();
    await Promise.race([work, this.settings.host.sleep(withinMs, done.signal)]);
    done.abort();
  }
}

function groupOf({ fullyQualifiedNamespace, eventHubName, consumerGroup }: PartitionContext): GroupName {
  return { fullyQualifiedNamespace, eventHubName, consumerGroup };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
