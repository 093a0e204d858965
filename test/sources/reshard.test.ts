import { MergeShardsCommand, SplitShardCommand } from '@aws-sdk/client-kinesis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startAwsFaultProxy } from '../support/aws-fault-proxy';
import {
  type AwsLocal,
  createLeaseTable,
  createStream,
  leaseItems,
  localClients,
  put,
  shardsOf,
  startAwsLocal,
  streamActive,
} from '../support/aws-local';
import { startWorker } from '../support/kinesis-worker';
import { RecordingConsumer } from '../support/recording-consumer';
import { until } from '../support/until';

let aws: AwsLocal;
beforeAll(async () => {
  aws = await startAwsLocal();
});
afterAll(() => aws.stop());

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

it('through a split, a merge and expired iterators every record is read once, in the order of its key', async () => {
  await createStream(aws.kinesis, 'grow', 1);
  await createLeaseTable(aws.dynamodb, 'grow-leases');
  const proxy = await startAwsFaultProxy({ target: aws.kinesisEndpoint });
  const clients = localClients(proxy.endpoint, aws.dynamodbEndpoint, 3_000);
  let produced = 0;
  const produce = async (rounds: number) => {
    for (let i = 0; i < rounds; i++) {
      for (const key of KEYS) await put(aws.kinesis, 'grow', key, `${key}:${String(produced).padStart(6, '0')}`);
      produced++;
    }
  };
  await produce(3);
  const worker = startWorker({
    streamName: 'grow',
    leaseTableName: 'grow-leases',
    workerId: 'w',
    leaseDurationMs: 3_000,
    batchSize: 7,
    clients,
  });
  await until('the first records are read', () => worker.consumer.records.length > 5);
  await aws.kinesis.send(
    new SplitShardCommand({
      StreamName: 'grow',
      ShardToSplit: 'shardId-000000000000',
      NewStartingHashKey: String(2n ** 127n - 1n),
    }),
  );
  await streamActive(aws.kinesis, 'grow');
  await produce(5);
  const expired = proxy.inject({
    operation: 'GetRecords',
    times: 4,
    action: { kind: 'refuse', status: 400, type: 'ExpiredIteratorException' },
  });
  await until('the iterators have expired', () => expired.hits === 4);
  await until('the children are read', () => worker.consumer.shardsRead().size === 3);
  await aws.kinesis.send(
    new MergeShardsCommand({
      StreamName: 'grow',
      ShardToMerge: 'shardId-000000000001',
      AdjacentShardToMerge: 'shardId-000000000002',
    }),
  );
  await streamActive(aws.kinesis, 'grow');
  await produce(4);
  await until('everything is read', () => worker.consumer.records.length >= produced * KEYS.length);
  expect(worker.consumer.shardsRead().size).toBe(4);
  expect(worker.consumer.records).toHaveLength(produced * KEYS.length);
  for (const key of KEYS) {
    const mine = worker.consumer.texts.filter((text) => text.startsWith(`${key}:`));
    expect(mine).toEqual([...mine].sort());
    expect(new Set(mine).size).toBe(produced);
  }
  expect(await shardsOf(aws.kinesis, 'grow')).toHaveLength(4);
  await until('the finished shards have no lease any more', async () => {
    const keys = [...(await leaseItems(aws.dynamodb, 'grow-leases')).keys()];
    return keys.length === 1 && keys[0] === 'shardId-000000000003';
  });
  expect([...worker.metrics.counters.keys()].filter((key) => key.startsWith('leasesLost'))).toEqual([]);
  await worker.stop();
  clients.destroy();
  await proxy.stop();
});

it('a worker that comes later reads parents before their children, and a merge child after both', async () => {
  await createStream(aws.kinesis, 'late', 2);
  await createLeaseTable(aws.dynamodb, 'late-leases');
  const low = '1';
  const high = String(2n ** 128n - 2n);
  for (const [i, hashKey] of [low, high, low, high].entries()) await put(aws.kinesis, 'late', 'k', `old-${i}`, hashKey);
  await aws.kinesis.send(
    new MergeShardsCommand({
      StreamName: 'late',
      ShardToMerge: 'shardId-000000000000',
      AdjacentShardToMerge: 'shardId-000000000001',
    }),
  );
  await streamActive(aws.kinesis, 'late');
  for (let i = 0; i < 4; i++) await put(aws.kinesis, 'late', 'k', `new-${i}`);
  const options = { streamName: 'late', leaseTableName: 'late-leases', leaseDurationMs: 3_000, clients: aws };
  const workers = [startWorker({ ...options, workerId: 'x' }), startWorker({ ...options, workerId: 'y' })];
  const order: string[] = [];
  for (const { consumer } of workers) {
    consumer.onDeliver = async (_partition, batch) => {
      order.push(...batch.map((delivery) => Buffer.from(delivery.body).toString()));
    };
  }
  await until('everything is read', () => new Set(order).size === 8);
  const firstNew = order.findIndex((text) => text.startsWith('new'));
  const lastOld = order.findLastIndex((text) => text.startsWith('old'));
  expect(lastOld).toBeLessThan(firstNew);
  await Promise.all(workers.map((worker) => worker.stop()));
});

