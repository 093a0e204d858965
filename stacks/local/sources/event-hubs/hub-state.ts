/** Who owns which partition and how far it was read, by the blobs and the hub themselves. */
import { type BlobKind, blobName } from '../../../../runtime/sources/event-hubs/blob-names';
import type { EventHub } from '../../../../test/emulators/amqp';
import type { Fleet } from '../../fleet';
import type { Worker } from '../../workers';
import type { EventHubsParts } from './parts';

export function hubOf({ broker, plan }: EventHubsParts): EventHub {
  const hub = broker.hubs.get(plan.hub.name.toLowerCase());
  if (!hub) throw new Error(`The broker has no hub ${plan.hub.name}.`);
  return hub;
}

/** Events that the hub has stored, over all partitions. */
export function storedIn(parts: EventHubsParts): number {
  return [...hubOf(parts).partitions.values()].reduce((sum, { end }) => sum + end, 0);
}

/** Owner as the blob names it; empty: nobody. */
export async function ownerOf(parts: EventHubsParts, partition: string): Promise<string> {
  return (await metadataOf(parts, 'ownership', partition)).ownerid ?? '';
}

/** Takes the partition, or gives it up, by another's hand: whatever the blob said before. */
export async function setOwner(parts: EventHubsParts, partition: string, owner: string): Promise<void> {
  await blobOf(parts, 'ownership', partition).setMetadata({ ownerid: owner });
}

/** Sequence number of the last event that is done; -1: none. */
export async function checkpointOf(parts: EventHubsParts, partition: string): Promise<number> {
  return Number((await metadataOf(parts, 'checkpoint', partition)).sequencenumber ?? -1);
}

/** The living worker of an owner, whose name starts with the worker's. */
export function workerOf(owner: string, fleet: Fleet): Worker | undefined {
  return fleet.alive.find((worker) => owner.startsWith(`${worker.name}:`));
}

/** Partitions that are not read to their end by the checkpoints. */
export async function behind(parts: EventHubsParts): Promise<string[]> {
  const found = await Promise.all(
    [...hubOf(parts).partitions].map(async ([partition, { end }]) => {
      const checkpoint = await checkpointOf(parts, partition);
      return checkpoint >= end - 1 ? [] : [`${partition} (at ${checkpoint} of ${end - 1})`];
    }),
  );
  return found.flat();
}

async function metadataOf(parts: EventHubsParts, kind: BlobKind, partition: string): Promise<Record<string, string>> {
  const blob = blobOf(parts, kind, partition);
  return (await blob.exists()) ? ((await blob.getProperties()).metadata ?? {}) : {};
}

/** By the namespace's own name, wherever the workers were led: autoscalers look there too. */
function blobOf({ container, plan }: EventHubsParts, kind: BlobKind, partition: string) {
  const { namespace, hub, consumerGroup } = plan;
  const group = { fullyQualifiedNamespace: namespace, eventHubName: hub.name, consumerGroup };
  return container.getBlockBlobClient(blobName(group, kind, partition));
}
