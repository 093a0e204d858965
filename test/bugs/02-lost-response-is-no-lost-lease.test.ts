/**
 * Reported of the Java client and others: a conditional write is applied, its answer is lost, the SDK sends it again,
 * the condition fails against the worker's own write, and the worker gives up a lease that it owns.
 */
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { itemKey, type Lease } from '../../runtime/sources/kinesis/lease-item';
import { LeaseStore } from '../../runtime/sources/kinesis/lease-store';
import { TRIM_HORIZON } from '../../runtime/sources/kinesis/positions';
import { type AwsFaultProxy, startAwsFaultProxy } from '../support/aws-fault-proxy';
import {
  type AwsLocal,
  createLeaseTable,
  createStream,
  deleteLease,
  leaseItems,
  localClients,
  put,
  startAwsLocal,
} from '../support/aws-local';
import { startWorker } from '../support/kinesis-worker';
import { until } from '../support/until';

const KEY = 'shardId-000000000000';
const AT_7 = { sequence: '7', sub: 2 };

let aws: AwsLocal;
let proxy: AwsFaultProxy;
let clients: ReturnType<typeof localClients>;
let store: LeaseStore;
let lease: Lease;
beforeAll(async () => {
  aws = await startAwsLocal();
  proxy = await startAwsFaultProxy({ target: aws.dynamodbEndpoint });
  clients = localClients(aws.kinesisEndpoint, proxy.endpoint, 3_000);
  store = new LeaseStore({ dynamodb: clients.dynamodb, tableName: 'leases', owner: 'me' });
  await createLeaseTable(aws.dynamodb, 'leases');
});
afterAll(async () => {
  clients.destroy();
  await proxy.stop();
  await aws.stop();
});
beforeEach(async () => {
  proxy.clear();
  await deleteLease(aws.dynamodb, 'leases', KEY);
  await store.create({ key: KEY, checkpoint: TRIM_HORIZON, parents: [] });
  const taken = await store.take({ key: KEY, counter: 0n, checkpoint: TRIM_HORIZON, parents: [], children: [] });
  if (taken.kind !== 'written') throw new Error('the lease could not be taken');
  lease = taken.lease;
});

const losesAnswer = (times = 1) => proxy.inject({ operation: 'UpdateItem', times, action: { kind: 'drop-response' } });
const item = async () => (await leaseItems(aws.dynamodb, 'leases')).get(KEY);

describe('a write that was applied, with its answer lost, counts as done:', () => {
  it('renew', async () => {
    const fault = losesAnswer();
    expect(await store.renew(lease, undefined)).toMatchObject({
      kind: 'written',
      recovered: true,
      lease: { owner: 'me', counter: lease.counter + 1n },
    });
    expect(fault.hits).toBe(1);
  });

  it('checkpoint', async () => {
    losesAnswer();
    const outcome = await store.renew(lease, AT_7);
    expect(outcome).toMatchObject({ kind: 'written', recovered: true, lease: { checkpoint: AT_7 } });
  });

  it('take', async () => {
    losesAnswer();
    const other = new LeaseStore({ dynamodb: clients.dynamodb, tableName: 'leases', owner: 'other' });
    const outcome = await other.take(lease);
    expect(outcome).toMatchObject({ kind: 'written', recovered: true, lease: { owner: 'other' } });
    expect((await item())?.ownerSwitchesSinceCheckpoint?.N).toBe('1');
  });

  it('evict', async () => {
    losesAnswer();
    expect(await store.release(lease, AT_7)).toMatchObject({ kind: 'written', recovered: true });
    const now = await item();
    expect(now?.leaseOwner).toBeUndefined();
    expect(now?.checkpoint?.S).toBe('7');
  });
});

