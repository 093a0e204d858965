/** The Event Hubs source with Microsoft's client, on the local broker and Azurite. */
import { EventHubConsumerClient, EventHubProducerClient } from '@azure/event-hubs';
import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host/host';
import { createEventHubsSource, type EventHubsSourceOptions } from '../../runtime/sources/event-hubs/source';
import { type AmqpBroker, startAmqpBroker } from '../emulators/amqp';
import { type RunningBlobStorage, startBlobStorage } from '../emulators/blob-storage';
import { KeptLog } from '../support/quiet';
import { RecordingConsumer, RecordingMetrics } from '../support/recording-consumer';
import { until } from '../support/until';

const retryOptions = { maxRetries: 3, timeoutInMs: 5_000, retryDelayInMs: 50 };
const GROUP = 'chargeonce';
const OWNERSHIP_MS = 4_000;
const BALANCE_MS = 500;

let storage: RunningBlobStorage;
beforeAll(async () => {
  storage = await startBlobStorage();
});
afterAll(() => storage.stop());

let broker: AmqpBroker;
let container: ContainerClient;
let names = 0;
const stops: (() => Promise<void>)[] = [];
beforeEach(async () => {
  broker = await startAmqpBroker();
  broker.createHub('usage', { partitions: 2, consumerGroups: [GROUP] });
  container = BlobServiceClient.fromConnectionString(storage.connectionString).getContainerClient(`group-${++names}`);
  await container.create();
});
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
  await broker.close();
});

function worker(name: string, options: Partial<EventHubsSourceOptions> = {}) {
  const consumer = new RecordingConsumer();
  const metrics = new RecordingMetrics();
  const log = new KeptLog();
  const controller = new AbortController();
  const source = createEventHubsSource({
    connect: (store) =>
      new EventHubConsumerClient(GROUP, broker.connectionString, 'usage', store, {
        retryOptions,
        identifier: store.owner,
        loadBalancingOptions: {
          strategy: 'balanced',
          updateIntervalInMs: BALANCE_MS,
          partitionOwnershipExpirationIntervalInMs: OWNERSHIP_MS,
        },
      }),
    eventHubName: 'usage',
    consumerGroup: GROUP,
    container,
    workerId: name,
    host: systemHost,
    log,
    metrics,
    ownershipMs: OWNERSHIP_MS,
    drainTimeoutMs: 5_000,
    ...options,
  });
  const running = source.run(consumer, controller.signal);
  const stop = async () => {
    controller.abort();
    await running;
  };
  stops.push(stop);
  return { consumer, metrics, log, source, stop, running };
}

async function send(from: number, count: number, partition?: string): Promise<void> {
  const producer = new EventHubProducerClient(broker.connectionString, 'usage', { retryOptions });
  const events = Array.from({ length: count }, (_, n) => ({ body: Buffer.from(`event-${from + n}`) }));
  await producer.sendBatch(events, partition === undefined ? {} : { partitionId: partition });
  await producer.close();
}

const held = (each: { metrics: RecordingMetrics }) => each.metrics.gauges.get('leasesHeld') ?? 0;

async function checkpoints(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, metadata } of container.listBlobsFlat({ includeMetadata: true })) {
    if (name.includes('/checkpoint/')) found[name.slice(name.lastIndexOf('/') + 1)] = metadata?.sequencenumber ?? '';
  }
  return found;
}

describe('one worker', () => {
  it('reads every partition from the oldest event and checkpoints what is finished', async () => {
    await send(0, 5, '0');
    await send(5, 5, '1');
    const only = worker('only');
    await until('all are read', () => only.consumer.records.length === 10);
    await until('the checkpoints are written', async () => {
      const written = await checkpoints();
      return written['0'] === '4' && written['1'] === '4';
    });
    expect(only.source.notReady()).toBeUndefined();
    expect(only.consumer.texts.toSorted()).toEqual(Array.from({ length: 10 }, (_, n) => `event-${n}`));
    expect(only.consumer.records[0]?.delivery).toMatchObject({ position: '0' });
  });

  it('that is replaced goes on after the checkpoint, and its partitions are free at once', async () => {
    await send(0, 3, '0');
    const first = worker('first');
    await until('all are read', () => first.consumer.records.length === 3);
    await until('both are held', () => held(first) === 2);
    await first.stop();
    await send(3, 2, '0');
    const second = worker('second');
    await until('the rest is read', () => second.consumer.records.length === 2);
    expect(second.consumer.texts).toEqual(['event-3', 'event-4']);
  });

  it('never checkpoints above what is not finished', async () => {
    await send(0, 6, '0');
    const slow = worker('slow');
    slow.consumer.finishes = ({ text }) => text !== 'event-3';
    await until('all are read', () => slow.consumer.records.length === 6);
    await slow.stop();
    expect((await checkpoints())['0']).toBe('2');
  });
});

describe('two workers', () => {
  it('share the partitions; what one gives up the other takes over', async () => {
    const [first, second] = [worker('first'), worker('second')];
    await until('each holds one', () => held(first) === 1 && held(second) === 1);
    await send(0, 4, '0');
    await send(4, 4, '1');
    await until('all are read', () => first.consumer.records.length + second.consumer.records.length === 8);
    await first.stop();
    await until('the other holds both', () => held(second) === 2);
    await send(8, 2, '0');
    await send(10, 2, '1');
    const read = () => new Set([...first.consumer.texts, ...second.consumer.texts]);
    await until('the rest is read', () => read().size === 12);
  });
});
