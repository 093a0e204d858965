/** What only the local broker does, as Microsoft's own client sees it: faults, retention by count, several namespaces. */
import { EventHubConsumerClient, EventHubProducerClient, latestEventPosition } from '@azure/event-hubs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bodies, Clients, numbers } from '../../support/event-hubs/clients';
import { until } from '../../support/until';
import { type AmqpBroker, type EventHub, startAmqpBroker } from '.';

/** A client notices a lost answer only when its try times out. */
const retryOptions = { maxRetries: 6, timeoutInMs: 1_500, retryDelayInMs: 50 };
const GROUP = 'chargeonce';

let broker: AmqpBroker;
let hub: EventHub;
let clients: Clients;
beforeEach(async () => {
  broker = await startAmqpBroker();
  hub = broker.createHub('usage', { partitions: 2, consumerGroups: [GROUP] });
  clients = new Clients({ connectionString: broker.connectionString, hub: 'usage', group: GROUP }, retryOptions);
});
afterEach(async () => {
  await clients.close();
  await broker.close();
});

const kept = (partition = '0') => hub.partitions.get(partition)?.end;
const linksOf = (partition: string) => [...hub.links].filter((link) => link.partition === partition);

describe('a consumer', () => {
  it('starts strictly after a time, in a partition whose events have known times', async () => {
    let now = 1_700_000_000_000;
    const timed = await startAmqpBroker({ now: () => now });
    const at = { connectionString: timed.connectionString, hub: 'timed', group: '$Default' };
    timed.createHub('timed', { partitions: 1 });
    const others = clients.toClose(new Clients(at, retryOptions));
    for (const event of numbers(3)) {
      await others.producer().sendBatch([event], { partitionId: '0' });
      now += 1_000;
    }
    for (const [milliseconds, expected] of [
      [1_699_999_999_999, [0, 1, 2]],
      [1_700_000_000_000, [1, 2]],
      [1_700_000_001_500, [2]],
    ] as const) {
      const reader = others.read('0', { startPosition: { enqueuedOn: milliseconds } });
      await until(`${expected} arrive`, () => reader.events.length >= expected.length);
      expect(bodies(reader)).toEqual(expected);
    }
    await others.close();
    await timed.close();
  });

  it('reads from the oldest that is kept when retention has passed its position', async () => {
    broker.createHub('small', { partitions: 1, capacity: 10 });
    const small = { connectionString: broker.connectionString, hub: 'small', group: '$Default' };
    const others = clients.toClose(new Clients(small, retryOptions));
    const producer = others.producer();
    await producer.sendBatch(numbers(35));
    expect(await producer.getPartitionProperties('0')).toMatchObject({
      beginningSequenceNumber: 25,
      lastEnqueuedSequenceNumber: 34,
    });
    const reader = others.read('0', { startPosition: { sequenceNumber: 3 } });
    await until('the last arrives', () => reader.events.length === 10);
    expect(bodies(reader)).toEqual(numbers(10, 25).map(({ body }) => body));
  });

  it('is refused a position that the partition never came to, and is let in at its end', async () => {
    await clients.producer().sendBatch(numbers(2), { partitionId: '0' });
    const last = hub.partitions.get('0')?.last;
    const beyond = [{ offset: `${Number(last?.offset) + 1}` }, { sequenceNumber: 2 }];
    for (const startPosition of beyond) {
      const refused = clients.read('0', { startPosition });
      await until('it is refused', () => refused.errors.length > 0);
      expect(refused.errors[0]).toMatchObject({
        code: 'ArgumentError',
        retryable: false,
        message: expect.stringMatching(/The supplied (offset|sequence number) '\d+' is invalid/),
      });
    }
    const atEnd = clients.read('0', { startPosition: { offset: last?.offset ?? '' } });
    await until('it reads', () => linksOf('0').length > 0);
    await clients.producer().sendBatch(numbers(3, 2), { partitionId: '0' });
    await until('the next arrives', () => atEnd.events.length > 0);
    expect(atEnd.errors).toEqual([]);
  });

  it('that is busy is sent no more than it has room for', async () => {
    let goOn = () => {};
    const busy = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const reader = clients.read('0', { maxBatchSize: 1, prefetchCount: 7, handle: () => busy });
    await clients.producer().sendBatch(numbers(60), { partitionId: '0' });
    await until('the first arrives', () => reader.events.length === 1);
    // More is answered on the same connection by now, had the link been sent more.
    await clients.producer().getPartitionProperties('0');
    expect(linksOf('0')[0]?.sent).toBeLessThanOrEqual(8);
    goOn();
    await until('all arrive', () => reader.events.length === 60);
    expect(bodies(reader)).toEqual(numbers(60).map(({ body }) => body));
  });

  it('is gone from the hub when its link, its client or its socket is closed', async () => {
    const reader = clients.read('0', { startPosition: latestEventPosition });
    clients.read('1', { startPosition: latestEventPosition });
    await until('both read', () => hub.links.size === 2);
    await reader.close();
    await until('one is gone', () => hub.links.size === 1);
    await clients.close();
    await until('none is left', () => hub.links.size === 0);
  });
});