it('the child of a merge waits, though it is held, until its slower parent is read to its end', async () => {
  await createStream(aws.kinesis, 'slow', 2);
  await createLeaseTable(aws.dynamodb, 'slow-leases');
  await put(aws.kinesis, 'slow', 'k', 'fast parent', '1');
  await put(aws.kinesis, 'slow', 'k', 'slow parent', String(2n ** 128n - 2n));
  await aws.kinesis.send(
    new MergeShardsCommand({
      StreamName: 'slow',
      ShardToMerge: 'shardId-000000000000',
      AdjacentShardToMerge: 'shardId-000000000001',
    }),
  );
  await streamActive(aws.kinesis, 'slow');
  await put(aws.kinesis, 'slow', 'k', 'child');
  const consumer = new RecordingConsumer();
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  consumer.onDeliver = (_partition, batch) =>
    batch.some((delivery) => Buffer.from(delivery.body).includes('slow')) ? released : Promise.resolve();
  const options = { streamName: 'slow', leaseTableName: 'slow-leases', leaseDurationMs: 1_500, workerId: 'w' };
  const worker = startWorker({ ...options, clients: aws, consumer });
  await until('the child is held, and was renewed', async () => {
    const child = (await leaseItems(aws.dynamodb, 'slow-leases')).get('shardId-000000000002');
    return Number(child?.leaseCounter?.N ?? 0) >= 3;
  });
  expect(consumer.texts).toEqual(['fast parent']);
  release();
  await until('all is read', () => consumer.records.length === 3);
  expect(consumer.texts).toEqual(['fast parent', 'slow parent', 'child']);
  await worker.stop();
});

it('a shard does not end, and its children are not begun, while a record of it is unfinished', async () => {
  await createStream(aws.kinesis, 'open', 1);
  await createLeaseTable(aws.dynamodb, 'open-leases');
  await put(aws.kinesis, 'open', 'k', 'slow charge');
  const parent = 'shardId-000000000000';
  const split = { StreamName: 'open', ShardToSplit: parent, NewStartingHashKey: String(2n ** 127n) };
  await aws.kinesis.send(new SplitShardCommand(split));
  await streamActive(aws.kinesis, 'open');
  const consumer = new RecordingConsumer();
  consumer.finishes = () => false;
  let release: (finished: boolean) => void = () => undefined;
  let asked = false;
  const finished = new Promise<boolean>((resolve) => {
    release = resolve;
  });
  consumer.finished = () => {
    asked = true;
    return finished;
  };
  const options = { streamName: 'open', leaseTableName: 'open-leases', leaseDurationMs: 1_500, workerId: 'w' };
  const worker = startWorker({ ...options, clients: aws, consumer });
  await until('the shard is read to its end', () => asked);
  const renewals = worker.metrics.counted('leaseRenewals{written}');
  await until('its lease was renewed', () => worker.metrics.counted('leaseRenewals{written}') > renewals + 1);
  const before = await leaseItems(aws.dynamodb, 'open-leases');
  expect([...before.keys()]).toEqual([parent]);
  expect(before.get(parent)?.checkpoint?.S).toBe('TRIM_HORIZON');
  release(true);
  await until('the end is recorded', async () => {
    const after = await leaseItems(aws.dynamodb, 'open-leases');
    return after.size === 3 && after.get(parent)?.checkpoint?.S === 'SHARD_END';
  });
  const after = await leaseItems(aws.dynamodb, 'open-leases');
  expect(new Set(after.get(parent)?.childShardIds?.SS)).toEqual(
    new Set([...after.keys()].filter((id) => id !== parent)),
  );
  await worker.stop();
});
