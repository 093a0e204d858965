/**
 * Reads one shard from where its lease stands to its end, batch after batch. Never goes back and never skips:
 * a new iterator always continues after the last record *seen*.
 */
import {
  type _Record,
  type ChildShard,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type GetShardIteratorCommandInput,
  type KinesisClient,
} from '@aws-sdk/client-kinesis';
import type { Host } from '../../host/host';
import { dateOf } from '../../host/instant';
import type { Delivery, Log, PartitionConsumer } from '../../processor/ports';
import { errorName, errorText, isMissing, isThrottle } from './aws-errors';
import type { HeldLease } from './held-lease';
import { disaggregate, hashKeyOf } from './kpl';
import { watchLagDuring } from './lag-watch';
import { type Checkpoint, compareCheckpoints, formatPosition, isNumeric } from './positions';
import type { StreamRef } from './shards';

export interface ShardReaderDeps {
  readonly kinesis: KinesisClient;
  readonly stream: StreamRef;
  readonly host: Host;
  readonly log: Log;
  readonly batchSize: number;
  readonly pollIntervalMs: number;
  /** Where a lease at AT_TIMESTAMP begins, in milliseconds since the epoch. */
  readonly initialTimestampMs: number | undefined;
  readonly onBehind: (held: HeldLease, millisBehindLatest: number) => void;
}

export type ReadEnd =
  /** The shard was read to its end; its children continue it. */
  | { readonly kind: 'shard_end'; readonly children: readonly ChildShard[] }
  /** Kinesis says that there is no such shard. */
  | { readonly kind: 'gone' }
  /** Told to stop, or the lease ended. */
  | { readonly kind: 'stopped' };

/** Kinesis allows five reads a second and shard. */
const CATCH_UP_MS = 200;
const BACKOFF_MIN_MS = 200;
const BACKOFF_MAX_MS = 5_000;

/** Delivers until the shard ends, is gone, or the signal aborts. */
export async function readShard(
  deps: ShardReaderDeps,
  held: HeldLease,
  consumer: PartitionConsumer,
  signal: AbortSignal,
): Promise<ReadEnd> {
  const { host, log, kinesis } = deps;
  const place = new Place(deps, held);
  let iterator: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      iterator ??= await place.open(signal);
      if (iterator === undefined) throw new Error('Kinesis gave no shard iterator');
      const command = new GetRecordsCommand({ ShardIterator: iterator, Limit: deps.batchSize });
      const answer = await kinesis.send(command, { abortSignal: signal });
      failures = 0;
      const batch = place.take(answer.Records ?? []);
      deps.onBehind(held, answer.MillisBehindLatest ?? 0);
      if (batch.length > 0 && !signal.aborted) {
        const look = (during: AbortSignal) => lookAhead(deps, held, place, during);
        await watchLagDuring(consumer.deliver(held, batch), { host, look });
      }
      iterator = answer.NextShardIterator;
      if (iterator === undefined) {
        return signal.aborted ? { kind: 'stopped' } : { kind: 'shard_end', children: answer.ChildShards ?? [] };
      }
      const behind = (answer.MillisBehindLatest ?? 0) > 0;
      await host.sleep(behind ? CATCH_UP_MS : deps.pollIntervalMs, signal);
    } catch (error) {
      if (signal.aborted) break;
      if (isMissing(error)) return { kind: 'gone' };
      if (errorName(error) === 'ExpiredIteratorException') {
        log.info({ partition: held.id }, 'shard iterator expired; continuing after the last record seen');
        iterator = undefined;
      } else if (!isThrottle(error)) {
        log.warn({ partition: held.id, error: errorText(error) }, 'reading a shard failed; trying again');
      }
      const backoff = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** failures++);
      await host.sleep(backoff * (0.5 + 0.5 * host.random()), signal);
    }
  }
  return { kind: 'stopped' };
}

/** How far the next record is behind. The place does not move: it is read again when its turn comes. */
async function lookAhead(deps: ShardReaderDeps, held: HeldLease, place: Place, signal: AbortSignal): Promise<void> {
  const iterator = await place.open(signal);
  if (iterator === undefined) return;
  const command = new GetRecordsCommand({ ShardIterator: iterator, Limit: 1 });
  const { MillisBehindLatest: millis } = await deps.kinesis.send(command, { abortSignal: signal });
  if (millis !== undefined) deps.onBehind(held, millis);
}

