/** Event Hubs as a source: Microsoft's event processor over a checkpoint container of our own rules. */
import {
  CloseReason,
  type EventHubConsumerClient,
  earliestEventPosition,
  type PartitionContext,
  type ReceivedEventData,
  type Subscription,
  type SubscriptionEventHandlers,
} from '@azure/event-hubs';
import type { ContainerClient } from '@azure/storage-blob';
import type { Host } from '../../host/host';
import type { Delivery, Log, Metrics, PartitionConsumer, Source } from '../../processor/ports';
import { errorText, isForbidden } from './azure-errors';
import type { GroupName } from './blob-names';
import { BlobStore } from './blob-store';
import { HeldPartition } from './held-partition';
import { Reading } from './reading';

export interface EventHubsSourceOptions {
  /** Makes a client; called again when the watchdog replaces one. */
  readonly connect: (store: BlobStore) => EventHubConsumerClient;
  readonly eventHubName: string;
  readonly consumerGroup: string;
  /** Ownership and checkpoints: a container that nothing else uses. */
  readonly container: ContainerClient;
  /** Start of the owner name; the rest is random, so that no two starts share a name. */
  readonly workerId: string;
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Ownership that is not claimed anew for so long is free. The same for every worker. Default: 60,000. */
  readonly ownershipMs?: number;
  /** Events of a batch at most. Default: 500. */
  readonly batchSize?: number;
  /** How long work in flight may take after the stop. Default: 100,000. */
  readonly drainTimeoutMs?: number;
  /** A partition that is silent for so long although the hub has more is connected anew. Default: 60,000. */
  readonly stallMs?: number;
  /** How long an identity may be refused at the start, since role assignments take minutes. Default: 600,000. */
  readonly patienceMs?: number;
}

/** A handler that rejects with this ends its pump; it is not `retryable`, or the client would skip the batch. */
class PartitionOver extends Error {}

const WATCH_MS = 10_000;

/** A source over one hub. Opens nothing before `run`. */
export function createEventHubsSource(options: EventHubsSourceOptions): Source {
  return new EventHubsSource(options);
}

class EventHubsSource implements Source {
  private readonly store: BlobStore;
  private readonly readings = new Map<string, Reading>();
  private readonly claimedAt = new Map<string, number>();
  private group: GroupName | undefined;
  private consumer: PartitionConsumer | undefined;
  private trouble: string | undefined = 'the event hub has not answered yet';
  private balanced = false;
  private startedAt = 0;
  private readonly stopping = new AbortController();
  private rebuild = new AbortController();
  private failure: Error | undefined;

  constructor(private readonly options: EventHubsSourceOptions) {
    const { container, host, workerId } = options;
    const listener = {
      claimed: (partitionId: string, sentAt: number) => this.claimed(partitionId, sentAt),
      lost: (partitionId: string) => this.readings.get(partitionId)?.held.lose('stolen'),
    };
    this.store = new BlobStore({ container, host, owner: `${workerId}:${host.uuid()}`, listener });
  }

  notReady(): string | undefined {
    return this.trouble;
  }

  async run(consumer: PartitionConsumer, signal: AbortSignal): Promise<void> {
    const { host, log } = this.options;
    this.consumer = consumer;
    this.startedAt = host.monotonic();
    signal.addEventListener('abort', () => this.stopping.abort(), { once: true });
    if (signal.aborted) this.stopping.abort();
    while (!this.stopping.signal.aborted && this.failure === undefined) {
      this.rebuild = new AbortController();
      const client = this.options.connect(this.store);
      const subscription = this.subscribe(client);
      await this.watch(client);
      if (this.stopping.signal.aborted || this.failure !== undefined) await this.drain(consumer, subscription, client);
      else {
        log.warn({ hub: this.options.eventHubName }, 'connecting to the hub anew');
        for (const { held } of this.readings.values()) held.lose('silent');
        await this.within(this.close(subscription, client));
      }
    }
    if (this.failure !== undefined) throw this.failure;
  }

