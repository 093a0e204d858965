/**
 * A bill run puts more events on the stream than can be charged at once, or Stripe stands still: the consumer has no room,
 * and nothing is read for minutes. Kinesis then measures no age, the worker repeats the lag of before, and the alarm that
 * takes silence for a reader that is gone wakes somebody, although all is well. Or the lag grows for hours, unseen.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host/host';
import { type AwsFaultProxy, startAwsFaultProxy } from '../support/aws-fault-proxy';
import { type AwsLocal, createLeaseTable, createStream, localClients, put, startAwsLocal } from '../support/aws-local';
import { startWorker } from '../support/kinesis-worker';
import { RecordingConsumer } from '../support/recording-consumer';
import { until } from '../support/until';

/** The longest rest of a reader that reads. */
const LONGEST_REST_MS = 5_000;

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

/** A worker whose consumer takes the first event and has no room for the next; `room` makes some. */
async function fullWorker(stream: string, longRestMs: number) {
  await createStream(aws.kinesis, stream, 1);
  await createLeaseTable(aws.dynamodb, `${stream}-leases`);
  for (const text of ['first', 'second', 'third']) await put(aws.kinesis, stream, 'c', text);
  let room: () => void = () => undefined;
  const full = new Promise<void>((resolve) => {
    room = resolve;
  });
  const consumer = new RecordingConsumer();
  let held = false;
  consumer.onDeliver = () => {
    held = true;
    return full;
  };
  const sleep: typeof systemHost.sleep = (ms, signal) =>
    systemHost.sleep(ms > LONGEST_REST_MS ? longRestMs : ms, signal);
  const host = { ...systemHost, sleep };
  const names = { streamName: stream, leaseTableName: `${stream}-leases`, workerId: 'w' };
  const worker = startWorker({ ...names, batchSize: 1, clients, consumer, host });
  await until('the consumer is full', () => held);
  const reads = () => proxy.requests.get('GetRecords') ?? 0;
  return { worker, consumer, reads, room: () => room() };
}

it('goes on to say how far behind it is, and delivers each event once, in order, when there is room', async () => {
  const { worker, consumer, reads, room } = await fullWorker('full', 20);
  const [before, said] = [reads(), worker.metrics.settings.get('millisBehindLatest') ?? 0];
  await until('the lag is looked at again', () => reads() >= before + 3);
  await until('and told', () => (worker.metrics.settings.get('millisBehindLatest') ?? 0) >= said + 3);
  const fault = proxy.inject({ operation: 'GetRecords', times: 2, action: { kind: 'throttle' } });
  await until('two looks are refused', () => fault.hits === 2);
  expect(consumer.texts).toEqual([]);
  room();
  await until('all are read', () => consumer.records.length >= 3);
  await worker.stop();
  expect(consumer.texts).toEqual(['first', 'second', 'third']);
});

it('a look that hangs holds up neither the delivery nor the stop', async () => {
  const { worker, consumer, room } = await fullWorker('hang', 20);
  const fault = proxy.inject({ operation: 'GetRecords', times: 1, action: { kind: 'hang' } });
  await until('a look hangs', () => fault.hits === 1);
  room();
  await until('all are read', () => consumer.records.length >= 3);
  await worker.stop();
  expect(consumer.texts).toEqual(['first', 'second', 'third']);
  fault.remove();
});

it('the bug: without a look nothing is read, and nothing is said', async () => {
  const { worker, consumer, reads, room } = await fullWorker('silent', 600_000);
  const [before, said] = [reads(), worker.metrics.settings.get('millisBehindLatest')];
  const looks = worker.looks();
  await until('the worker lives on', () => worker.looks() > looks + 1);
  expect([reads(), worker.metrics.settings.get('millisBehindLatest')]).toEqual([before, said]);
  room();
  await until('all are read', () => consumer.records.length >= 3);
  await worker.stop();
});
