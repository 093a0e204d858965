/** Queues as Microsoft's own client of Service Bus sees them. */
import { ServiceBusClient, type ServiceBusReceivedMessage, type ServiceBusReceiver } from '@azure/service-bus';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../support/until';
import { type AmqpBroker, startAmqpBroker } from '.';

const retryOptions = { maxRetries: 4, timeoutInMs: 1_500, retryDelayInMs: 20 };
const WAIT = { maxWaitTimeInMs: 3_000 };
const NO_WAIT = { maxWaitTimeInMs: 200 };
const DEAD_LETTERS = { subQueueType: 'deadLetter' } as const;

const NO_RENEWAL = { maxAutoLockRenewalDurationInMs: 0 };

let broker: AmqpBroker;
let client: ServiceBusClient;
/** The broker's clock is ahead of the machine's by so much: a test passes time instead of waiting for it. */
let ahead = 0;
const pass = (milliseconds: number) => {
  ahead += milliseconds;
};
beforeEach(async () => {
  ahead = 0;
  broker = await startAmqpBroker({ now: () => Date.now() + ahead });
  client = new ServiceBusClient(broker.connectionString, { retryOptions });
});
afterEach(async () => {
  await client.close();
  await broker.close();
});

const send = (queue: string, ...bodies: unknown[]) =>
  client.createSender(queue).sendMessages(bodies.map((body) => ({ body, messageId: `m${body}` })));
const bodies = (messages: readonly ServiceBusReceivedMessage[]) => messages.map(({ body }) => body);
async function one(receiver: ServiceBusReceiver): Promise<ServiceBusReceivedMessage> {
  const [message] = await receiver.receiveMessages(1, WAIT);
  return message!;
}