describe('faults', () => {
  it('a lost acknowledgement makes the client send twice', async () => {
    broker.faults.loseAck();
    await clients.producer().sendBatch([{ body: 'once' }], { partitionId: '0' });
    expect(kept()).toBe(2);
    const reader = clients.read('0');
    await until('two copies arrive', () => reader.events.length === 2);
    expect(bodies(reader)).toEqual(['once', 'once']);
  });

  it('a busy server keeps nothing, and the client tries again', async () => {
    broker.faults.busy(2, { entity: 'USAGE', partition: '0' });
    await clients.producer().sendBatch([{ body: 'once' }], { partitionId: '0' });
    expect(kept()).toBe(1);
    broker.faults.busy(1, { partition: '1' });
    const once = new EventHubProducerClient(broker.connectionString, 'usage', { retryOptions: { maxRetries: 0 } });
    await once.sendBatch([{ body: 'elsewhere' }], { partitionId: '0' });
    await expect(once.sendBatch([{ body: 'here' }], { partitionId: '1' })).rejects.toMatchObject({
      code: 'ServerBusyError',
      retryable: true,
    });
    expect(kept('1')).toBe(0);
    await clients.toClose(once).close();
  });

  it('dropped sockets and detached links are survived without a gap', async () => {
    const producer = clients.producer();
    const reader = clients.read('0');
    await producer.sendBatch(numbers(3), { partitionId: '0' });
    await until('the first arrive', () => reader.events.length === 3);
    expect(broker.faults.dropSockets()).toBe(2);
    await until('the consumer is back', () => linksOf('0').length === 1);
    await producer.sendBatch(numbers(3, 3), { partitionId: '0' });
    await until('the next arrive', () => reader.events.length === 6);
    expect(broker.faults.detach({ entity: 'usage', partition: '0' })).toBe(1);
    await producer.sendBatch(numbers(3, 6), { partitionId: '0' });
    await until('the last arrive', () => reader.events.length === 9);
    expect(bodies(reader)).toEqual(numbers(9).map(({ body }) => body));
  });

  it('silence: links stay open and send nothing, new ones too, until it ends', async () => {
    const letGo = broker.faults.silence({ entity: 'usage', partition: '0' });
    const [silent, other] = [clients.read('0'), clients.read('1')];
    const producer = clients.producer();
    await producer.sendBatch(numbers(1), { partitionId: '0' });
    await producer.sendBatch(numbers(1), { partitionId: '1' });
    await until('the other partition goes on', () => other.events.length === 1);
    await until('the link is there', () => linksOf('0').length === 1);
    expect([silent.events, silent.errors]).toEqual([[], []]);
    letGo();
    await until('it goes on', () => silent.events.length === 1);
  });

  it('a stalled link stays open and never sends again; a new one does', async () => {
    const stalled = clients.read('0');
    await until('it reads', () => linksOf('0').length === 1);
    expect(broker.faults.stall({ entity: 'usage', partition: '0' })).toBe(1);
    await clients.producer().sendBatch(numbers(2), { partitionId: '0' });
    const fresh = clients.read('0');
    await until('the new one reads', () => fresh.events.length === 2);
    expect([stalled.events, stalled.errors]).toEqual([[], []]);
    expect(linksOf('0').map(({ sent }) => sent)).toEqual([0, 2]);
  });

  it('refused tokens, and links refused for want of a role, are tried again', async () => {
    const noRetry = { retryOptions: { maxRetries: 0, timeoutInMs: 1_500 } };
    const once = new EventHubProducerClient(broker.connectionString, 'usage', noRetry);
    broker.faults.refuseTokens(600_000);
    await expect(once.sendBatch(numbers(1))).rejects.toMatchObject({ code: 'UnauthorizedError' });
    broker.faults.refuseTokens(0);
    broker.faults.refuseLinks(600_000);
    await expect(once.sendBatch(numbers(1))).rejects.toMatchObject({
      code: 'UnauthorizedError',
      message: expect.stringContaining("'Send' claim(s) are required"),
    });
    await clients.toClose(once).close();
    broker.faults.refuseLinks(0);
    broker.faults.refuseTokens(100);
    await clients.producer().sendBatch(numbers(1), { partitionId: '0' });
    expect(kept()).toBe(1);
    expect(broker.tokens.length).toBeGreaterThan(2);
  });

  it('a slow namespace is slow, and loses nothing', async () => {
    broker.faults.slow(30);
    const started = performance.now();
    await clients.producer().sendBatch(numbers(10), { partitionId: '0' });
    const reader = clients.read('0');
    await until('all arrive', () => reader.events.length === 10);
    expect(performance.now() - started).toBeGreaterThan(10 * 30);
    expect(bodies(reader)).toEqual(numbers(10).map(({ body }) => body));
  });
});