  private subscribe(client: EventHubConsumerClient): Subscription {
    const handlers: SubscriptionEventHandlers = {
      processInitialize: async (context) => this.begin(context),
      processEvents: (events, context) => this.take(events, context),
      processError: async (error, context) => this.onError(error, context),
      processClose: async (reason, context) => this.end(reason, context),
    };
    return client.subscribe(handlers, {
      startPosition: earliestEventPosition,
      maxBatchSize: this.options.batchSize ?? 500,
      maxWaitTimeInSeconds: 5,
      skipParsingBodyAsJson: true,
    });
  }

  private claimed(partitionId: string, sentAt: number): void {
    this.claimedAt.set(partitionId, sentAt);
    this.readings.get(partitionId)?.held.renewed(sentAt);
    this.seenWell();
  }

  private begin(context: PartitionContext): void {
    const { host, log, metrics, ownershipMs = 60_000 } = this.options;
    const { partitionId, fullyQualifiedNamespace, eventHubName, consumerGroup } = context;
    this.group = { fullyQualifiedNamespace, eventHubName, consumerGroup };
    this.readings.get(partitionId)?.held.lose('replaced');
    const deps = { store: this.store, group: this.group, host, log, metrics, ownershipMs };
    const held = new HeldPartition(deps, partitionId, this.claimedAt.get(partitionId) ?? host.monotonic());
    this.readings.set(partitionId, new Reading(held, host));
    metrics.count('leasesTaken', { how: 'claimed' });
    this.countHeld();
  }

  /** Never rejects with anything that the client could take for transient: it would skip the batch. */
  private async take(events: readonly ReceivedEventData[], { partitionId }: PartitionContext): Promise<void> {
    this.seenWell();
    const reading = this.readings.get(partitionId);
    if (reading === undefined || reading.held.signal.aborted) throw new PartitionOver('The partition was lost');
    if (events.length === 0) return;
    if (this.stopping.signal.aborted) {
      // Held back, not skipped: the partition is given up before this ends.
      await aborted(reading.held.signal);
      throw new PartitionOver('The worker stops');
    }
    const { held } = reading;
    await reading.handOver(async () => {
      for (const { sequenceNumber, offset } of events) held.delivered({ sequenceNumber, offset });
      await this.consumer?.deliver(held, events.map(deliveryOf));
    });
    if (held.signal.aborted) throw new PartitionOver('The partition was lost');
  }

  private onError(error: Error, { partitionId }: PartitionContext): void {
    if (error instanceof PartitionOver) return;
    const { log, host, patienceMs = 600_000 } = this.options;
    const text = errorText(error);
    if ('code' in error && error.code === 'ReceiverDisconnectedError') {
      this.readings.get(partitionId)?.held.lose('stolen');
      return;
    }
    if (!this.balanced && isForbidden(error)) {
      const waited = host.monotonic() - this.startedAt;
      this.trouble = `the identity is refused: ${text}`;
      log.warn(
        { error: text, waitedMs: Math.round(waited) },
        'the identity is refused; a new role takes minutes to arrive',
      );
      if (waited > patienceMs) {
        this.failure = new Error(
          `The hub or its checkpoint container refused this identity for ${Math.round(waited / 60_000)} min: ${text}. ` +
            'It needs Azure Event Hubs Data Receiver on the hub and Storage Blob Data Contributor on the container.',
        );
        this.rebuild.abort();
      }
      return;
    }
    if (!this.balanced) this.trouble = text;
    log.warn(
      { ...(partitionId === '' ? {} : { partition: partitionId }), error: text },
      'the hub or its container failed',
    );
  }

  private async end(reason: CloseReason, { partitionId }: PartitionContext): Promise<void> {
    const reading = this.readings.get(partitionId);
    if (reading === undefined) return;
    if (this.stopping.signal.aborted) return;
    reading.held.lose(reason === CloseReason.OwnershipLost ? 'stolen' : 'closed');
    this.readings.delete(partitionId);
    this.countHeld();
    // The client would leave it owned and unread until the ownership expires.
    if (this.group !== undefined && reason === CloseReason.Shutdown) {
      await this.store.release(this.group, partitionId).catch(() => undefined);
    }
  }