describe('a queue', () => {
  it('gives a message under a lock, and forgets it when it is completed', async () => {
    const queue = broker.createQueue('charges', { lockDurationMs: 30_000 });
    const sent = {
      body: { amount: 5 },
      messageId: 'acme:2026-10',
      contentType: 'application/json',
      applicationProperties: { from: 'meter' },
    };
    await client.createSender('charges').sendMessages(sent);
    const receiver = client.createReceiver('charges');
    const before = Date.now();
    const message = await one(receiver);
    expect(message).toMatchObject({ ...sent, deliveryCount: 0, state: 'active' });
    expect(message.sequenceNumber?.toString()).toBe('1');
    expect(message.lockToken).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect((message.lockedUntilUtc?.getTime() ?? 0) - before).toBeGreaterThan(25_000);
    expect(queue.messages).toMatchObject([{ state: 'locked' }]);
    await receiver.completeMessage(message);
    expect(queue.messages).toEqual([]);
  });

  it('gives a message that is to be deleted once, and keeps nothing of it', async () => {
    const queue = broker.createQueue('charges');
    await send('charges', 1, 2);
    const receiver = client.createReceiver('charges', { receiveMode: 'receiveAndDelete' });
    expect(bodies(await receiver.receiveMessages(2, WAIT))).toEqual([1, 2]);
    expect(queue.messages).toEqual([]);
  });

  it('gives a message again after its lock ran out, and says to the first that its lock is lost', async () => {
    const queue = broker.createQueue('charges', { lockDurationMs: 30_000 });
    await send('charges', 1);
    const receiver = client.createReceiver('charges', NO_RENEWAL);
    const late = await one(receiver);
    pass(29_000);
    expect(queue.messages).toMatchObject([{ state: 'locked' }]);
    pass(2_000);
    const again = await one(receiver);
    expect(again).toMatchObject({ body: 1, deliveryCount: 1 });
    await expect(receiver.completeMessage(late)).rejects.toMatchObject({ code: 'MessageLockLost' });
    queue.expireLocks();
    await expect(receiver.renewMessageLock(again)).rejects.toMatchObject({ code: 'MessageLockLost' });
  });

  it('holds a lock for as long as it is renewed', async () => {
    const queue = broker.createQueue('charges', { lockDurationMs: 30_000 });
    await send('charges', 1);
    const receiver = client.createReceiver('charges', NO_RENEWAL);
    const message = await one(receiver);
    const first = message.lockedUntilUtc!.getTime();
    for (let round = 1; round <= 3; round++) {
      pass(20_000);
      const renewed = await receiver.renewMessageLock(message);
      expect(renewed.getTime()).toBeGreaterThanOrEqual(first + round * 20_000);
    }
    expect(queue.messages).toMatchObject([{ state: 'locked', deliveryCount: 0 }]);
    pass(31_000);
    expect(queue.messages).toMatchObject([{ state: 'active', deliveryCount: 1 }]);
  });

  it('buries a message that was delivered too often, and one that its receiver buries', async () => {
    broker.createQueue('charges', { maxDeliveryCount: 2 });
    await send('charges', 'poison', 'bad');
    const receiver = client.createReceiver('charges');
    const [poison, bad] = await receiver.receiveMessages(2, WAIT);
    await receiver.deadLetterMessage(bad!, {
      deadLetterReason: 'Negative',
      deadLetterErrorDescription: 'an amount below zero',
      seenBy: 'worker-1',
    });
    await receiver.abandonMessage(poison!, { tried: 1 });
    const second = await one(receiver);
    expect(second).toMatchObject({ body: 'poison', deliveryCount: 1, applicationProperties: { tried: 1 } });
    await receiver.abandonMessage(second);
    const dead = client.createReceiver('charges', DEAD_LETTERS);
    const letters = await dead.receiveMessages(2, WAIT);
    expect(letters.length).toBe(2);
    expect(letters[0]).toMatchObject({
      body: 'bad',
      deadLetterReason: 'Negative',
      deadLetterErrorDescription: 'an amount below zero',
      deadLetterSource: 'charges',
      applicationProperties: { seenBy: 'worker-1' },
    });
    expect(letters[1]).toMatchObject({ body: 'poison', deadLetterReason: 'MaxDeliveryCountExceeded' });
    for (const letter of letters) await dead.completeMessage(letter);
    expect(broker.queues.get('charges/$deadletterqueue')?.messages).toEqual([]);
  });

  it('keeps a deferred message until it is asked for by its number', async () => {
    const queue = broker.createQueue('charges');
    await send('charges', 1);
    const receiver = client.createReceiver('charges');
    const message = await one(receiver);
    await receiver.deferMessage(message, { why: 'later' });
    expect(await receiver.receiveMessages(1, NO_WAIT)).toEqual([]);
    const [deferred] = await receiver.receiveDeferredMessages(message.sequenceNumber!);
    expect(deferred).toMatchObject({ body: 1, applicationProperties: { why: 'later' } });
    await receiver.completeMessage(deferred!);
    expect(queue.messages).toEqual([]);
    await expect(receiver.receiveDeferredMessages(message.sequenceNumber!)).rejects.toMatchObject({
      code: 'MessageNotFound',
    });
  });

  it('takes every settlement of a deferred message, which goes another way', async () => {
    const queue = broker.createQueue('charges');
    await send('charges', 1, 2);
    const receiver = client.createReceiver('charges');
    const numbers = [];
    for (const message of await receiver.receiveMessages(2, WAIT)) {
      await receiver.deferMessage(message);
      numbers.push(message.sequenceNumber!);
    }
    const [first, second] = await receiver.receiveDeferredMessages(numbers);
    await receiver.deadLetterMessage(first!, {
      deadLetterReason: 'Negative',
      deadLetterErrorDescription: 'below zero',
    });
    await receiver.abandonMessage(second!);
    const left = await one(receiver);
    expect(left).toMatchObject({ body: 2, deliveryCount: 1 });
    queue.expireLocks();
    await expect(receiver.abandonMessage(second!)).rejects.toMatchObject({ code: 'MessageLockLost' });
    const letter = await one(client.createReceiver('charges', DEAD_LETTERS));
    expect(letter).toMatchObject({ body: 1, deadLetterReason: 'Negative', deadLetterErrorDescription: 'below zero' });
  });

  it('drops a message whose id it has seen within the window', async () => {
    const queue = broker.createQueue('charges', { duplicateDetectionWindowMs: 60_000 });
    const sender = client.createSender('charges');
    await sender.sendMessages({ body: 1, messageId: 'same' });
    pass(50_000);
    await sender.sendMessages([
      { body: 2, messageId: 'same' },
      { body: 3, messageId: 'other' },
    ]);
    expect(queue.messages.length).toBe(2);
    pass(11_000);
    await sender.sendMessages({ body: 4, messageId: 'same' });
    expect(queue.messages.length).toBe(3);
  });

  it('shows what is in it without taking it', async () => {
    broker.createQueue('charges');
    await send('charges', 1, 2, 3);
    const receiver = client.createReceiver('charges');
    expect(bodies(await receiver.peekMessages(2))).toEqual([1, 2]);
    expect(bodies(await receiver.peekMessages(2))).toEqual([3]);
    expect(await receiver.peekMessages(2)).toEqual([]);
    expect(bodies(await receiver.receiveMessages(3, WAIT))).toEqual([1, 2, 3]);
  });

  it('gives a scheduled message when it is due, and a cancelled one never', async () => {
    const queue = broker.createQueue('charges');
    const sender = client.createSender('charges');
    const soon = new Date(Date.now() + 500);
    const [first, second] = await sender.scheduleMessages([{ body: 1 }, { body: 2 }], soon);
    expect(queue.messages.map(({ state }) => state)).toEqual(['scheduled', 'scheduled']);
    await sender.cancelScheduledMessages(second!);
    await expect(sender.cancelScheduledMessages(second!)).rejects.toMatchObject({ code: 'MessageNotFound' });
    const receiver = client.createReceiver('charges');
    const message = await one(receiver);
    expect(message).toMatchObject({ body: 1, sequenceNumber: first });
    expect(Date.now()).toBeGreaterThanOrEqual(soon.getTime());
    await receiver.completeMessage(message);
    expect(queue.messages).toEqual([]);
  });

  it('drops what has expired, or buries it', async () => {
    broker.createQueue('dropped', { defaultMessageTimeToLiveMs: 1 });
    const queue = broker.createQueue('buried', { deadLetteringOnMessageExpiration: true });
    await send('dropped', 1);
    await client.createSender('buried').sendMessages({ body: 2, timeToLive: 1 });
    await until('both are gone', () => queue.messages.length + broker.queues.get('dropped')!.messages.length === 0);
    const letter = await one(client.createReceiver('buried', DEAD_LETTERS));
    expect(letter).toMatchObject({ body: 2, deadLetterReason: 'TTLExpiredException' });
    expect(broker.queues.get('dropped')?.deadLetters?.messages).toEqual([]);
  });

  it('gives a subscriber more as it completes, in order', async () => {
    const queue = broker.createQueue('charges', { lockDurationMs: 2_000 });
    const count = 150;
    await send('charges', ...Array.from({ length: count }, (_, n) => n));
    const got: unknown[] = [];
    const subscription = client.createReceiver('charges').subscribe({
      processMessage: async ({ body }) => void got.push(body),
      processError: async ({ error }) => void got.push(error),
    });
    await until('all are complete', () => queue.messages.length === 0);
    expect(got).toEqual(Array.from({ length: count }, (_, n) => n));
    await subscription.close();
  });

  it('answers a receiver that drains its link, whether there was something or not: the link is kept', async () => {
    broker.createQueue('charges');
    const receiver = client.createReceiver('charges');
    expect(await receiver.receiveMessages(10, { maxWaitTimeInMs: 100 })).toEqual([]);
    await send('charges', 1);
    const { length } = broker.tokens;
    expect(bodies(await receiver.receiveMessages(10, { maxWaitTimeInMs: 100 }))).toEqual([1]);
    expect(await receiver.receiveMessages(10, { maxWaitTimeInMs: 100 })).toEqual([]);
    // A link that was left undrained is closed by the client, and a new one would have put a token first.
    expect(broker.tokens.length).toBe(length);
  });

  it('that does not exist is said so', async () => {
    const missing = { code: 'MessagingEntityNotFound' };
    await expect(client.createReceiver('nothing').receiveMessages(1, NO_WAIT)).rejects.toMatchObject(missing);
    await expect(client.createSender('nothing').sendMessages({ body: 1 })).rejects.toMatchObject(missing);
    expect(() => broker.createQueue('a', { maxDeliveryCount: 0 })).toThrow('has the maxDeliveryCount 0; allowed');
    broker.createQueue('b');
    expect(() => broker.createHub('B')).toThrow('There is a queue B already.');
  });
});

