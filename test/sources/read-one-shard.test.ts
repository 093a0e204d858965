import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AwsLocal, createLeaseTable, createStream, leaseItems, put, startAwsLocal } from '../support/aws-local';
import { startWorker } from '../support/kinesis-worker';
import { until } from '../support/until';

let aws: AwsLocal;
beforeAll(async () => {
  aws = await startAwsLocal();
});
afterAll(() => aws.stop());

it('reads one shard from its oldest record, checkpoints, gives the lease up, and the next worker resumes after it', async () => {
  await createStream(aws.kinesis, 'one', 1);
  await createLeaseTable(aws.dynamodb, 'one-leases');
  const sequences: string[] = [];
  for (let i = 0; i < 5; i++) sequences.push(await put(aws.kinesis, 'one', 'c', `event-${i}`));

  const first = startWorker({ streamName: 'one', leaseTableName: 'one-leases', workerId: 'a', clients: aws });
  expect(first.notReady()).toContain('has not been read yet');
  await until('five records are read', () => first.consumer.records.length === 5);
  expect(first.notReady()).toBeUndefined();
  await first.stop();

  expect(first.consumer.texts).toEqual(['event-0', 'event-1', 'event-2', 'event-3', 'event-4']);
  expect(first.consumer.records.map((record) => record.delivery.position)).toEqual(sequences);
  const lease = (await leaseItems(aws.dynamodb, 'one-leases')).get('shardId-000000000000');
  expect(lease?.checkpoint?.S).toBe(sequences[4]);
  expect(lease?.leaseOwner).toBeUndefined();

  await put(aws.kinesis, 'one', 'c', 'event-5');
  const second = startWorker({ streamName: 'one', leaseTableName: 'one-leases', workerId: 'b', clients: aws });
  await until('the next record is read', () => second.consumer.records.length > 0);
  await second.stop();
  expect(second.consumer.texts).toEqual(['event-5']);
});

it('reads by ARN, from a point in time', async () => {
  await createStream(aws.kinesis, 'when', 1);
  await createLeaseTable(aws.dynamodb, 'when-leases');
  await put(aws.kinesis, 'when', 'c', 'before');
  await new Promise((resolve) => setTimeout(resolve, 20));
  const instant = new Date().toISOString();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await put(aws.kinesis, 'when', 'c', 'after');
  const worker = startWorker({
    streamArn: 'arn:aws:kinesis:us-east-1:000000000000:stream/when',
    leaseTableName: 'when-leases',
    workerId: 'a',
    initialPosition: `AT_TIMESTAMP:${instant}`,
    clients: aws,
  });
  await until('something is read', () => worker.consumer.records.length > 0);
  await worker.stop();
  expect(worker.consumer.texts).toEqual(['after']);
  expect([...worker.consumer.shardsRead()]).toEqual(['kinesis/when/shardId-000000000000']);
});

it.each([
  [{ streamName: '' }, 'say which stream to read'],
  [{ streamName: 'a', streamArn: 'arn:aws:kinesis:eu-west-1:1:stream/b' }, 'streamArn names b'],
  [{ streamName: 'a', pollIntervalMs: 100 }, 'pollIntervalMs is 100; allowed are 200 to 60000'],
  [{ streamName: 'a', batchSize: 20_000 }, 'batchSize is 20000'],
  [{ streamName: 'a', leaseDurationMs: 0 }, 'leaseDurationMs is 0'],
  [{ streamName: 'a', workerId: '' }, 'workerId is empty'],
  [{ streamName: 'a', initialPosition: 'AT_TIMESTAMP:noon' as const }, 'ISO 8601'],
])('refuses %j', (options, why) => {
  expect(() => startWorker({ leaseTableName: 'leases', workerId: 'a', clients: aws, ...options })).toThrow(why);
});
