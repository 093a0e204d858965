/** The figures that alerts on lag look at, as the source gives them; and how much of the hub is in memory at once. */
import { EventHubConsumerClient, type SubscribeOptions } from '@azure/event-hubs';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../runtime/contract/metrics';
import type { BlobStore } from '../../runtime/sources/event-hubs/blob-store';
import { GROUP, HUB, OWNERSHIP_MS, useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources(2);
/** The watchdog looks twice as often. */
const SILENCE_MS = 600;

describe('lag', () => {
  it('in events is that of the partition that is furthest behind: all that is above its checkpoint', async () => {
    const worker = await world().worker('only', { silenceMs: SILENCE_MS });
    worker.consumer.finishes = ({ text }) => !['event-1', 'event-101'].includes(text);
    await world().send(0, 5, '0');
    await world().send(100, 3, '1');
    await until('all is read', () => worker.consumer.texts.length === 8);
    await until('four wait behind the first of partition 0', () => worker.metrics.gauges.get('consumerLag') === 4);
    expect(await world().checkpoints()).toEqual({ '0': 0, '1': 0 });
    expect(METRICS).toHaveProperty('consumerLag');
  });

  it('in time grows while events wait, and ends when they are read', async () => {
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const worker = await world().worker('only', { silenceMs: SILENCE_MS, batchSize: 1 });
    worker.consumer.onDeliver = async () => gate;
    await world().send(0, 4, '0');
    const behind = () => worker.metrics.gauges.get('millisBehindLatest') ?? 0;
    await until('it is behind', () => behind() > 0);
    const before = behind();
    await until('it is further behind', () => behind() > before);
    go();
    await until('all is read', () => worker.consumer.texts.length === 4);
    await until('it is not behind', () => behind() === 0);
    await until('nothing is above the checkpoint', () => worker.metrics.gauges.get('consumerLag') === 0);
  });
});

describe('what the client holds', () => {
  it.each([
    ['by default', {}, 250],
    ['as it is told', { batchSize: 7 }, 7],
  ])('is bounded, %s: a batch, and as much again in its queue, of each partition', async (_, options, size) => {
    let asked: SubscribeOptions | undefined;
    const connect = (store: BlobStore) => {
      const balancing = { strategy: 'greedy' as const, partitionOwnershipExpirationIntervalInMs: OWNERSHIP_MS };
      const client = new EventHubConsumerClient(GROUP, world().broker.connectionString, HUB, store, {
        identifier: store.owner,
        loadBalancingOptions: { ...balancing, updateIntervalInMs: 500 },
      });
      const subscribe = client.subscribe.bind(client) as (...args: unknown[]) => ReturnType<typeof client.subscribe>;
      client.subscribe = ((handlers: unknown, given: SubscribeOptions) => {
        asked = given;
        return subscribe(handlers, given);
      }) as typeof client.subscribe;
      return client;
    };
    await world().worker('only', { connect, ...options });
    await until('it has subscribed', () => asked !== undefined);
    expect(asked).toMatchObject({ maxBatchSize: size, prefetchCount: size, skipParsingBodyAsJson: true });
  });
});
