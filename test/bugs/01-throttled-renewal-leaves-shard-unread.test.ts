/**
 * Reported of several consumers: one throttled renewal, and the shard is unread for ever, though the process looks
 * healthy. The lease still bears the worker's name in the table, so it takes itself for the owner and never takes it.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Lease } from '../../runtime/sources/kinesis/lease-item';
import { type Memory, planTakes, remember } from '../../runtime/sources/kinesis/lease-plan';
import { type AwsFaultProxy, startAwsFaultProxy } from '../support/aws-fault-proxy';
import { type AwsLocal, createLeaseTable, createStream, localClients, put, startAwsLocal } from '../support/aws-local';
import { startWorker, type TestWorker } from '../support/kinesis-worker';
import { until } from '../support/until';

let aws: AwsLocal;
let proxy: AwsFaultProxy;
let worker: TestWorker;
beforeAll(async () => {
  aws = await startAwsLocal();
  proxy = await startAwsFaultProxy({ target: aws.dynamodbEndpoint });
  await createStream(aws.kinesis, 's', 1);
  await createLeaseTable(aws.dynamodb, 'leases');
  const clients = localClients(aws.kinesisEndpoint, proxy.endpoint, 2_000);
  worker = startWorker({ streamName: 's', leaseTableName: 'leases', workerId: 'w', leaseDurationMs: 2_000, clients });
  await until('the lease is held', () => worker.metrics.gauges.get('leasesHeld') === 1);
});
afterAll(async () => {
  await worker.stop();
  await proxy.stop();
  await aws.stop();
});

const reads = async (text: string) => {
  await put(aws.kinesis, 's', 'c', text);
  await until(`${text} is read`, () => worker.consumer.texts.includes(text));
};

it('a renewal that is throttled a few times is tried again, and the lease is kept', async () => {
  const fault = proxy.inject({ operation: 'UpdateItem', times: 3, action: { kind: 'throttle' } });
  await until('the renewal was throttled and then written', () => {
    const written = worker.metrics.counted('leaseRenewals{written}');
    return fault.hits === 3 && written > 0 && worker.metrics.counted('leaseRenewals{throttled}') === 3;
  });
  await reads('after a short storm');
  expect(worker.metrics.gauges.get('leasesHeld')).toBe(1);
  expect(worker.metrics.counted('leasesLost{expired}')).toBe(0);
});

it('a storm that outlasts the lease costs the lease, and the same worker reads on when it is over', async () => {
  const storm = proxy.inject({ operation: 'UpdateItem', action: { kind: 'throttle' } });
  await until('the lease is lost', () => worker.metrics.counted('leasesLost{expired}') === 1);
  expect(worker.metrics.gauges.get('leasesHeld')).toBe(0);
  storm.remove();
  await reads('after a long storm');
  expect(worker.metrics.gauges.get('leasesHeld')).toBe(1);
});

it('the bug: a plan that believes the name in the table never takes the lease again', () => {
  const lost: Lease = {
    key: 'shardId-000000000000',
    owner: 'w',
    counter: 4n,
    checkpoint: { sequence: '1', sub: 0 },
    parents: [],
    children: [],
  };
  const takenWithin = (looks: number, held: (leases: readonly Lease[]) => ReadonlySet<string>) => {
    let memory: Memory = new Map();
    for (let look = 0; look < looks; look++) {
      const now = look * 20_000;
      memory = remember(memory, [lost], now);
      const limits = { maxLeases: 10, maxSteal: 1, leaseDurationMs: 10_000, random: () => 0 };
      if (planTakes({ leases: [lost], memory, now, me: 'w', held: held([lost]), ...limits }).length > 0) return true;
    }
    return false;
  };
  const namedMe = (leases: readonly Lease[]) =>
    new Set(leases.filter((one) => one.owner === 'w').map((one) => one.key));
  expect(takenWithin(1_000, namedMe)).toBe(false);
  expect(takenWithin(1, () => new Set())).toBe(true);
});