describe('a broker', () => {
  it('is a namespace of its own: several live in one process', async () => {
    const other = await startAmqpBroker();
    const theirs = other.createHub('usage', { partitions: 1 });
    const at = { connectionString: other.connectionString, hub: 'usage', group: '$Default' };
    const others = clients.toClose(new Clients(at, retryOptions));
    await others.producer().sendBatch(numbers(2));
    expect(theirs.partitions.get('0')?.end).toBe(2);
    expect([kept('0'), kept('1')]).toEqual([0, 0]);
    await others.close();
    await other.close();
  });

  it('keeps its port for a restart, and frees it when it is closed', async () => {
    const { port } = broker;
    await expect(startAmqpBroker({ port })).rejects.toThrow(/EADDRINUSE/);
    await broker.close();
    broker = await startAmqpBroker({ port });
    expect(broker.port).toBe(port);
  });

  it('says which values of its options are allowed', () => {
    expect(() => broker.createHub('Usage')).toThrow('There is a hub Usage already.');
    expect(() => broker.createHub('a', { partitions: 33 })).toThrow('has 33 partitions; allowed: 1 to 32');
    expect(() => broker.createHub('a', { capacity: 0 })).toThrow('has the capacity 0; allowed: whole numbers from 1');
    expect(() => broker.createHub('a/b')).toThrow("cannot be called 'a/b'");
  });

  it('says so when the selector of a link is none', async () => {
    const client = new EventHubConsumerClient(GROUP, broker.connectionString, 'usage', { retryOptions });
    const errors: Error[] = [];
    client.subscribe(
      '0',
      { processEvents: async () => undefined, processError: async (error) => void errors.push(error) },
      { startPosition: { offset: "1' OR 1=1" } },
    );
    await until('it is refused', () => errors.length > 0);
    expect(errors[0]).toMatchObject({ code: 'ArgumentError' });
    await client.close();
  });
});
