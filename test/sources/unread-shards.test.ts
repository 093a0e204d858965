/** A shard that nobody reads is counted, whoever could still say so. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AwsFaultProxy, startAwsFaultProxy } from '../support/aws-fault-proxy';
import { type AwsLocal, createLeaseTable, createStream, localClients, startAwsLocal } from '../support/aws-local';
import { startWorker, type TestWorker } from '../support/kinesis-worker';
import { until } from '../support/until';

const LEASE_MS = 2_000;

let aws: AwsLocal;
let proxy: AwsFaultProxy;
let worker: TestWorker;
beforeAll(async () => {
  aws = await startAwsLocal();
  proxy = await startAwsFaultProxy({ target: aws.dynamodbEndpoint });
  await createStream(aws.kinesis, 's', 2);
  await createLeaseTable(aws.dynamodb, 'leases');
  const clients = localClients(aws.kinesisEndpoint, proxy.endpoint, LEASE_MS);
  worker = startWorker({
    streamName: 's',
    leaseTableName: 'leases',
    workerId: 'w',
    leaseDurationMs: LEASE_MS,
    clients,
  });
});
afterAll(async () => {
  proxy.clear();
  await worker.stop();
  await proxy.stop();
  await aws.stop();
});

const unread = () => worker.metrics.gauges.get('leasesUnowned');

it('none while the worker holds them all', async () => {
  await until('both leases are held', () => worker.metrics.gauges.get('leasesHeld') === 2);
  await until('the next look counts none', () => unread() === 0);
});

it('those whose leases cannot be renewed, although the table can be read', async () => {
  const storm = proxy.inject({ operation: 'UpdateItem', action: { kind: 'throttle' } });
  await until('both shards are unread', () => unread() === 2);
  storm.remove();
  await until('both are read again', () => unread() === 0);
  expect(worker.metrics.gauges.get('leasesHeld')).toBe(2);
});

it('those that are lost to the clock while the table does not answer at all', async () => {
  const outage = proxy.block();
  await until('both shards are unread', () => unread() === 2);
  outage.release();
  await until('both are read again', () => unread() === 0);
});
