/** Kinesis as a source: leases in DynamoDB, shards read by polling. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KinesisClient } from '@aws-sdk/client-kinesis';
import type { Host } from '../../host/host';
import type { Log, Metrics, PartitionConsumer, Source } from '../../processor/ports';
import { errorText } from './aws-errors';
import type { HeldLease } from './held-lease';
import { LeaseCoordinator } from './lease-coordinator';
import { LeaseStore, LeaseTableError } from './lease-store';
import { type InitialPosition, initialTimestamp } from './positions';
import { warnOfRetention } from './retention';
import { ShardCatalog, StreamMissingError } from './shard-catalog';
import { type ShardWorkerDeps, workShard } from './shard-worker';
import type { StreamRef } from './shards';

export interface KinesisSourceOptions {
  /** One of the two at least; with both, the ARN is used and must name the same stream. */
  readonly streamName?: string;
  readonly streamArn?: string;
  /** The table must exist; it is never created and never holds anything but leases. */
  readonly leaseTableName: string;
  /** Start of the owner name; the rest is random, so that no two starts share a name. */
  readonly workerId: string;
  /** The same for every worker of a table. */
  readonly leaseDurationMs: number;
  /** Where a stream is begun that nobody has read yet. Default: TRIM_HORIZON, the oldest record kept. */
  readonly initialPosition?: InitialPosition;
  readonly kinesis: KinesisClient;
  readonly dynamodb: DynamoDBClient;
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Records a read, at most 10,000. Default 1,000. */
  readonly batchSize?: number;
  /** Between two reads of a shard that has nothing new, at least 200. Default 1,000. */
  readonly pollIntervalMs?: number;
  /** How long work in flight may take after the stop. Default 100,000. */
  readonly drainTimeoutMs?: number;
  /** The most leases this worker holds. Default: no limit. */
  readonly maxLeases?: number;
  /** The most leases stolen from a busier worker in one look at the table. Default 1. */
  readonly maxLeasesToSteal?: number;
}

/** A source over one stream. Throws when an option is out of range; opens nothing before `run`. */
export function createKinesisSource(options: KinesisSourceOptions): Source {
  return new KinesisSource(options);
}

const RETRY_MS = 1_000;

class KinesisSource implements Source {
  private readonly stream: StreamRef;
  private readonly store: LeaseStore;
  private readonly catalog: ShardCatalog;
  private readonly coordinator: LeaseCoordinator;
  private readonly behind = new Map<HeldLease, number>();
  private readonly tasks = new Set<Promise<void>>();
  private start: ((held: HeldLease) => void) | undefined;
  private trouble: string | undefined;

  constructor(private readonly options: KinesisSourceOptions) {
    check(options);
    const { host, log, metrics, leaseDurationMs, initialPosition = 'TRIM_HORIZON' } = options;
    this.stream = streamOf(options);
    const owner = `${options.workerId}:${host.uuid()}`;
    this.store = new LeaseStore({ dynamodb: options.dynamodb, tableName: options.leaseTableName, owner });
    this.catalog = new ShardCatalog(options.kinesis, this.stream, host);
    this.coordinator = new LeaseCoordinator({
      store: this.store,
      catalog: this.catalog,
      host,
      log,
      metrics,
      owner,
      leaseDurationMs,
      initialPosition,
      streamName: options.streamName || nameInArn(options.streamArn ?? ''),
      maxLeases: options.maxLeases ?? Number.POSITIVE_INFINITY,
      maxSteal: options.maxLeasesToSteal ?? 1,
      onHeld: (held) => this.start?.(held),
    });
  }

  notReady(): string | undefined {
    const why = this.coordinator.notReady;
    return why === undefined || this.trouble === undefined ? why : `${why} (${this.trouble})`;
  }

  async run(consumer: PartitionConsumer, signal: AbortSignal): Promise<void> {
    const { host, log } = this.options;
    this.start = (held) => this.work(held, consumer, signal);
    await this.prepare(signal);
    if (!signal.aborted) await warnOfRetention(this.options.kinesis, this.stream, log, signal);
    while (!signal.aborted) {
      let wait = RETRY_MS;
      try {
        wait = await this.coordinator.look(signal);
        this.trouble = undefined;
      } catch (error) {
        this.trouble = errorText(error);
        log.warn({ error: this.trouble }, 'the lease table or the shard list could not be read; trying again');
      }
      await host.sleep(wait * (0.9 + 0.2 * host.random()), signal);
    }
    await this.drain(consumer);
  }

