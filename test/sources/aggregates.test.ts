import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AwsLocal, createLeaseTable, createStream, leaseItems, put, startAwsLocal } from '../support/aws-local';
import { startWorker } from '../support/kinesis-worker';
import { aggregate } from '../support/kpl-aggregate';
import { RecordingConsumer } from '../support/recording-consumer';
import { until } from '../support/until';

let aws: AwsLocal;
beforeAll(async () => {
  aws = await startAwsLocal();
});
afterAll(() => aws.stop());

const parts = (texts: string[]) => texts.map((data) => ({ partitionKey: `key-${data}`, data }));

it('an aggregate comes apart, a checkpoint may stand in its middle, and the next worker goes on right after it', async () => {
  await createStream(aws.kinesis, 'kpl', 1);
  await createLeaseTable(aws.dynamodb, 'kpl-leases');
  await put(aws.kinesis, 'kpl', 'x', 'plain-1');
  const sequence = await put(aws.kinesis, 'kpl', 'x', aggregate(parts(['s0', 's1', 's2', 's3'])));
  await put(aws.kinesis, 'kpl', 'x', 'plain-2');
  const consumer = new RecordingConsumer();
  consumer.finishes = (record) => record.text !== 's2';
  const options = { streamName: 'kpl', leaseTableName: 'kpl-leases', clients: aws };
  const first = startWorker({ ...options, workerId: 'a', consumer });
  await until('all six are delivered', () => consumer.records.length === 6);
  expect(consumer.records[2]?.delivery).toMatchObject({ position: `${sequence}/1`, partitionKey: 'key-s1' });
  await first.stop();
  const item = (await leaseItems(aws.dynamodb, 'kpl-leases')).get('shardId-000000000000');
  expect(item).toMatchObject({ checkpoint: { S: sequence }, checkpointSubSequenceNumber: { N: '1' } });

  const second = startWorker({ ...options, workerId: 'b' });
  await until('the rest is read', () => second.consumer.records.length === 3);
  await second.stop();
  expect(second.consumer.texts).toEqual(['s2', 's3', 'plain-2']);
});

it('a checkpoint of sub-record 0 in an aggregate does not skip the others', async () => {
  await createStream(aws.kinesis, 'zero', 1);
  await createLeaseTable(aws.dynamodb, 'zero-leases');
  await put(aws.kinesis, 'zero', 'x', aggregate(parts(['s0', 's1'])));
  const consumer = new RecordingConsumer();
  consumer.finishes = (record) => record.text === 's0';
  const options = { streamName: 'zero', leaseTableName: 'zero-leases', clients: aws };
  const first = startWorker({ ...options, workerId: 'a', consumer });
  await until('both are delivered', () => consumer.records.length === 2);
  await first.stop();
  const second = startWorker({ ...options, workerId: 'b' });
  await until('the second is read again', () => second.consumer.records.length > 0);
  await second.stop();
  expect(second.consumer.texts).toEqual(['s1']);
});

it('records in an aggregate whose key belongs to another shard are delivered and reported, not dropped', async () => {
  await createStream(aws.kinesis, 'stray', 2);
  await createLeaseTable(aws.dynamodb, 'stray-leases');
  const stray = aggregate([
    { partitionKey: 'here', explicitHashKey: '5', data: 'here' },
    { partitionKey: 'there', explicitHashKey: String(2n ** 128n - 1n), data: 'there' },
  ]);
  await put(aws.kinesis, 'stray', 'x', stray, '5');
  const worker = startWorker({ streamName: 'stray', leaseTableName: 'stray-leases', workerId: 'a', clients: aws });
  await until('both are read', () => worker.consumer.records.length === 2);
  await worker.stop();
  expect(worker.consumer.texts).toEqual(['here', 'there']);
  expect(worker.log.matching('records of another shard')).toMatchObject([{ fields: { strays: 1 } }]);
});

it('an aggregate that was damaged is one plain record', async () => {
  await createStream(aws.kinesis, 'torn', 1);
  await createLeaseTable(aws.dynamodb, 'torn-leases');
  const bytes = aggregate(parts(['s0']));
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  const sequence = await put(aws.kinesis, 'torn', 'x', bytes);
  const worker = startWorker({ streamName: 'torn', leaseTableName: 'torn-leases', workerId: 'a', clients: aws });
  await until('it is read', () => worker.consumer.records.length === 1);
  await worker.stop();
  expect(worker.consumer.records[0]?.delivery.position).toBe(sequence);
  expect(Buffer.from(worker.consumer.records[0]?.delivery.body ?? []).equals(bytes)).toBe(true);
});