  private seenWell(): void {
    this.balanced = true;
    this.trouble = undefined;
  }

  private countHeld(): void {
    const held = [...this.readings.values()].filter((reading) => !reading.held.signal.aborted);
    this.options.metrics.gauge('leasesHeld', held.length);
  }

  /** Until the stop, or until a partition is silent although the hub has more. */
  private async watch(client: EventHubConsumerClient): Promise<void> {
    const { host, log, metrics, stallMs = 60_000 } = this.options;
    const over = AbortSignal.any([this.stopping.signal, this.rebuild.signal]);
    while (!over.aborted) {
      await host.sleep(Math.min(WATCH_MS, stallMs / 2), over);
      let lag = 0;
      for (const [partitionId, reading] of this.readings) {
        if (over.aborted || reading.held.signal.aborted) continue;
        const last = await this.lastEnqueued(client, partitionId);
        if (last === undefined) continue;
        lag = Math.max(lag, last - (reading.held.finishedUpTo ?? -1));
        if (!reading.isSilent(last, stallMs)) continue;
        log.error({ partition: reading.held.id, last, delivered: reading.held.lastDelivered }, 'a partition is silent');
        metrics.count('silentPartitions');
        this.trouble = `partition ${partitionId} is silent although the hub has more`;
        this.rebuild.abort();
      }
      metrics.gauge('consumerLag', lag);
    }
  }

  private async lastEnqueued(client: EventHubConsumerClient, partitionId: string): Promise<number | undefined> {
    try {
      return (await client.getPartitionProperties(partitionId)).lastEnqueuedSequenceNumber;
    } catch (error) {
      this.options.log.debug(
        { partition: partitionId, error: errorText(error) },
        'a partition did not describe itself',
      );
      return undefined;
    }
  }

  /** Work in flight, then the last checkpoints, then the ownership, then the connection; or the deadline. */
  private async drain(
    consumer: PartitionConsumer,
    subscription: Subscription,
    client: EventHubConsumerClient,
  ): Promise<void> {
    const { host, log, drainTimeoutMs = 100_000 } = this.options;
    const done = new AbortController();
    const late = new AbortController();
    const deadline = host.sleep(drainTimeoutMs, done.signal).then(() => late.abort());
    await Promise.all(
      [...this.readings.values()].map(async ({ held }) => {
        const finished = await Promise.race([consumer.finished(held), deadline.then(() => undefined)]);
        if (finished === undefined) log.warn({ partition: held.id }, 'work in flight outlasts the drain; leaving it');
        await held.release(late.signal);
      }),
    );
    await Promise.race([this.close(subscription, client), deadline]);
    done.abort();
  }

  private async close(subscription: Subscription, client: EventHubConsumerClient): Promise<void> {
    await subscription.close().catch((error: unknown) => this.complainOfClose(error));
    await client.close().catch((error: unknown) => this.complainOfClose(error));
  }

  private complainOfClose(error: unknown): void {
    this.options.log.warn({ error: errorText(error) }, 'the connection to the hub was not closed cleanly');
  }

  /** A client that does not close must not keep the next one from starting. */
  private async within(work: Promise<void>): Promise<void> {
    const done = new AbortController();
    await Promise.race([work, this.options.host.sleep(WATCH_MS, done.signal)]);
    done.abort();
  }
}

function deliveryOf(event: ReceivedEventData): Delivery {
  return {
    body: bytesOf(event.body),
    position: String(event.sequenceNumber),
    partitionKey: event.partitionKey ?? '',
    enqueuedAt: event.enqueuedTimeUtc.getTime(),
  };
}

/** As it was sent: bodies are not parsed by the client. A body that is no data section is written as JSON, to be judged. */
function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
