/**
 * What every Event Hubs namespace does, as Microsoft's own client sees it: the local broker, Microsoft's emulator, the
 * service. A hub may hold events already: each case starts where it ends.
 */
import { EventHubBufferedProducerClient, type SubscribeOptions } from '@azure/event-hubs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { partitionOfKey } from '../../emulators/amqp/partition-key';
import { until } from '../until';
import { bodies, Clients, type HubAddress, numbers } from './clients';

export interface ConformanceTarget {
  /** In words, for the report. */
  readonly name: string;
  /** A hub of two partitions, whose consumer group is not `$Default`. */
  start(): Promise<HubAddress>;
  stop(): Promise<void>;
}

/** Where a partition ends now: a case reads what comes after it. */
async function endOf(clients: Clients, partition: string): Promise<{ startPosition: { sequenceNumber: number } }> {
  const { lastEnqueuedSequenceNumber } = await clients.producer().getPartitionProperties(partition);
  return { startPosition: { sequenceNumber: lastEnqueuedSequenceNumber } };
}

export function conformance(target: ConformanceTarget): void {
  describe(target.name, () => {
    let at: HubAddress;
    let clients: Clients;
    beforeAll(async () => {
      at = await target.start();
      clients = new Clients(at);
    });
    afterEach(() => clients.close());
    afterAll(() => target.stop());
    const world = () => ({ at, clients });
    describe('a hub', () => ofHubs(world));
    describe('a producer', () => ofProducers(world));
    describe('an event', () => ofKeys(world));
    describe('a consumer', () => ofConsumers(world));
    describe('receivers of one partition', () => ofReceivers(world));
  });
}

type World = () => { readonly at: HubAddress; readonly clients: Clients };

function ofHubs(world: World): void {
  it('describes itself and its partitions', async () => {
    const { at, clients } = world();
    const producer = clients.producer();
    const hub = await producer.getEventHubProperties();
    expect(hub).toMatchObject({ name: at.hub, partitionIds: ['0', '1'] });
    expect(hub.createdOn.getTime()).toBeGreaterThan(0);
    const before = await producer.getPartitionProperties('0');
    await producer.sendBatch(numbers(3), { partitionId: '0' });
    const after = await producer.getPartitionProperties('0');
    expect(after).toMatchObject({ eventHubName: at.hub, partitionId: '0', isEmpty: false });
    expect(after.lastEnqueuedSequenceNumber).toBe(before.lastEnqueuedSequenceNumber + 3);
    expect(after.beginningSequenceNumber).toBeLessThanOrEqual(after.lastEnqueuedSequenceNumber);
    expect(after.lastEnqueuedOnUtc.getTime()).toBeGreaterThanOrEqual(before.lastEnqueuedOnUtc.getTime());
  });

  it('that does not exist is said so, also to who sends', async () => {
    const none = world().clients.producer('no-such-hub');
    await expect(none.getEventHubProperties()).rejects.toMatchObject({ code: 'MessagingEntityNotFoundError' });
    await expect(none.sendBatch(numbers(1))).rejects.toMatchObject({ code: 'MessagingEntityNotFoundError' });
  });

  it('says that a partition or a consumer group does not exist', async () => {
    const { clients } = world();
    const outOfRange = { code: 'ArgumentOutOfRangeError' };
    await expect(clients.producer().getPartitionProperties('99')).rejects.toMatchObject(outOfRange);
    await expect(clients.producer().sendBatch(numbers(1), { partitionId: '99' })).rejects.toMatchObject(outOfRange);
    const [partition, group] = [clients.read('99'), clients.read('0', { group: 'no-such-group' })];
    await until('both are refused', () => partition.errors.length > 0 && group.errors.length > 0);
    expect(partition.errors[0]).toMatchObject(outOfRange);
    expect(group.errors[0]).toMatchObject({ code: 'MessagingEntityNotFoundError' });
  });
}

