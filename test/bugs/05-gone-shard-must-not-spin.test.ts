/**
 * Reported: the lease table names a shard that the stream no longer has, and the worker asks for it again and again as
 * fast as it can.
 */
import { GetShardIteratorCommand } from '@aws-sdk/client-kinesis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AwsFaultProxy, startAwsFaultProxy } from '../support/aws-fault-proxy';
import {
  type AwsLocal,
  createLeaseTable,
  createStream,
  leaseItems,
  localClients,
  put,
  putItem,
  startAwsLocal,
} from '../support/aws-local';
import { startWorker } from '../support/kinesis-worker';
import { until } from '../support/until';

const GONE = 'shardId-000000000099';

let aws: AwsLocal;
let proxy: AwsFaultProxy;
let clients: ReturnType<typeof localClients>;
beforeAll(async () => {
  aws = await startAwsLocal();
  proxy = await startAwsFaultProxy({ target: aws.kinesisEndpoint });
  clients = localClients(proxy.endpoint, aws.dynamodbEndpoint, 1_500);
  await createStream(aws.kinesis, 's', 1);
});
afterAll(async () => {
  clients.destroy();
  await proxy.stop();
  await aws.stop();
});

it('a shard that the stream does not have is reported once, left alone, and never asked for', async () => {
  await createLeaseTable(aws.dynamodb, 'leases');
  const item = {
    leaseKey: { S: GONE },
    leaseCounter: { N: '5' },
    checkpoint: { S: '49590338271490256608559692538361571095921575989136588898' },
    checkpointSubSequenceNumber: { N: '0' },
    ownerSwitchesSinceCheckpoint: { N: '0' },
  };
  await putItem(aws.dynamodb, 'leases', item);
  const asked = proxy.inject({
    operation: 'GetShardIterator',
    matches: (body) => body.ShardId === GONE,
    action: { kind: 'drop-request' },
  });
  const worker = startWorker({ streamName: 's', leaseTableName: 'leases', workerId: 'w', clients });
  await put(aws.kinesis, 's', 'c', 'event');
  await until('the real shard is read', () => worker.consumer.texts.includes('event'));
  const lists = proxy.requests.get('ListShards') ?? 0;
  const looks = worker.metrics.counted('leaseRenewals{written}');
  await until('some more renewals are over', () => worker.metrics.counted('leaseRenewals{written}') > looks + 4);
  expect(asked.hits).toBe(0);
  expect((proxy.requests.get('ListShards') ?? 0) - lists).toBeLessThanOrEqual(1);
  expect(worker.log.matching('a shard that the stream does not have')).toHaveLength(1);
  expect((await leaseItems(aws.dynamodb, 'leases')).get(GONE)).toEqual(item);
  await worker.stop();
});

it('a shard that vanishes while it is read is asked for once a second, not in a loop', async () => {
  await createLeaseTable(aws.dynamodb, 'vanish-leases');
  const worker = startWorker({ streamName: 's', leaseTableName: 'vanish-leases', workerId: 'w', clients });
  await until('it is being read', () => worker.consumer.texts.includes('event'));
  const missing = { kind: 'refuse', status: 400, type: 'ResourceNotFoundException' } as const;
  const records = proxy.inject({ operation: 'GetRecords', action: missing });
  const iterators = proxy.inject({ operation: 'GetShardIterator', action: missing });
  const begun = performance.now();
  await until('it was asked for again', () => iterators.hits >= 2);
  const seconds = (performance.now() - begun) / 1_000;
  expect(records.hits + iterators.hits).toBeLessThanOrEqual(seconds + 3);
  records.remove();
  iterators.remove();
  await put(aws.kinesis, 's', 'c', 'later');
  await until('it is read on when it is back', () => worker.consumer.texts.includes('later'));
  expect(worker.consumer.texts).toEqual(['event', 'later']);
  await worker.stop();
});

it('the bug: to try again at once what is missing asks as fast as the answers come', async () => {
  const request = { StreamName: 's', ShardId: GONE, ShardIteratorType: 'TRIM_HORIZON' } as const;
  const begun = performance.now();
  for (let asked = 0; asked < 20; asked++) {
    const refusal = aws.kinesis.send(new GetShardIteratorCommand(request));
    await expect(refusal).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  }
  const seconds = (performance.now() - begun) / 1_000;
  expect(20).toBeGreaterThan(seconds + 3);
});
