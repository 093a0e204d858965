/** Who owns a partition of a hub, on Azurite: first claims, checkpoints, thieves of a blob and thieves of a link. */
import { EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import type { ContainerClient } from '@azure/storage-blob';
import { describe, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host/host';
import { blobName } from '../../runtime/sources/event-hubs/blob-names';
import { BlobStore, type OwnershipListener } from '../../runtime/sources/event-hubs/blob-store';
import { forgetfulStore, GROUP, HUB, useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources();
const PARTITIONS = Array.from({ length: 8 }, (_, n) => String(n));

function storeOf(owner: string, container: ContainerClient = world().container) {
  const lost: string[] = [];
  const listener: OwnershipListener = {
    mayClaim: () => true,
    listed: () => undefined,
    unlisted: () => undefined,
    claimed: () => undefined,
    unanswered: () => undefined,
    lost: (partitionId, by) => lost.push(`${partitionId}:${by}`),
    unreadable: () => undefined,
  };
  return { lost, store: new BlobStore({ container, owner, host: systemHost, listener }) };
}

const wanted = (ownerId: string) => PARTITIONS.map((partitionId) => ({ ...world().group, partitionId, ownerId }));
const checkpoint = async (partitionId: string) => (await world().checkpoints())[partitionId];

describe('ownership', () => {
  it('of an empty container goes to one of two that claim at the same moment', async () => {
    const [a, b] = [storeOf('a'), storeOf('b')];
    const won = await Promise.all([a.store.claimOwnership(wanted('a')), b.store.claimOwnership(wanted('b'))]);
    const names = won.flat().map(({ partitionId }) => partitionId);
    expect(names.toSorted()).toEqual(PARTITIONS);
    for (const { partitionId, ownerId } of won.flat()) expect(await world().owner(partitionId)).toBe(ownerId);
    expect(a.lost.length + b.lost.length).toBe(PARTITIONS.length);
  });

  it('twin: without a condition both are told that they won', async () => {
    const blob = world().container.getBlockBlobClient(blobName(world().group, 'ownership', '0'));
    const claims = ['a', 'b'].map((ownerid) => blob.upload('', 0, { metadata: { ownerid } }));
    expect((await Promise.all(claims)).map(({ etag }) => typeof etag)).toEqual(['string', 'string']);
  });

  it('is not lost to the first try of the same claim, whose answer was lost', async () => {
    const { proxy, container } = world();
    const worker = await world().worker('only');
    await until('both are held', () => worker.held() === 2);
    const ownership = (path: string) =>
      path.includes(`${container.containerName}/127.0.0.1/${HUB}/${GROUP}/ownership/0`);
    const fault = proxy.inject({
      matches: ({ method, path }) => method === 'PUT' && ownership(path),
      action: { kind: 'drop-response' },
      times: 1,
    });
    await until('a renewal has lost its answer', () => fault.hits.length === 1);
    await world().send(0, 1, '0');
    await until('it is read', () => worker.consumer.texts.includes('event-0'));
    await until('it is renewed again', () => worker.metrics.counted('leaseRenewals{written}') > 4);
    expect(worker.metrics.counted('leasesLost{stolen}')).toBe(0);
  });
});

describe('a checkpoint', () => {
  it('never goes backwards, whoever writes at the same time', async () => {
    const { store } = storeOf('a');
    await store.claimOwnership(wanted('a'));
    const at = (sequenceNumber: number) =>
      store.writeCheckpoint(world().group, '0', { sequenceNumber, offset: String(sequenceNumber) });
    expect(await at(100)).toBe('written');
    expect(await at(40)).toBe('newer');
    expect(await checkpoint('0')).toBe(100);
    const outcomes = await Promise.all([104, 102, 103].map(at));
    expect(outcomes).toContain('written');
    expect(await checkpoint('0')).toBe(104);
  });

  it('is not written by who has lost the partition, and who tries is told', async () => {
    const { store, lost } = storeOf('a');
    await store.claimOwnership(wanted('a'));
    await world().steal('0', 'thief');
    expect(await store.writeCheckpoint(world().group, '0', { sequenceNumber: 7, offset: '7' })).toBe('lost');
    expect(await checkpoint('0')).toBeUndefined();
    expect(lost).toEqual(['0:thief']);
  });
});

describe('a partition that is stolen', () => {
  it('in the container: its work is stopped at once, and nothing more of it is read or checkpointed', async () => {
    const worker = await world().worker('robbed');
    await until('both are held', () => worker.held() === 2);
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    worker.consumer.onDeliver = () => held;
    await world().send(0, 2, '0');
    await until('a batch is in hand', () => worker.consumer.partitions.size === 1);
    const [partition] = [...worker.consumer.partitions];
    expect(partition?.holdsFor(100)).toBe(true);
    await world().steal('0', 'thief');
    await until('it knows', () => partition?.signal.aborted === true);
    expect(partition?.holdsFor(0)).toBe(false);
    await world().send(2, 5, '0');
    go();
    worker.consumer.onDeliver = async () => undefined;
    await world().send(10, 1, '1');
    await until('the other partition is read', () => worker.consumer.texts.includes('event-10'));
    expect(worker.consumer.texts.filter((text) => ['event-2', 'event-6'].includes(text))).toEqual([]);
    expect(await checkpoint('0')).toBeUndefined();
    // The thief gives it up: it is read from the checkpoint, so again from the first event.
    await world().steal('0', '');
    await until('all are read', () => worker.consumer.texts.includes('event-6'));
    expect(worker.consumer.texts.filter((text) => text === 'event-0')).toHaveLength(2);
  });

  it('by its link alone: the fight ends, and every event is read', async () => {
    const worker = await world().worker('robbed');
    await until('both are held', () => worker.held() === 2);
    await world().send(0, 2, '0');
    await until('they are read', () => worker.consumer.records.length === 2);
    const thief = new EventHubConsumerClient(GROUP, world().broker.connectionString, HUB, forgetfulStore);
    const seen: number[] = [];
    const subscription = thief.subscribe(
      '0',
      {
        processEvents: async (events) => {
          seen.push(...events.map(({ sequenceNumber }) => sequenceNumber));
        },
        processError: async () => undefined,
      },
      { startPosition: earliestEventPosition, maxWaitTimeInSeconds: 1 },
    );
    await until('the thief reads', () => seen.length > 0);
    await until('the worker has lost it', () => worker.metrics.counted('leasesLost{stolen}') > 0);
    await subscription.close();
    await thief.close();
    await world().send(2, 3, '0');
    await until('all are read', () => worker.consumer.texts.includes('event-4'));
    await until('the checkpoint is written', async () => (await checkpoint('0')) === 4);
    expect(await world().owner('0')).not.toBe('');
  });
});
