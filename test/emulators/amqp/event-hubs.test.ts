/** The broker as Microsoft's own client sees it. The same cases run against a real namespace or Microsoft's emulator. */
import {
  EventHubBufferedProducerClient,
  EventHubConsumerClient,
  EventHubProducerClient,
  earliestEventPosition,
  type PartitionContext,
  type ReceivedEventData,
  type SubscribeOptions,
} from '@azure/event-hubs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../support/until';
import { type AmqpBroker, startAmqpBroker } from '.';
import { partitionOfKey } from './partition-key';

const retryOptions = { maxRetries: 3, timeoutInMs: 5_000, retryDelayInMs: 50 };
const GROUP = 'chargeonce';

let broker: AmqpBroker;
const open: { close(): Promise<void> }[] = [];
beforeEach(async () => {
  broker = await startAmqpBroker();
  broker.createHub('usage', { partitions: 2, consumerGroups: [GROUP] });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
  await broker.close();
});

function producer(): EventHubProducerClient {
  const client = new EventHubProducerClient(broker.connectionString, 'usage', { retryOptions });
  open.push(client);
  return client;
}

interface Reader {
  readonly events: ReceivedEventData[];
  readonly errors: Error[];
  readonly contexts: PartitionContext[];
  close(): Promise<void>;
}

function read(partition: string, options: SubscribeOptions = {}, group = GROUP): Reader {
  const client = new EventHubConsumerClient(group, broker.connectionString, 'usage', { retryOptions });
  const reader: Reader = { events: [], errors: [], contexts: [], close: () => client.close() };
  client.subscribe(
    partition,
    {
      async processEvents(events, context) {
        reader.events.push(...events);
        reader.contexts.push(context);
      },
      async processError(error) {
        reader.errors.push(error);
      },
    },
    { startPosition: earliestEventPosition, maxBatchSize: 50, maxWaitTimeInSeconds: 1, ...options },
  );
  open.push(reader);
  return reader;
}

const bodies = (reader: Reader) => reader.events.map(({ body }) => body);
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, n) => ({ body: n + from }));

describe('a hub', () => {
  it('describes itself and its partitions', async () => {
    const client = producer();
    expect(await client.getEventHubProperties()).toMatchObject({ name: 'usage', partitionIds: ['0', '1'] });
    expect(await client.getPartitionProperties('0')).toMatchObject({ isEmpty: true, lastEnqueuedSequenceNumber: -1 });
    await client.sendBatch(numbers(3), { partitionId: '0' });
    expect(await client.getPartitionProperties('0')).toMatchObject({
      isEmpty: false,
      beginningSequenceNumber: 0,
      lastEnqueuedSequenceNumber: 2,
    });
  });

  it('that does not exist, a group or a partition that does not exist, is said so', async () => {
    const missing = new EventHubProducerClient(broker.connectionString, 'nothing', {
      retryOptions: { maxRetries: 0, timeoutInMs: 5_000 },
    });
    open.push(missing);
    await expect(missing.getEventHubProperties()).rejects.toThrow(/could not be found/);
    const reader = read('0', {}, 'nobody');
    await until('the group is refused', () => reader.errors.length > 0);
    expect(reader.errors[0]?.message).toMatch(/could not be found/);
  });

  it('takes batches up to the size that it says, and keeps properties, bodies and keys', async () => {
    const client = producer();
    const batch = await client.createBatch({ partitionKey: 'acme' });
    expect(batch.maxSizeInBytes).toBe(1_048_576);
    batch.tryAdd({
      body: { amount: 1 },
      messageId: 'm1',
      properties: { from: 'meter' },
      contentType: 'application/json',
    });
    batch.tryAdd({ body: Buffer.from('raw') });
    await client.sendBatch(batch);
    const reader = read(String(partitionOfKey('acme', 2)));
    await until('both arrive', () => reader.events.length === 2);
    expect(reader.events[0]).toMatchObject({
      body: { amount: 1 },
      messageId: 'm1',
      contentType: 'application/json',
      properties: { from: 'meter' },
      partitionKey: 'acme',
      sequenceNumber: 0,
      offset: '0',
    });
    expect(reader.events[1]?.sequenceNumber).toBe(1);
    expect(Math.abs(Date.now() - (reader.events[0]?.enqueuedTimeUtc.getTime() ?? 0))).toBeLessThan(60_000);
  });

  it('puts a key where the buffered producer of the client puts it', async () => {
    const failures: Error[] = [];
    const client = new EventHubBufferedProducerClient(broker.connectionString, 'usage', {
      retryOptions,
      maxWaitTimeInMs: 20,
      onSendEventsErrorHandler: async ({ error }) => void failures.push(error),
    });
    open.push(client);
    const keys = ['a', 'acme', 'twelve bytes', 'longer than twelve bytes', 'é', 'cus_0123456789', 'x'.repeat(36)];
    for (const key of keys) await client.enqueueEvent({ body: key }, { partitionKey: key });
    await client.flush();
    expect(failures).toEqual([]);
    for (const partition of ['0', '1']) {
      const ours = keys.filter((key) => partitionOfKey(key, 2) === Number(partition));
      const reader = read(partition);
      await until(`${ours.length} of ${partition} arrive`, () => reader.events.length === ours.length);
      expect(bodies(reader).sort()).toEqual(ours.sort());
    }
  });
});

