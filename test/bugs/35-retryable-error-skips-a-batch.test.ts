/**
 * Reported of Microsoft's JavaScript client: a handler that rejects with an error marked `retryable`, as each transient
 * error of the Azure SDKs is, or with nothing at all, is not called again with its batch. The client goes on with the next
 * one, and the next checkpoint buries the events that were skipped.
 */
import { isDeepStrictEqual } from 'node:util';
import { EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import { RestError } from '@azure/storage-blob';
import { describe, expect, it } from 'vitest';
import type { Delivery, Partition, PartitionConsumer } from '../../runtime/processor/ports';
import { useHubBilling } from '../support/hub-billing';
import { forgetfulStore, GROUP, HUB } from '../support/hub-source';
import { until } from '../support/until';

const retryable = (error: Error) => Object.assign(error, { retryable: true });

/** By partition: what it is, for who reads this, and the thing itself. */
const THROWN: readonly (readonly [string, unknown])[] = [
  ['a transient error of a messaging SDK', retryable(new Error('the link was detached'))],
  ['a storage that is busy', new RestError('busy', { statusCode: 503, code: 'ServerBusy' })],
  ['what is left when the SDK has tried for long', new AggregateError([retryable(new Error('timeout'))], 'tried')],
  ['a timeout that says it is an abort', Object.assign(new Error('aborted'), { name: 'AbortError' })],
  ['undefined', undefined],
  ['null', null],
  ['a string', 'out of luck'],
];

const world = useHubBilling(THROWN.length);

/** On each partition throws what is its own, once at once and once later, before it lets a batch through. */
class Failing implements PartitionConsumer {
  readonly failures = new Map<string, number>();

  constructor(private readonly inner: PartitionConsumer) {}

  deliver(partition: Partition, batch: readonly Delivery[]): Promise<void> {
    const number = partition.id.split('/').at(-1) ?? '';
    const failures = (this.failures.get(number) ?? 0) + 1;
    this.failures.set(number, failures);
    const [, error] = THROWN[Number(number)] ?? [];
    if (failures === 1) throw error;
    return failures === 2 ? Promise.reject(error) : this.inner.deliver(partition, batch);
  }

  finished(partition: Partition): Promise<boolean> {
    return this.inner.finished(partition);
  }
}

describe('a batch whose handling fails', () => {
  it('is read again, whatever it fails with, and every customer is charged once', async () => {
    const { hub, publish, worker, charges, charged } = world();
    const handlers: Failing[] = [];
    const wrap = (processor: PartitionConsumer) => {
      const handler = new Failing(processor);
      handlers.push(handler);
      return handler;
    };
    const partitions = THROWN.map((_, partition) => String(partition));
    for (const partition of partitions) await publish([`a${partition}`, `b${partition}`], partition);
    await worker('only', { wrap });
    for (const partition of partitions) {
      await until(`partition ${partition} has failed twice`, () => (handlers[0]?.failures.get(partition) ?? 0) > 1);
      await publish([`c${partition}`], partition);
    }
    const all = partitions.flatMap((partition) => [`a${partition}`, `b${partition}`, `c${partition}`]);
    await charged(all);
    const ends = Object.fromEntries(partitions.map((partition) => [partition, 2]));
    await until('the checkpoints are at the last', async () => isDeepStrictEqual(await hub.checkpoints(), ends));
    expect(charges(all)).toEqual(all.map(() => 1));
  });

  it.each([
    ['an error marked retryable', retryable(new Error('the link was detached'))],
    ['undefined', undefined],
  ])('twin: with %s is skipped by the bare client', async (_, error) => {
    const { hub } = world();
    await hub.send(0, 3, '0');
    const client = new EventHubConsumerClient(GROUP, hub.broker.connectionString, HUB, forgetfulStore);
    const [seen, refused]: [string[], string[]] = [[], []];
    const subscription = client.subscribe(
      '0',
      {
        processEvents: async (events) => {
          const texts = events.map(({ body }) => Buffer.from(body as Uint8Array).toString());
          if (refused.length > 0) seen.push(...texts);
          else if (texts.length > 0) {
            refused.push(...texts);
            throw error;
          }
        },
        processError: async () => undefined,
      },
      { startPosition: earliestEventPosition, maxBatchSize: 3, maxWaitTimeInSeconds: 1, skipParsingBodyAsJson: true },
    );
    try {
      await until('a batch was refused', () => refused.length > 0);
      await hub.send(3, 2, '0');
      await until('it goes on', () => seen.includes('event-4'));
      expect(seen.filter((text) => refused.includes(text))).toEqual([]);
    } finally {
      await subscription.close();
      await client.close();
    }
  });
});