describe('sessions', () => {
  beforeEach(() => broker.createQueue('sessions', { requiresSession: true, lockDurationMs: 30_000 }));
  const sendTo = (sessionId: string, ...all: unknown[]) =>
    client.createSender('sessions').sendMessages(all.map((body) => ({ body, sessionId })));

  it('have one receiver at a time, and keep their order', async () => {
    await sendTo('acme', 1, 2);
    await sendTo('globex', 3);
    const acme = await client.acceptSession('sessions', 'acme');
    expect(acme.sessionLockedUntilUtc.getTime()).toBeGreaterThan(Date.now());
    const noRetry = new ServiceBusClient(broker.connectionString, { retryOptions: { maxRetries: 0 } });
    await expect(noRetry.acceptSession('sessions', 'acme')).rejects.toMatchObject({ code: 'SessionCannotBeLocked' });
    const next = await client.acceptNextSession('sessions');
    expect(next.sessionId).toBe('globex');
    await expect(noRetry.acceptNextSession('sessions')).rejects.toMatchObject({ code: 'ServiceTimeout' });
    for (const receiver of [acme, next]) {
      const messages = await receiver.receiveMessages(5, { maxWaitTimeInMs: 500 });
      expect(bodies(messages)).toEqual(receiver === acme ? [1, 2] : [3]);
      for (const message of messages) await receiver.completeMessage(message);
    }
    expect(broker.queues.get('sessions')?.messages).toEqual([]);
    await noRetry.close();
  });

  it('keep a state, and are given on when their receiver is gone', async () => {
    await sendTo('acme', 1);
    const first = await client.acceptSession('sessions', 'acme');
    expect(await first.getSessionState()).toBeNull();
    await first.setSessionState(Buffer.from('half'));
    expect(await one(first)).toMatchObject({ deliveryCount: 0 });
    await first.close();
    const second = await client.acceptNextSession('sessions');
    expect(await second.getSessionState()).toEqual(Buffer.from('half'));
    expect(await one(second)).toMatchObject({ body: 1, deliveryCount: 0 });
  });

  it('are lost when their lock runs out, unless it is renewed', async () => {
    await sendTo('acme', 1);
    const receiver = await client.acceptSession('sessions', 'acme', NO_RENEWAL);
    const message = await one(receiver);
    pass(20_000);
    await receiver.renewSessionLock();
    pass(20_000);
    expect(broker.queues.get('sessions')?.messages).toMatchObject([{ state: 'locked' }]);
    pass(11_000);
    expect(broker.queues.get('sessions')?.messages).toMatchObject([{ state: 'active' }]);
    await until('its receiver knows', () => receiver.isClosed);
    await expect(receiver.completeMessage(message)).rejects.toMatchObject({ code: 'SessionLockLost' });
    const next = await client.acceptNextSession('sessions');
    expect(await one(next)).toMatchObject({ body: 1, deliveryCount: 1 });
  });

  it('are asked for, by who sends and by who receives', async () => {
    broker.createQueue('plain');
    const noRetry = new ServiceBusClient(broker.connectionString, { retryOptions: { maxRetries: 0 } });
    await expect(noRetry.createSender('sessions').sendMessages({ body: 1 })).rejects.toThrow(/SessionId was not set/);
    await expect(noRetry.createReceiver('sessions').receiveMessages(1)).rejects.toThrow(/takes no non-sessionful/);
    await expect(noRetry.acceptSession('plain', 'acme')).rejects.toThrow();
    await noRetry.close();
  });
});

