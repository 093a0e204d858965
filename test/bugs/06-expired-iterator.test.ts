/** Reported: after an iterator expired, a consumer goes on at its checkpoint (reads twice) or at LATEST (skips). */
import { GetRecordsCommand, GetShardIteratorCommand, type GetShardIteratorCommandInput } from '@aws-sdk/client-kinesis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AwsFaultProxy, startAwsFaultProxy } from '../support/aws-fault-proxy';
import {
  type AwsLocal,
  createLeaseTable,
  createStream,
  leaseItems,
  localClients,
  put,
  startAwsLocal,
} from '../support/aws-local';
import { startWorker } from '../support/kinesis-worker';
import { RecordingConsumer } from '../support/recording-consumer';
import { until } from '../support/until';

const SHARD = 'shardId-000000000000';
const EXPIRED = { kind: 'refuse', status: 400, type: 'ExpiredIteratorException' } as const;

let aws: AwsLocal;
let proxy: AwsFaultProxy;
let clients: ReturnType<typeof localClients>;
beforeAll(async () => {
  aws = await startAwsLocal();
  proxy = await startAwsFaultProxy({ target: aws.kinesisEndpoint });
  clients = localClients(proxy.endpoint, aws.dynamodbEndpoint, 3_000);
});
afterAll(async () => {
  clients.destroy();
  await proxy.stop();
  await aws.stop();
});

it('reading goes on after the last record seen, though the checkpoint is far behind', async () => {
  await createStream(aws.kinesis, 'lag', 1);
  await createLeaseTable(aws.dynamodb, 'lag-leases');
  const consumer = new RecordingConsumer();
  consumer.finishes = () => false;
  const options = { streamName: 'lag', leaseTableName: 'lag-leases', workerId: 'w', batchSize: 2, clients };
  const worker = startWorker({ ...options, consumer });
  const texts = Array.from({ length: 11 }, (_, i) => `event-${i}`);
  for (const text of texts.slice(0, 5)) await put(aws.kinesis, 'lag', 'c', text);
  await until('five are read', () => consumer.records.length === 5);
  for (let time = 0; time < 3; time++) {
    const fault = proxy.inject({ operation: 'GetRecords', times: 1, action: EXPIRED });
    for (const text of texts.slice(5 + 2 * time, 7 + 2 * time)) await put(aws.kinesis, 'lag', 'c', text);
    await until('an iterator expires', () => fault.hits === 1);
    await until('the next two are read', () => consumer.records.length >= 7 + 2 * time);
  }
  expect(consumer.texts).toEqual(texts);
  expect((await leaseItems(aws.dynamodb, 'lag-leases')).get(SHARD)?.checkpoint?.S).toBe('TRIM_HORIZON');
  await worker.stop();
});

it('at LATEST, what arrives before anything was read is not skipped by an expiry, nor by a new owner', async () => {
  await createStream(aws.kinesis, 'tip', 1);
  await createLeaseTable(aws.dynamodb, 'tip-leases');
  await put(aws.kinesis, 'tip', 'c', 'old');
  await new Promise((resolve) => setTimeout(resolve, 5));
  const options = { streamName: 'tip', leaseTableName: 'tip-leases', initialPosition: 'LATEST', clients } as const;
  const first = startWorker({ ...options, workerId: 'first' });
  await until('the shard is being read', () => first.metrics.gauges.has('millisBehindLatest'));
  const fault = proxy.inject({ operation: 'GetRecords', action: EXPIRED });
  await until('its iterator has expired', () => fault.hits > 0);
  await put(aws.kinesis, 'tip', 'c', 'new');
  await first.stop();
  expect(first.consumer.texts).toEqual([]);
  fault.remove();
  const second = startWorker({ ...options, workerId: 'second' });
  await until('the new record is read', () => second.consumer.records.length > 0);
  expect(second.consumer.texts).toEqual(['new']);
  await second.stop();
});

it('the bug: a new iterator at the checkpoint repeats, one at LATEST skips', async () => {
  await createStream(aws.kinesis, 'twin', 1);
  const checkpoint = await put(aws.kinesis, 'twin', 'c', 'finished');
  await put(aws.kinesis, 'twin', 'c', 'seen');
  await put(aws.kinesis, 'twin', 'c', 'not seen');
  const readFrom = async (
    start: Pick<GetShardIteratorCommandInput, 'ShardIteratorType' | 'StartingSequenceNumber'>,
  ) => {
    const place = await aws.kinesis.send(new GetShardIteratorCommand({ StreamName: 'twin', ShardId: SHARD, ...start }));
    const answer = await aws.kinesis.send(new GetRecordsCommand({ ShardIterator: place.ShardIterator }));
    return (answer.Records ?? []).map((record) => Buffer.from(record.Data ?? []).toString());
  };
  const atCheckpoint = { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', StartingSequenceNumber: checkpoint } as const;
  expect(await readFrom(atCheckpoint)).toEqual(['seen', 'not seen']);
  expect(await readFrom({ ShardIteratorType: 'LATEST' })).toEqual([]);
});
