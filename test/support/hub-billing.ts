/** From a hub to the books in one process: the source on local parts, the processor, the ledger and Stripe's emulator. */
import { EventHubProducerClient } from '@azure/event-hubs';
import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob';
import type { PartitionConsumer } from '../../runtime/processor/ports';
import type { EventHubsSourceOptions } from '../../runtime/sources/event-hubs';
import type { OwnershipListener } from '../../runtime/sources/event-hubs/blob-store';
import {
  type BillingWorld,
  eventOf,
  override,
  useBillingWorld,
  type Worker,
  type WorkerOptions,
} from './billing-world';
import type { BlobFaultProxy, BlobRequest } from './blob-fault-proxy';
import { HUB, type HubSourceWorld, type HubWorker, useHubSources } from './hub-source';
import { until } from './until';

/** Long enough for a charge to be begun within it on a busy machine, short enough to be waited for. */
export const CHARGING_OWNERSHIP_MS = 4_000;

export interface HubBillingOptions {
  readonly source?: Partial<EventHubsSourceOptions>;
  readonly billing?: WorkerOptions;
  /** Around the processor. */
  readonly wrap?: (processor: PartitionConsumer) => PartitionConsumer;
}

export interface ChargingWorker extends HubWorker {
  readonly billing: Worker;
}

export interface HubBillingWorld {
  readonly hub: HubSourceWorld;
  readonly billing: BillingWorld;
  worker(name: string, options?: HubBillingOptions): Promise<ChargingWorker>;
  /** One event for each of these customers, in order, in one batch. */
  publish(customers: readonly string[], partitionId: string): Promise<void>;
  /** Resolves when each of these customers is charged; reconciles meanwhile, as every worker does beside its source. */
  charged(customers: readonly string[]): Promise<void>;
  /** How often each of these customers was charged, by the books. */
  charges(customers: readonly string[]): number[];
}

export function useHubBilling(partitions = 1): () => HubBillingWorld {
  // In this order: sources stop before what they charge with is closed.
  const billing = useBillingWorld({ autoCustomers: true });
  const hub = useHubSources(partitions);
  const charges = (customers: readonly string[]) => customers.map((customer) => billing().charges(customer));
  return () => ({
    hub: hub(),
    billing: billing(),
    async worker(
      name,
      { source = {}, billing: options = {}, wrap = (processor: PartitionConsumer) => processor } = {},
    ) {
      const worker = billing().worker(options);
      const timing = { ownershipMs: CHARGING_OWNERSHIP_MS, ...source };
      return { ...(await hub().worker(name, timing, wrap(worker.processor))), billing: worker };
    },
    async publish(customers, partitionId) {
      const producer = new EventHubProducerClient(hub().broker.connectionString, HUB);
      const events = customers.map((id) => ({ body: Buffer.from(JSON.stringify(eventOf(id))) }));
      await producer.sendBatch(events, { partitionId });
      await producer.close();
    },
    charges,
    charged(customers) {
      const reconciler = billing().worker();
      return until(`charged are ${customers}`, async () => {
        if (charges(customers).every((count) => count > 0)) return true;
        await reconciler.reconcile();
        return false;
      });
    },
  });
}

export const isCheckpointWrite = ({ method, path }: BlobRequest): boolean =>
  method === 'PUT' && path.includes('/checkpoint/');

/** Sequence numbers of the checkpoints that the storage has taken, as they come, by partition. */
export function recordCheckpoints(proxy: BlobFaultProxy, container: ContainerClient): Map<string, number[]> {
  const taken = new Map<string, number[]>();
  proxy.onAnswered((request) => {
    const { status = 500, path, headers } = request;
    if (!isCheckpointWrite(request) || status >= 300 || !path.includes(`/${container.containerName}/`)) return;
    const partition = path.slice(path.lastIndexOf('/') + 1);
    taken.set(partition, [...(taken.get(partition) ?? []), Number(headers['x-ms-meta-sequencenumber'])]);
  });
  return taken;
}

/** The container as the store that Microsoft publishes writes to it: first claims and checkpoints without a condition. */
export function unconditional(container: ContainerClient): ContainerClient {
  return override(container, {
    getBlockBlobClient: (name: string) => {
      const blob = container.getBlockBlobClient(name);
      return override(blob, {
        upload: (body, length, { conditions: _conditions, ...options } = {}) => blob.upload(body, length, options),
        setMetadata: (metadata, { conditions: _conditions, ...options } = {}) => blob.setMetadata(metadata, options),
      });
    },
  });
}

/** The world's container on the way that its faults lie on. */
export const throughProxy = (proxy: BlobFaultProxy, { containerName }: ContainerClient): ContainerClient =>
  BlobServiceClient.fromConnectionString(proxy.connectionString).getContainerClient(containerName);

/** A listener for a store without a source. */
export const deaf: OwnershipListener = {
  mayClaim: () => true,
  listed: () => undefined,
  unlisted: () => undefined,
  claimed: () => undefined,
  unanswered: () => undefined,
  lost: () => undefined,
  unreadable: () => undefined,
};