function ofProducers(world: World): void {
  it('sends batches up to the size that it is told; bodies, properties and keys are kept', async () => {
    const { clients } = world();
    const partition = String(partitionOfKey('acme', 2));
    const end = await endOf(clients, partition);
    const producer = clients.producer();
    const batch = await producer.createBatch({ partitionKey: 'acme' });
    expect(batch.maxSizeInBytes).toBeGreaterThanOrEqual(256 * 1024);
    const sent = {
      body: { amount: 1 },
      messageId: 'm1',
      correlationId: 'c1',
      contentType: 'application/json',
      properties: { from: 'meter', units: 3, late: true },
    };
    expect(batch.tryAdd(sent)).toBe(true);
    const raw = Buffer.alloc(200_000, 7);
    expect(batch.tryAdd({ body: raw })).toBe(true);
    expect(batch.tryAdd({ body: Buffer.alloc(batch.maxSizeInBytes) })).toBe(false);
    const before = Date.now();
    await producer.sendBatch(batch);
    const reader = clients.read(partition, end);
    await until('both arrive', () => reader.events.length === 2);
    const [first, second] = reader.events;
    expect(first).toMatchObject({
      ...sent,
      partitionKey: 'acme',
      sequenceNumber: end.startPosition.sequenceNumber + 1,
    });
    expect(raw.equals(second?.body)).toBe(true);
    expect(second?.sequenceNumber).toBe(end.startPosition.sequenceNumber + 2);
    expect(Number(second?.offset)).toBeGreaterThan(Number(first?.offset));
    expect(Math.abs((first?.enqueuedTimeUtc.getTime() ?? 0) - before)).toBeLessThan(60_000);
  });

  it('is told that a batch is too large, of which nothing is kept', async () => {
    const { clients } = world();
    const producer = clients.producer();
    const { startPosition: before } = await endOf(clients, '0');
    const batch = [{ body: 1 }, { body: Buffer.alloc(1_048_576) }];
    await expect(producer.sendBatch(batch, { partitionId: '0' })).rejects.toMatchObject({
      code: 'MessageTooLargeError',
    });
    expect((await endOf(clients, '0')).startPosition).toEqual(before);
  });
}

function ofKeys(world: World): void {
  it('with a key is led where the client’s own hash leads', async () => {
    const { at, clients } = world();
    const ends = [await endOf(clients, '0'), await endOf(clients, '1')];
    const keys = ['a', 'acme', 'twelve bytes', 'longer than twelve bytes', 'é', 'cus_0123456789', 'x'.repeat(36)];
    const failures: Error[] = [];
    // It hashes the keys itself and names the partition, where the other leaves that to the service.
    const buffered = new EventHubBufferedProducerClient(at.connectionString, at.hub, {
      maxWaitTimeInMs: 20,
      onSendEventsErrorHandler: async ({ error }) => void failures.push(error),
    });
    clients.toClose(buffered);
    for (const key of keys) await buffered.enqueueEvent({ body: key }, { partitionKey: key });
    await buffered.flush();
    const producer = clients.producer();
    for (const key of keys) await producer.sendBatch([{ body: key }], { partitionKey: key });
    expect(failures).toEqual([]);
    for (const partition of ['0', '1']) {
      const here = keys.filter((key) => partitionOfKey(key, 2) === Number(partition)).flatMap((key) => [key, key]);
      const reader = clients.read(partition, ends[Number(partition)]);
      await until(`${here.length} of ${partition} arrive`, () => reader.events.length === here.length);
      expect(bodies(reader).sort()).toEqual(here.sort());
    }
  });

  it('without a key reaches every partition', async () => {
    const { clients } = world();
    const ends = [await endOf(clients, '0'), await endOf(clients, '1')];
    const producer = clients.producer();
    for (const event of numbers(8)) await producer.sendBatch([event]);
    const readers = [clients.read('0', ends[0]), clients.read('1', ends[1])];
    await until('all arrive', () => readers.flatMap(bodies).length === 8);
    for (const reader of readers) expect(reader.events.length).toBeGreaterThan(0);
  });
}