  /** Waits for table and stream to answer; a missing one is an error at once. */
  private async prepare(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.store.verifyTable();
        await this.catalog.refresh();
        this.coordinator.refuse(await this.store.migrationRefusal());
        return;
      } catch (error) {
        if (error instanceof LeaseTableError || error instanceof StreamMissingError) throw error;
        this.trouble = errorText(error);
        this.options.log.warn({ error: this.trouble }, 'the lease table or the stream does not answer; trying again');
        await this.options.host.sleep(RETRY_MS, signal);
      }
    }
  }

  private work(held: HeldLease, consumer: PartitionConsumer, stop: AbortSignal): void {
    held.signal.addEventListener('abort', () => this.setBehind(held, undefined), { once: true });
    const task = workShard(this.workerDeps(), held, consumer, stop).catch(async (error: unknown) => {
      // Whatever this is, a lease that is kept but not read would leave its shard unread for ever.
      this.options.log.error({ partition: held.id, error: errorText(error) }, 'work on a shard failed; giving it up');
      await held.release();
    });
    this.tasks.add(task);
    void task.finally(() => this.tasks.delete(task));
  }

  private workerDeps(): ShardWorkerDeps {
    const { kinesis, host, log, batchSize = 1_000, pollIntervalMs = 1_000 } = this.options;
    return {
      kinesis,
      stream: this.stream,
      host,
      log,
      batchSize,
      pollIntervalMs,
      parentPollMs: Math.min(5_000, this.options.leaseDurationMs / 2),
      initialTimestampMs: initialTimestamp(this.options.initialPosition ?? 'TRIM_HORIZON'),
      store: this.store,
      catalog: this.catalog,
      onBehind: (held, millis) => this.setBehind(held, millis),
    };
  }

  private setBehind(held: HeldLease, millis: number | undefined): void {
    if (millis === undefined || held.signal.aborted) this.behind.delete(held);
    else this.behind.set(held, millis);
    this.options.metrics.gauge('millisBehindLatest', Math.max(0, ...this.behind.values()));
  }

  /** Intake has stopped; waits for work in flight, then writes the last checkpoints and gives the leases up. */
  private async drain(consumer: PartitionConsumer): Promise<void> {
    const { host, log, drainTimeoutMs = 100_000 } = this.options;
    const over = new AbortController();
    const deadline = host.sleep(drainTimeoutMs, over.signal);
    await Promise.all(
      this.coordinator.holding.map(async (held) => {
        const done = await Promise.race([consumer.finished(held), deadline.then(() => undefined)]);
        if (done === undefined) log.warn({ partition: held.id }, 'work in flight outlasts the drain; leaving it');
        await held.release();
      }),
    );
    await Promise.race([Promise.allSettled([...this.tasks]), deadline]);
    over.abort();
  }
}

function check(options: KinesisSourceOptions): void {
  const inRange = (name: string, value: number | undefined, low: number, high: number): void => {
    if (value === undefined || (value >= low && value <= high)) return;
    throw new Error(`Kinesis source: ${name} is ${value}; allowed are ${low} to ${high}.`);
  };
  inRange('leaseDurationMs', options.leaseDurationMs, 500, 600_000);
  inRange('batchSize', options.batchSize, 1, 10_000);
  inRange('pollIntervalMs', options.pollIntervalMs, 200, 60_000);
  initialTimestamp(options.initialPosition ?? 'TRIM_HORIZON');
  if (options.workerId === '') throw new Error('Kinesis source: workerId is empty; give each process a name.');
}

function streamOf(options: KinesisSourceOptions): StreamRef {
  const { streamName, streamArn } = options;
  if (streamArn) {
    if (!streamName || nameInArn(streamArn) === streamName) return { StreamARN: streamArn };
    throw new Error(`Kinesis source: streamName is ${streamName}, but streamArn names ${nameInArn(streamArn)}.`);
  }
  if (streamName) return { StreamName: streamName };
  throw new Error('Kinesis source: neither streamName nor streamArn is given; say which stream to read.');
}

function nameInArn(arn: string): string {
  return arn.slice(arn.indexOf('/') + 1);
}
