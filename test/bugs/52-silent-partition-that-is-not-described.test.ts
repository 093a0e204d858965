/**
 * Whether a partition is silent was seen by asking the hub how far it is. Where the hub did not answer for that very
 * partition, while it did for others, a silent link on it was never found.
 */
import { EventHubConsumerClient } from '@azure/event-hubs';
import { describe, expect, it } from 'vitest';
import type { BlobStore } from '../../runtime/sources/event-hubs/blob-store';
import { GROUP, HUB, OWNERSHIP_MS, useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources(2);
/** Longer than a pump waits for the next events. */
const SILENCE_MS = 2_500;

/** Of the first client, partition 0 does not describe itself. */
function connect() {
  let clients = 0;
  return (store: BlobStore) => {
    const client = new EventHubConsumerClient(GROUP, world().broker.connectionString, HUB, store, {
      identifier: store.owner,
      loadBalancingOptions: {
        strategy: 'greedy',
        updateIntervalInMs: 500,
        partitionOwnershipExpirationIntervalInMs: OWNERSHIP_MS,
      },
    });
    const ask = client.getPartitionProperties.bind(client);
    if (clients++ === 0)
      client.getPartitionProperties = (id, options) =>
        id === '0' ? Promise.reject(new Error('the server is busy')) : ask(id, options);
    return client;
  };
}

describe('a silent partition that the hub does not describe', () => {
  it('is connected anew, and what waits is read', async () => {
    const { broker, send } = world();
    const worker = await world().worker('only', { silenceMs: SILENCE_MS, connect: connect() });
    await until('both are held', () => worker.held() === 2);
    await send(0, 1, '0');
    await until('the first is read', () => worker.consumer.texts.length === 1);
    broker.faults.stall({ entity: HUB, partition: '0' });
    await send(1, 2, '0');
    await until('the rest is read', () => worker.consumer.texts.length === 3);
    expect(worker.metrics.counted('silentPartitions')).toBe(1);
    expect(worker.log.has(/brings nothing, and the hub does not say whether it has more/)).toBe(true);
    await until('it is ready', () => worker.notReady() === undefined);
  });
});