function ofConsumers(world: World): void {
  it('starts after or at a sequence number, after or at an offset, after a time, or at the end', async () => {
    const { clients } = world();
    const end = await endOf(clients, '0');
    const producer = clients.producer();
    // One by one, and not within one millisecond, so that their times differ.
    for (const event of numbers(4)) {
      await producer.sendBatch([event], { partitionId: '0' });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const all = clients.read('0', end);
    await until('all arrive', () => all.events.length === 4);
    const second = all.events[1]!;
    const starts: readonly [SubscribeOptions['startPosition'], readonly number[]][] = [
      [{ sequenceNumber: second.sequenceNumber }, [2, 3]],
      [{ sequenceNumber: second.sequenceNumber, isInclusive: true }, [1, 2, 3]],
      [{ offset: second.offset }, [2, 3]],
      [{ offset: second.offset, isInclusive: true }, [1, 2, 3]],
      [{ enqueuedOn: second.enqueuedTimeUtc }, [2, 3]],
    ];
    for (const [startPosition, expected] of starts) {
      const reader = clients.read('0', { startPosition: startPosition! });
      await until(`${expected} arrive`, () => reader.events.length >= expected.length);
      expect(bodies(reader), JSON.stringify(startPosition)).toEqual(expected);
      await reader.close();
    }
    const latest = clients.read('0', { startPosition: { offset: '@latest' }, maxWaitTimeInSeconds: 0.2 });
    await until('it waits for what comes', () => latest.contexts.length > 0);
    await producer.sendBatch(numbers(1, 9), { partitionId: '0' });
    await until('the new one arrives', () => latest.events.length > 0);
    expect(bodies(latest)).toEqual([9]);
  });

  it('is told how far the partition has come', async () => {
    const { clients } = world();
    const end = await endOf(clients, '1');
    await clients.producer().sendBatch(numbers(4), { partitionId: '1' });
    const reader = clients.read('1', { ...end, trackLastEnqueuedEventProperties: true });
    await until('all arrive', () => reader.events.length === 4);
    expect(reader.contexts.at(-1)?.lastEnqueuedEventProperties).toMatchObject({
      sequenceNumber: reader.events[3]?.sequenceNumber,
      offset: reader.events[3]?.offset,
      enqueuedOn: reader.events[3]?.enqueuedTimeUtc,
    });
  });

  it('gets 3,000 events in order over one link', async () => {
    const { clients } = world();
    const end = await endOf(clients, '0');
    const producer = clients.producer();
    for (let from = 0; from < 3_000; from += 500) await producer.sendBatch(numbers(500, from), { partitionId: '0' });
    const reader = clients.read('0', { ...end, maxBatchSize: 300 });
    await until('all arrive', () => reader.events.length === 3_000);
    expect(bodies(reader)).toEqual(numbers(3_000).map(({ body }) => body));
  });
}

function ofReceivers(world: World): void {
  const displaced = { code: 'ReceiverDisconnectedError' };
  /** A wait that ends with an empty batch says that the link is there. */
  const soon = { maxWaitTimeInSeconds: 0.2 };

  it('with an equal or higher epoch displace the one that reads; a lower epoch and none are refused', async () => {
    const { clients } = world();
    const end = await endOf(clients, '0');
    const read = async (ownerLevel: number) => {
      const reader = clients.read('0', { ...end, ...soon, ownerLevel });
      await until(`epoch ${ownerLevel} reads`, () => reader.contexts.length > 0);
      return reader;
    };
    const first = await read(1);
    const equal = await read(1);
    await until('the first is displaced', () => first.errors.length > 0);
    const higher = await read(2);
    await until('the second is displaced', () => equal.errors.length > 0);
    const [lower, without] = [clients.read('0', { ...end, ownerLevel: 1 }), clients.read('0', end)];
    await until('both are refused', () => lower.errors.length > 0 && without.errors.length > 0);
    for (const reader of [first, equal, lower, without]) expect(reader.errors[0]).toMatchObject(displaced);
    expect(higher.errors).toEqual([]);
  });

  it('with an epoch displace those without', async () => {
    const { clients } = world();
    const end = await endOf(clients, '1');
    const without = clients.read('1', { ...end, ...soon });
    await until('it reads', () => without.contexts.length > 0);
    clients.read('1', { ...end, ownerLevel: 1 });
    await until('it is displaced', () => without.errors.length > 0);
    expect(without.errors[0]).toMatchObject(displaced);
  });

  it('of different groups do not disturb each other, and each reads all', async () => {
    const { clients } = world();
    const end = await endOf(clients, '0');
    await clients.producer().sendBatch(numbers(3), { partitionId: '0' });
    const one = clients.read('0', { ...end, ownerLevel: 1 });
    const other = clients.read('0', { ...end, ownerLevel: 1, group: '$Default' });
    await until('both read', () => one.events.length === 3 && other.events.length === 3);
    expect([...one.errors, ...other.errors]).toEqual([]);
  });

  it('are five without an epoch at most', async () => {
    const { clients } = world();
    const end = await endOf(clients, '1');
    const five = numbers(5).map(() => clients.read('1', { ...end, ...soon }));
    await until('five read', () => five.every(({ contexts }) => contexts.length > 0));
    const sixth = clients.read('1', end);
    await until('the sixth is refused', () => sixth.errors.length > 0);
    expect(sixth.errors[0]?.message).toContain('maximum number of allowed receivers');
    expect(five.flatMap(({ errors }) => errors)).toEqual([]);
  });
}