describe('faults', () => {
  it('a lost acknowledgement makes two messages of one, unless duplicates are detected', async () => {
    const plain = broker.createQueue('plain');
    const safe = broker.createQueue('safe', { duplicateDetectionWindowMs: 60_000 });
    const other = new ServiceBusClient(broker.connectionString, { retryOptions });
    broker.faults.loseAck(1, { entity: 'plain' });
    broker.faults.loseAck(1, { entity: 'safe' });
    // Over a connection of its own, since a lost acknowledgement cuts it.
    await Promise.all([send('plain', 1), other.createSender('safe').sendMessages({ body: 1, messageId: 'm1' })]);
    await other.close();
    expect([plain.messages.length, safe.messages.length]).toEqual([2, 1]);
  });

  it('a settlement whose answer is lost was made', async () => {
    const queue = broker.createQueue('charges');
    await send('charges', 1);
    const receiver = client.createReceiver('charges');
    const message = await one(receiver);
    broker.faults.loseSettlement();
    await expect(receiver.completeMessage(message)).rejects.toThrow();
    expect(queue.messages).toEqual([]);
  });

  it('a dropped connection leaves its messages locked until their time is over', async () => {
    const queue = broker.createQueue('charges', { lockDurationMs: 30_000 });
    await send('charges', 1);
    await one(client.createReceiver('charges', NO_RENEWAL));
    broker.faults.dropSockets();
    expect(queue.messages).toMatchObject([{ state: 'locked' }]);
    const other = new ServiceBusClient(broker.connectionString, { retryOptions });
    const receiver = other.createReceiver('charges');
    expect(await receiver.receiveMessages(1, NO_WAIT)).toEqual([]);
    pass(31_000);
    expect(await one(receiver)).toMatchObject({ body: 1, deliveryCount: 1 });
    await other.close();
  });

  it('a busy server, a detached link and a silent one are survived by a subscriber', async () => {
    const queue = broker.createQueue('charges');
    broker.faults.busy(1, { entity: 'charges' });
    await send('charges', 1);
    const got: unknown[] = [];
    client.createReceiver('charges').subscribe({
      processMessage: async ({ body }) => void got.push(body),
      processError: async () => undefined,
    });
    await until('the first is complete', () => queue.messages.length === 0 && got.length === 1);
    expect(broker.faults.detach({ entity: 'charges' })).toBe(1);
    await send('charges', 2);
    await until('the second is complete', () => queue.messages.length === 0 && got.length === 2);
    const letGo = broker.faults.silence({ entity: 'charges' });
    await send('charges', 3);
    expect(queue.messages).toMatchObject([{ state: 'active' }]);
    letGo();
    await until('the third is complete', () => got.length === 3);
    expect(got).toEqual([1, 2, 3]);
  });
});