describe('a consumer', () => {
  it('starts after a sequence number, at one, after an offset, at a time, or at the end', async () => {
    const client = producer();
    await client.sendBatch(numbers(5), { partitionId: '0' });
    const all = read('0');
    await until('all arrive', () => all.events.length === 5);
    const third = all.events[2]!;
    const starts: [SubscribeOptions['startPosition'], number[]][] = [
      [{ sequenceNumber: 2 }, [3, 4]],
      [{ sequenceNumber: 2, isInclusive: true }, [2, 3, 4]],
      [{ offset: third.offset }, [3, 4]],
      [{ enqueuedOn: new Date(0) }, [0, 1, 2, 3, 4]],
    ];
    for (const [startPosition, expected] of starts) {
      const reader = read('0', { startPosition: startPosition! });
      await until(`${expected} arrive`, () => reader.events.length >= expected.length);
      expect(bodies(reader)).toEqual(expected);
      await reader.close();
    }
    const latest = read('0', { startPosition: { offset: '@latest' } as never });
    await until('the link is there', () => [...broker.hubs.get('usage')!.links].length === 2);
    await client.sendBatch(numbers(1, 9), { partitionId: '0' });
    await until('the new one arrives', () => latest.events.length > 0);
    expect(bodies(latest)).toEqual([9]);
  });

  it('is told how far the partition has come', async () => {
    await producer().sendBatch(numbers(4), { partitionId: '1' });
    const reader = read('1', { trackLastEnqueuedEventProperties: true });
    await until('all arrive', () => reader.events.length === 4);
    expect(reader.contexts.at(-1)?.lastEnqueuedEventProperties).toMatchObject({ sequenceNumber: 3 });
  });

  it('with an equal or higher epoch displaces the one that reads; one with a lower is refused', async () => {
    const first = read('0', { ownerLevel: 1 });
    await producer().sendBatch(numbers(1), { partitionId: '0' });
    await until('the first reads', () => first.events.length === 1);
    const second = read('0', { ownerLevel: 1 });
    await until('the first is displaced', () => first.errors.length > 0);
    expect(first.errors[0]).toMatchObject({ code: 'ReceiverDisconnectedError' });
    const lower = read('0', { ownerLevel: 0 });
    await until('the lower is refused', () => lower.errors.length > 0);
    expect(lower.errors[0]).toMatchObject({ code: 'ReceiverDisconnectedError' });
    expect(second.errors).toEqual([]);
  });

  it('of one group does not disturb another, and each reads all', async () => {
    await producer().sendBatch(numbers(3), { partitionId: '0' });
    const [one, other] = [read('0', { ownerLevel: 0 }), read('0', { ownerLevel: 0 }, '$Default')];
    await until('both read', () => one.events.length === 3 && other.events.length === 3);
    expect([...one.errors, ...other.errors]).toEqual([]);
  });

  it('reads from the oldest that is kept when retention has passed its position', async () => {
    broker.createHub('small', { partitions: 1, capacity: 10 });
    const client = new EventHubProducerClient(broker.connectionString, 'small', { retryOptions });
    open.push(client);
    await client.sendBatch(numbers(35));
    expect(await client.getPartitionProperties('0')).toMatchObject({
      beginningSequenceNumber: 25,
      lastEnqueuedSequenceNumber: 34,
    });
    const consumer = new EventHubConsumerClient('$Default', broker.connectionString, 'small', { retryOptions });
    open.push(consumer);
    const got: unknown[] = [];
    consumer.subscribe(
      {
        processEvents: async (events) => void got.push(...events.map(({ body }) => body)),
        processError: async () => undefined,
      },
      { startPosition: earliestEventPosition },
    );
    await until('the last arrives', () => got.includes(34));
    expect(got[0]).toBe(25);
  });

  it('gets 5,000 events in order over one link', async () => {
    const client = producer();
    for (let from = 0; from < 5_000; from += 500) await client.sendBatch(numbers(500, from), { partitionId: '0' });
    const reader = read('0', { maxBatchSize: 300 });
    await until('all arrive', () => reader.events.length === 5_000, 20_000);
    expect(bodies(reader)).toEqual(numbers(5_000).map(({ body }) => body));
  });
});

