/**
 * Reported: a worker charges a record, its event loop stands still for longer than its lease, its checkpoint is
 * refused, and it goes on charging what another worker reads as well. Here the loser must stop itself before Stripe,
 * by its own clock, before anybody could tell it; and what is read again is not charged again.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host/host';
import type { Partition, PartitionConsumer } from '../../runtime/processor/ports';
import { createKinesisSource } from '../../runtime/sources/kinesis';
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
import { useBillingWorld } from '../support/billing-world';
import { KeptLog } from '../support/quiet';
import { RecordingMetrics } from '../support/recording-consumer';
import { until } from '../support/until';

const LEASE_MS = 3_000;
const SHARD = 'shardId-000000000000';

let aws: AwsLocal;
let proxy: AwsFaultProxy;
let clients: ReturnType<typeof localClients>;
let streams = 0;
beforeAll(async () => {
  aws = await startAwsLocal();
  proxy = await startAwsFaultProxy({ target: aws.dynamodbEndpoint });
  clients = localClients(aws.kinesisEndpoint, proxy.endpoint, LEASE_MS);
});
afterAll(async () => {
  clients.destroy();
  await proxy.stop();
  await aws.stop();
});
const world = useBillingWorld();

/** Blocks this thread, timers and all. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function runSource(stream: string, consumer: PartitionConsumer) {
  const stop = new AbortController();
  const log = new KeptLog();
  const metrics = new RecordingMetrics();
  const running = createKinesisSource({
    streamName: stream,
    leaseTableName: `${stream}-leases`,
    workerId: 'w',
    leaseDurationMs: LEASE_MS,
    pollIntervalMs: 200,
    drainTimeoutMs: 3_000,
    maxLeases: 1,
    host: systemHost,
    log,
    metrics,
    ...clients,
  }).run(consumer, stop.signal);
  const end = async () => {
    stop.abort();
    await running;
  };
  return { log, metrics, end };
}

const callsFor = (customer: string) =>
  world().emulator.requests.filter(({ method, rawBody }) => method === 'POST' && rawBody.includes(`cus_${customer}`));

/**
 * Two events; the first is charged and its checkpoint cannot be written; then the worker claims the second and stands
 * still for one and a half lease durations. Answers how often Stripe was asked to charge the second afterwards.
 */
async function stallBetweenClaimAndCharge(wrap: (processor: PartitionConsumer) => PartitionConsumer): Promise<string> {
  const stream = `s${++streams}`;
  await createStream(aws.kinesis, stream, 1);
  await createLeaseTable(aws.dynamodb, `${stream}-leases`);
  const [first, second] = [world().customer('first'), world().customer('second')];
  let armed = false;
  let stalled = false;
  const worker = world().worker({
    crash: (point) => {
      if (point !== 'after-claim' || !armed || stalled) return;
      stalled = true;
      standStill(1.5 * LEASE_MS);
    },
  });
  const loser = runSource(stream, wrap(worker.processor));
  await until('the shard is held', () => loser.metrics.gauges.get('leasesHeld') === 1);
  const storm = proxy.inject({ operation: 'UpdateItem', action: { kind: 'throttle' } });
  await put(aws.kinesis, stream, 'first', JSON.stringify(first));
  await until('the first is charged', () => world().charges('first') === 1);
  armed = true;
  await put(aws.kinesis, stream, 'second', JSON.stringify(second));
  await until('the lease is lost', () => loser.metrics.counted('leasesLost{expired}') === 1);
  expect(stalled).toBe(true);
  await loser.end();
  expect((await leaseItems(aws.dynamodb, `${stream}-leases`)).get(SHARD)?.checkpoint?.S).toBe('TRIM_HORIZON');
  storm.remove();
  return stream;
}

it('the loser stops before Stripe, and the winner charges what is left, once', async () => {
  const stream = await stallBetweenClaimAndCharge((processor) => processor);
  expect(callsFor('second')).toEqual([]);
  await world().expireClaims();
  const winner = runSource(stream, world().worker().processor);
  await until('the second is charged', () => world().charges('second') === 1, 50_000);
  await until('both are checkpointed', async () => {
    const item = (await leaseItems(aws.dynamodb, `${stream}-leases`)).get(SHARD);
    return /^\d+$/.test(item?.checkpoint?.S ?? '');
  });
  await winner.end();
  expect([world().charges('first'), world().charges('second')]).toEqual([1, 1]);
});

it('the bug: a worker that goes on until somebody tells it otherwise reaches Stripe without its lease', async () => {
  const untold = new AbortController().signal;
  const trusting = (partition: Partition): Partition => ({
    id: partition.id,
    signal: untold,
    holdsFor: () => true,
    checkpoint: (position) => partition.checkpoint(position),
  });
  await stallBetweenClaimAndCharge((processor) => {
    const wrapped = new Map<Partition, Partition>();
    const of = (partition: Partition) => {
      const known = wrapped.get(partition) ?? trusting(partition);
      wrapped.set(partition, known);
      return known;
    };
    return {
      deliver: (partition, batch) => processor.deliver(of(partition), batch),
      finished: (partition) => processor.finished(of(partition)),
    };
  });
  await until('it has charged without its lease', () => world().charges('second') === 1);
});
