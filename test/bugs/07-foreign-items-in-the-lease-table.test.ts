/**
 * Reported of the Java client 2.x: one item in the lease table that is no lease, written by a newer version or by hand,
 * and lease taking stops for the whole fleet.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Item, parseItem } from '../../runtime/sources/kinesis/lease-item';
import {
  type AwsLocal,
  createLeaseTable,
  createStream,
  leaseItems,
  put,
  putItem,
  startAwsLocal,
} from '../support/aws-local';
import { startWorker } from '../support/kinesis-worker';
import { until } from '../support/until';

const LEASE: Item = {
  leaseKey: { S: 'shardId-000000000001' },
  leaseCounter: { N: '3' },
  checkpoint: { S: 'TRIM_HORIZON' },
};

/** What is found beside the leases: written by newer Java workers, by other tools, by accident. */
const FOREIGN: readonly (readonly [string, Item, string])[] = [
  ['a worker’s metrics', { leaseKey: { S: 'java-1' }, entityType: { S: 'WORKER_METRIC_STATS' } }, 'entityType'],
  ['an older worker’s metrics', { leaseKey: { S: 'java-2' }, lut: { N: '1' } }, 'no leaseCounter'],
  ['the leader lock', { leaseKey: { S: 'Leader' }, entityType: { S: 'LEADER' } }, 'entityType'],
  ['a stream of a multi-stream fleet', { ...LEASE, leaseKey: { S: '1:s:1:shardId-000000000000' } }, 'no shard id'],
  ['a lease with a counter of text', { ...LEASE, leaseCounter: { S: '3' } }, 'leaseCounter is no whole number'],
  ['a lease with a broken counter', { ...LEASE, leaseCounter: { N: '1.5' } }, 'leaseCounter is no whole number'],
  ['a lease without checkpoint', { leaseKey: LEASE.leaseKey!, leaseCounter: { N: '3' } }, 'checkpoint is missing'],
  ['a lease with a broken checkpoint', { ...LEASE, checkpoint: { S: 'soon' } }, 'checkpoint is "soon"'],
  ['an item of numbers', { leaseKey: { S: 'x' }, entityType: { N: '1' }, leaseCounter: { N: '1' } }, 'not text'],
];

let aws: AwsLocal;
beforeAll(async () => {
  aws = await startAwsLocal();
});
afterAll(() => aws.stop());

it.each(FOREIGN)('%s is told apart, with the reason', (_what, item, why) => {
  expect(parseItem(item)).toMatchObject({ kind: 'foreign', why: expect.stringContaining(why) });
});

it('a lease of any version is understood', () => {
  expect(parseItem(LEASE)).toMatchObject({ kind: 'lease', lease: { counter: 3n } });
  const newer = { ...LEASE, entityType: { S: 'LEASE' }, throughputKBps: { N: '1.5' }, checkpointOwner: { S: 'x' } };
  expect(parseItem(newer)).toMatchObject({ kind: 'lease', lease: { key: 'shardId-000000000001' } });
});

it('they are skipped, reported once each and counted; nothing is done to them and the real shard is read', async () => {
  await createStream(aws.kinesis, 's', 1);
  await createLeaseTable(aws.dynamodb, 'leases');
  const distinct = new Map(FOREIGN.map(([, item]) => [item.leaseKey?.S ?? '', item]));
  for (const item of distinct.values()) await putItem(aws.dynamodb, 'leases', item);
  await put(aws.kinesis, 's', 'c', 'event');
  const worker = startWorker({ streamName: 's', leaseTableName: 'leases', workerId: 'w', clients: aws });
  await until('the real shard is read', () => worker.consumer.texts.includes('event'));
  const renewals = worker.metrics.counted('leaseRenewals{written}');
  await until('a few looks are over', () => worker.metrics.counted('leaseRenewals{written}') > renewals + 4);
  expect(worker.metrics.gauges.get('foreignItems')).toBe(distinct.size);
  expect(worker.log.matching('is no lease of this stream')).toHaveLength(distinct.size);
  const items = await leaseItems(aws.dynamodb, 'leases');
  for (const [key, item] of distinct) expect(items.get(key)).toEqual(item);
  expect(items.size).toBe(distinct.size + 1);
  await worker.stop();
});

it('the bug: a reader that requires the counter of every item stops at the first foreign one', () => {
  const naive = (items: readonly Item[]) =>
    items.map((item) => {
      const counter = item.leaseCounter?.N;
      if (counter === undefined) throw new Error(`${item.leaseKey?.S} has no leaseCounter`);
      return BigInt(counter);
    });
  expect(naive([LEASE])).toEqual([3n]);
  expect(() => naive([LEASE, FOREIGN[0]?.[1] as Item])).toThrow('has no leaseCounter');
});
