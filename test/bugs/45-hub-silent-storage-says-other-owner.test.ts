/**
 * The client's balancing asks the hub before it asks the storage. A worker that the hub does not answer, after its machine
 * stood still for example, learns nothing of a partition that another worker has taken in the meantime; it must not charge
 * on what it had read, as if nobody could have been asked.
 */
import { EventHubConsumerClient } from '@azure/event-hubs';
import { describe, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host/host';
import type { EventHubsSourceOptions } from '../../runtime/sources/event-hubs';
import { GROUP, HUB, OWNERSHIP_MS, useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources(1);

/** Clients whose questions to the hub fail once it is cut off, while their links are well. */
function cuttable() {
  let cut = false;
  const connect: EventHubsSourceOptions['connect'] = (store) => {
    const client = new EventHubConsumerClient(GROUP, world().broker.connectionString, HUB, store, {
      identifier: store.owner,
      loadBalancingOptions: {
        strategy: 'greedy',
        updateIntervalInMs: OWNERSHIP_MS / 6,
        partitionOwnershipExpirationIntervalInMs: OWNERSHIP_MS,
      },
    });
    const { managementSession: hub } = (client as unknown as { _context: { managementSession: Hub } })._context;
    const ask = hub.getEventHubProperties.bind(hub);
    hub.getEventHubProperties = (...given) => (cut ? Promise.reject(new Error('the hub is busy')) : ask(...given));
    return client;
  };
  return {
    connect,
    cutOff: () => {
      cut = true;
    },
  };
}

interface Hub {
  getEventHubProperties(...given: unknown[]): Promise<unknown>;
}

async function cutOffWorker() {
  const { connect, cutOff } = cuttable();
  const worker = await world().worker('cut off', { connect });
  await until('it is held', () => worker.held() === 1);
  await world().send(0, 1, '0');
  await until('it is read', () => worker.consumer.records.length === 1);
  await until('it is checkpointed', async () => (await world().checkpoints())['0'] === 0);
  cutOff();
  const [partition] = [...worker.consumer.partitions];
  if (partition === undefined) throw new Error('no partition was read');
  return { worker, partition };
}

describe('a worker that the hub does not answer', () => {
  it('asks the storage itself, and gives up what others have taken', async () => {
    const { partition } = await cutOffWorker();
    await world().steal('0', 'other');
    await until('it knows', () => partition.signal.aborted);
    expect(partition.holdsFor(0)).toBe(false);
  });

  it('twin: keeps what is its own for longer than an ownership lasts', async () => {
    const { worker, partition } = await cutOffWorker();
    const begun = systemHost.monotonic();
    await until('an ownership would have ended', () => systemHost.monotonic() - begun > 2 * OWNERSHIP_MS);
    await world().send(1, 1, '0');
    await until('it reads on', () => worker.consumer.texts.includes('event-1'));
    expect(partition.holdsFor(100)).toBe(true);
  });
});