describe('what the look afterwards tells apart:', () => {
  it('a write that never arrived is open, to be tried again', async () => {
    proxy.inject({ operation: 'UpdateItem', times: 1, action: { kind: 'drop-request' } });
    expect(await store.renew(lease, AT_7)).toMatchObject({ kind: 'retry', why: 'unknown', unsure: false });
    expect(await store.renew(lease, AT_7)).toMatchObject({ kind: 'written', recovered: false });
  });

  it('a lease that somebody else took is lost, though my write had been applied before', async () => {
    const other = new LeaseStore({ dynamodb: aws.dynamodb, tableName: 'leases', owner: 'other' });
    await store.renew(lease, undefined);
    const seen = await store.read(KEY);
    await other.take(seen as Lease);
    expect(await store.renew(lease, undefined)).toMatchObject({ kind: 'lost', now: { owner: 'other' } });
  });

  it('while the table is silent altogether nothing is known, and the next write begins with a look', async () => {
    losesAnswer();
    const deaf = proxy.inject({ operation: 'GetItem', action: { kind: 'drop-request' } });
    expect(await store.renew(lease, AT_7)).toMatchObject({ kind: 'retry', unsure: true });
    deaf.remove();
    const before = proxy.requests.get('UpdateItem');
    expect(await store.renew(lease, AT_7, true)).toMatchObject({ kind: 'written', recovered: true });
    expect(proxy.requests.get('UpdateItem')).toBe(before);
  });

  it('a write that lands late, after a newer one was sent, keeps the lease and leaves the newer checkpoint to be written', async () => {
    const late = proxy.inject({ operation: 'UpdateItem', times: 1, action: { kind: 'hang', late: true } });
    expect(await store.renew(lease, AT_7)).toMatchObject({ kind: 'retry', unsure: false });
    late.remove();
    await until('the late write has landed', async () => (await item())?.checkpoint?.S === '7');
    const newer = { sequence: '9', sub: 0 };
    const outcome = await store.renew(lease, newer);
    expect(outcome).toMatchObject({ kind: 'written', recovered: true, lease: { checkpoint: AT_7 } });
  });
});

it('a worker whose every second answer is lost keeps its shard, and its checkpoints arrive', async () => {
  await createStream(aws.kinesis, 's', 1);
  await createLeaseTable(aws.dynamodb, 'worker-leases');
  const options = { streamName: 's', leaseTableName: 'worker-leases', workerId: 'w', leaseDurationMs: 3_000, clients };
  let turn = 0;
  const matches = () => turn++ % 2 === 0;
  const fault = proxy.inject({ operation: 'UpdateItem', matches, action: { kind: 'drop-response' } });
  const worker = startWorker(options);
  const sequence = await put(aws.kinesis, 's', 'c', 'event');
  await until('several answers were lost', () => fault.hits >= 3);
  await until('the checkpoint stands', async () => {
    return (await leaseItems(aws.dynamodb, 'worker-leases')).get(KEY)?.checkpoint?.S === sequence;
  });
  expect([...worker.metrics.counters.keys()].filter((key) => key.startsWith('leasesLost'))).toEqual([]);
  expect(worker.metrics.counted('leaseRenewals{recovered}')).toBeGreaterThan(0);
  await worker.stop();
});

it('the bug: with the SDK’s own retry the failed condition is all that the caller hears', async () => {
  losesAnswer();
  const naive = new DynamoDBClient({
    endpoint: proxy.endpoint,
    region: 'us-east-1',
    maxAttempts: 3,
    requestHandler: new NodeHttpHandler({ requestTimeout: 1_000 }),
  });
  const renewal = new UpdateItemCommand({
    TableName: 'leases',
    Key: itemKey(KEY),
    UpdateExpression: 'SET leaseCounter = :next',
    ConditionExpression: 'leaseCounter = :n',
    ExpressionAttributeValues: { ':n': { N: String(lease.counter) }, ':next': { N: String(lease.counter + 1n) } },
  });
  await expect(naive.send(renewal)).rejects.toThrow('conditional request failed');
  expect(await item()).toMatchObject({ leaseOwner: { S: 'me' }, leaseCounter: { N: String(lease.counter + 1n) } });
  naive.destroy();
});