describe('faults', () => {
  it('a lost acknowledgement makes the client send twice', async () => {
    broker.faults.loseAck();
    await producer().sendBatch([{ body: 'once' }], { partitionId: '0' });
    const reader = read('0');
    await until('two copies arrive', () => reader.events.length === 2);
    expect(bodies(reader)).toEqual(['once', 'once']);
  });

  it('a busy server keeps nothing, and the client tries again', async () => {
    broker.faults.busy(2);
    await producer().sendBatch([{ body: 'once' }], { partitionId: '0' });
    expect(broker.hubs.get('usage')?.partitions.get('0')?.end).toBe(1);
  });

  it('dropped sockets and detached links are survived without a gap', async () => {
    const client = producer();
    const reader = read('0');
    await client.sendBatch(numbers(3), { partitionId: '0' });
    await until('the first arrive', () => reader.events.length === 3);
    expect(broker.faults.dropSockets()).toBeGreaterThan(0);
    await client.sendBatch(numbers(3, 3), { partitionId: '0' });
    await until('the next arrive', () => reader.events.length === 6);
    expect(broker.faults.detach({ entity: 'usage', partition: '0' })).toBe(1);
    await client.sendBatch(numbers(3, 6), { partitionId: '0' });
    await until('the last arrive', () => reader.events.length === 9);
    expect(bodies(reader)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('a silent link stays open and sends nothing until it is let go', async () => {
    const letGo = broker.faults.silence({ entity: 'usage', partition: '0' });
    const [silent, other] = [read('0'), read('1')];
    const client = producer();
    await client.sendBatch(numbers(1), { partitionId: '0' });
    await client.sendBatch(numbers(1), { partitionId: '1' });
    await until('the other partition goes on', () => other.events.length === 1);
    await until('the link is there', () => [...broker.hubs.get('usage')!.links].length === 2);
    expect(silent.events).toEqual([]);
    expect(silent.errors).toEqual([]);
    letGo();
    await until('it goes on', () => silent.events.length === 1);
  });

  it('refused tokens are tried again', async () => {
    broker.faults.refuseTokens(120);
    await producer().sendBatch(numbers(1), { partitionId: '0' });
    expect(broker.hubs.get('usage')?.partitions.get('0')?.end).toBe(1);
    expect(broker.tokens.length).toBeGreaterThan(1);
  });

  it('a slow namespace is slow, and loses nothing', async () => {
    broker.faults.slow(5);
    await producer().sendBatch(numbers(10), { partitionId: '0' });
    const reader = read('0');
    await until('all arrive', () => reader.events.length === 10);
    expect(bodies(reader)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

it('several namespaces live in one process', async () => {
  const other = await startAmqpBroker();
  other.createHub('usage', { partitions: 1 });
  const client = new EventHubProducerClient(other.connectionString, 'usage', { retryOptions });
  await client.sendBatch(numbers(2));
  expect(other.hubs.get('usage')?.partitions.get('0')?.end).toBe(2);
  expect(broker.hubs.get('usage')?.partitions.get('0')?.end).toBe(0);
  await client.close();
  await other.close();
});
