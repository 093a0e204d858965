/**
 * Reported: the lease of a child shard disappears from the table in mid-run, and nobody ever reads the shard, since
 * leases of children are created only at the end of their parents.
 */
import { SplitShardCommand } from '@aws-sdk/client-kinesis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Lease } from '../../runtime/sources/kinesis/lease-item';
import { SHARD_END, TRIM_HORIZON } from '../../runtime/sources/kinesis/positions';
import { holes, missingLeases } from '../../runtime/sources/kinesis/shard-sync';
import { listShards } from '../../runtime/sources/kinesis/shards';
import {
  type AwsLocal,
  createLeaseTable,
  createStream,
  deleteLease,
  leaseItems,
  put,
  startAwsLocal,
  streamActive,
} from '../support/aws-local';
import { startWorker } from '../support/kinesis-worker';
import { until } from '../support/until';

const PARENT = 'shardId-000000000000';
const LOW = 'shardId-000000000001';
const HIGH = 'shardId-000000000002';

let aws: AwsLocal;
beforeAll(async () => {
  aws = await startAwsLocal();
});
afterAll(() => aws.stop());

async function splitStream(name: string): Promise<void> {
  await createStream(aws.kinesis, name, 1);
  await createLeaseTable(aws.dynamodb, `${name}-leases`);
  await aws.kinesis.send(
    new SplitShardCommand({ StreamName: name, ShardToSplit: PARENT, NewStartingHashKey: String(2n ** 127n) }),
  );
  await streamActive(aws.kinesis, name);
}

it('a child that was being read goes on where it stood', async () => {
  await splitStream('held');
  const options = { streamName: 'held', leaseTableName: 'held-leases', leaseDurationMs: 3_000, clients: aws };
  const worker = startWorker({ ...options, workerId: 'w' });
  await put(aws.kinesis, 'held', 'k', 'before', '1');
  await until('the child is read', () => worker.consumer.texts.includes('before'));
  await deleteLease(aws.dynamodb, 'held-leases', LOW);
  await until('the loss is noticed', () => worker.metrics.counted('leasesLost{deleted}') === 1);
  await put(aws.kinesis, 'held', 'k', 'after', '1');
  await until('the child is read on', () => worker.consumer.texts.includes('after'));
  expect(worker.consumer.texts).toEqual(['before', 'after']);
  await worker.stop();
});

it('a child that nobody held is found by the audit and read from its first record', async () => {
  await splitStream('lost');
  const options = { streamName: 'lost', leaseTableName: 'lost-leases', leaseDurationMs: 3_000, clients: aws };
  const first = startWorker({ ...options, workerId: 'first' });
  await until('the parent is read to its end', async () => {
    return (await leaseItems(aws.dynamodb, 'lost-leases')).get(PARENT)?.checkpoint?.S === 'SHARD_END';
  });
  await first.stop();
  await deleteLease(aws.dynamodb, 'lost-leases', LOW);
  await put(aws.kinesis, 'lost', 'k', 'unread', '1');
  const second = startWorker({ ...options, workerId: 'second', initialPosition: 'LATEST' });
  await until('the record of the lost child is read', () => second.consumer.texts.includes('unread'));
  expect(second.log.matching('a shard had no lease')).toMatchObject([{ fields: { lease: LOW, from: 'TRIM_HORIZON' } }]);
  await second.stop();
});

it('the bug: what the end of the parent creates is all, and it leaves a hole that only the audit fills', async () => {
  await splitStream('twin');
  const shards = await listShards(aws.kinesis, { StreamName: 'twin' });
  const lease = (key: string, checkpoint = TRIM_HORIZON): Lease => ({
    key,
    checkpoint,
    counter: 1n,
    parents: [],
    children: [],
  });
  const afterEnd = [lease(PARENT, SHARD_END), lease(LOW), lease(HIGH)];
  const afterAccident = afterEnd.filter((one) => one.key !== LOW);
  expect(holes(afterEnd, shards)).toEqual([]);
  expect(holes(afterAccident, shards)).toEqual([{ start: 0n, end: 2n ** 127n - 1n }]);
  expect(missingLeases(shards, afterAccident, { sequence: 'LATEST', sub: 0 })).toMatchObject([{ key: LOW }]);
});