/** How far one reader has come. */
class Place {
  /** Finished before this reader began: dropped when met again. */
  private readonly done: Checkpoint | undefined;
  private seen: string | undefined;
  private openedLatestAt: number | undefined;

  constructor(
    private readonly deps: ShardReaderDeps,
    private readonly held: HeldLease,
  ) {
    const start = held.progress;
    this.done = isNumeric(start) ? start : undefined;
  }

  /** A fresh iterator at this place. */
  async open(signal: AbortSignal): Promise<string | undefined> {
    const command = new GetShardIteratorCommand({
      ...this.deps.stream,
      ShardId: this.held.shardId,
      ...this.start(),
    });
    const answer = await this.deps.kinesis.send(command, { abortSignal: signal });
    return answer.ShardIterator;
  }

  /** The records as deliveries, without those that were finished before. */
  take(records: readonly _Record[]): Delivery[] {
    const batch: Delivery[] = [];
    for (const record of records) {
      const { SequenceNumber: sequence, Data: data } = record;
      if (sequence === undefined || data === undefined) continue;
      this.seen = sequence;
      batch.push(...this.deliveries(record, sequence, data));
    }
    return batch;
  }

  private deliveries(record: _Record, sequence: string, data: Uint8Array): Delivery[] {
    const enqueued = record.ApproximateArrivalTimestamp?.getTime();
    const common = enqueued === undefined ? {} : { enqueuedAt: enqueued };
    const parts = disaggregate(data);
    if (!parts) {
      if (this.finished(sequence, 0)) return [];
      return [{ body: data, position: formatPosition(sequence), partitionKey: record.PartitionKey ?? '', ...common }];
    }
    this.reportStrays(sequence, parts);
    return parts.flatMap(({ data: body, partitionKey }, sub) =>
      this.finished(sequence, sub) ? [] : [{ body, position: formatPosition(sequence, sub), partitionKey, ...common }],
    );
  }

  private finished(sequence: string, sub: number): boolean {
    return this.done !== undefined && compareCheckpoints({ sequence, sub }, this.done) <= 0;
  }

  /** A record whose key belongs to another shard is nowhere else, so it is delivered; the ledger knows doubles. */
  private reportStrays(sequence: string, parts: ReturnType<typeof disaggregate> & object): void {
    const range = this.held.current.hashRange;
    if (!range) return;
    const strays = parts.filter((part) => {
      const key = hashKeyOf(part);
      return key < range.start || key > range.end;
    }).length;
    if (strays === 0) return;
    const fields = { partition: this.held.id, sequence, strays };
    this.deps.log.warn(fields, 'an aggregated record holds records of another shard; delivered all the same');
  }

  private start(): Pick<GetShardIteratorCommandInput, 'ShardIteratorType' | 'StartingSequenceNumber' | 'Timestamp'> {
    if (this.seen !== undefined) {
      return { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', StartingSequenceNumber: this.seen };
    }
    // At, not after: the checkpoint may stand in the middle of an aggregate.
    if (this.done) return { ShardIteratorType: 'AT_SEQUENCE_NUMBER', StartingSequenceNumber: this.done.sequence };
    const { sequence } = this.held.progress;
    if (sequence === 'LATEST') return this.latest();
    if (sequence === 'AT_TIMESTAMP' && this.deps.initialTimestampMs !== undefined) {
      return { ShardIteratorType: 'AT_TIMESTAMP', Timestamp: dateOf(this.deps.initialTimestampMs) };
    }
    return { ShardIteratorType: 'TRIM_HORIZON' };
  }

  /** Latest means: from when the lease was created, or else from when this reader first opened the shard. */
  private latest(): Pick<GetShardIteratorCommandInput, 'ShardIteratorType' | 'Timestamp'> {
    const since = this.held.current.latestSince ?? this.openedLatestAt;
    if (since !== undefined) return { ShardIteratorType: 'AT_TIMESTAMP', Timestamp: dateOf(since) };
    this.openedLatestAt = this.deps.host.now();
    return { ShardIteratorType: 'LATEST' };
  }
}
