/** Sources on a local hub in the test's own process: Microsoft's client against the local broker and Azurite. */
import { type CheckpointStore, EventHubProducerClient } from '@azure/event-hubs';
import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { systemHost } from '../../runtime/host/host';
import type { PartitionConsumer } from '../../runtime/processor/ports';
import { azureClients, createEventHubsSource, type EventHubsSourceOptions } from '../../runtime/sources/event-hubs';
import type { GroupName } from '../../runtime/sources/event-hubs/blob-names';
import { type AmqpBroker, startAmqpBroker } from '../emulators/amqp';
import { startBlobStorage } from '../emulators/blob-storage';
import { type BlobFaultProxy, startBlobFaultProxy } from './blob-fault-proxy';
import { checkpointsIn } from './hub-world';
import { KeptLog } from './quiet';
import { RecordingConsumer, RecordingMetrics } from './recording-consumer';

export const GROUP = 'chargeonce';
export const HUB = 'usage';
export const OWNERSHIP_MS = 3_000;

/** With a store, whatever it does, the client attaches as an owner does, and takes the link of whoever reads. */
export const forgetfulStore: CheckpointStore = {
  listOwnership: async () => [],
  claimOwnership: async (claims) => claims,
  updateCheckpoint: async () => undefined,
  listCheckpoints: async () => [],
};

export interface HubWorker {
  readonly consumer: RecordingConsumer;
  readonly metrics: RecordingMetrics;
  readonly log: KeptLog;
  readonly notReady: () => string | undefined;
  /** Partitions held now. */
  readonly held: () => number;
  /** Settles with the source's run. */
  readonly running: Promise<void>;
  /** Stops it as a signal does, and waits for its end. */
  stop(): Promise<void>;
}

export interface HubSourceWorld {
  readonly broker: AmqpBroker;
  /** Between the workers and the storage. */
  readonly proxy: BlobFaultProxy;
  /** Past the proxy. */
  readonly container: ContainerClient;
  readonly group: GroupName;
  /** @param inner what its consumer hands deliveries on to. Absent: they are finished at once */
  worker(name: string, options?: Partial<EventHubsSourceOptions>, inner?: PartitionConsumer): Promise<HubWorker>;
  /** Bodies `event-<n>`, in order. */
  send(from: number, count: number, partitionId: string): Promise<void>;
  checkpoints(): Promise<Record<string, number>>;
  /** What the ownership blob names. */
  owner(partitionId: string): Promise<string>;
  /** Takes a partition away in the container, as another worker would. */
  steal(partitionId: string, owner: string): Promise<void>;
}

/** One storage a file; a broker, a container and workers of each test's own. Answers the test's world. */
export function useHubSources(partitions = 2): () => HubSourceWorld {
  let storage: Awaited<ReturnType<typeof startBlobStorage>>;
  let proxy: BlobFaultProxy;
  let world: HubSourceWorld;
  let end: () => Promise<void>;
  let names = 0;
  beforeAll(async () => {
    storage = await startBlobStorage();
    proxy = await startBlobFaultProxy(storage);
  });
  afterAll(async () => {
    await proxy?.stop();
    await storage?.stop();
  });
  beforeEach(async () => {
    const name = `group-${++names}`;
    const container = BlobServiceClient.fromConnectionString(storage.connectionString).getContainerClient(name);
    [world, end] = await open(proxy, container, partitions);
  });
  afterEach(() => end());
  return () => world;
}

async function open(proxy: BlobFaultProxy, container: ContainerClient, partitions: number) {
  const [broker] = await Promise.all([startAmqpBroker(), container.create()]);
  broker.createHub(HUB, { partitions, consumerGroups: [GROUP] });
  const workers: HubWorker[] = [];
  const ownership = (partitionId: string) =>
    container.getBlockBlobClient(`127.0.0.1/${HUB}/${GROUP}/ownership/${partitionId}`);
  const world: HubSourceWorld = {
    broker,
    proxy,
    container,
    group: { fullyQualifiedNamespace: '127.0.0.1', eventHubName: HUB, consumerGroup: GROUP },
    async worker(name, options = {}, inner) {
      const started = await startWorker({ broker, proxy, container }, name, options, inner);
      workers.push(started);
      return started;
    },
    async send(from, count, partitionId) {
      const producer = new EventHubProducerClient(broker.connectionString, HUB);
      const events = Array.from({ length: count }, (_, n) => ({ body: Buffer.from(`event-${from + n}`) }));
      await producer.sendBatch(events, { partitionId });
      await producer.close();
    },
    checkpoints: () => checkpointsIn(container),
    owner: async (partitionId) => (await ownership(partitionId).getProperties()).metadata?.ownerid ?? '',
    steal: async (partitionId, owner) => {
      await ownership(partitionId).setMetadata({ ownerid: owner });
    },
  };
  const end = async () => {
    await Promise.all(workers.map((worker) => worker.stop().catch(() => undefined)));
    await broker.close();
  };
  return [world, end] as const;
}

async function startWorker(
  { broker, proxy, container }: Pick<HubSourceWorld, 'broker' | 'proxy' | 'container'>,
  name: string,
  options: Partial<EventHubsSourceOptions>,
  inner: PartitionConsumer | undefined,
): Promise<HubWorker> {
  const consumer = new RecordingConsumer(inner);
  const [metrics, log, controller] = [new RecordingMetrics(), new KeptLog(), new AbortController()];
  const names = { eventHubName: HUB, consumerGroup: GROUP };
  const ownershipMs = options.ownershipMs ?? OWNERSHIP_MS;
  const clients = await azureClients({
    ...names,
    hub: { connectionString: broker.connectionString },
    checkpoints: { connectionString: proxy.connectionString, container: container.containerName },
    ownershipMs,
  });
  const timing = { ownershipMs, drainTimeoutMs: 5_000, checkpointEveryMs: 50 };
  const all = { ...names, ...clients, workerId: name, host: systemHost, log, metrics, ...timing, ...options };
  const source = createEventHubsSource(all);
  const running = source.run(consumer, controller.signal);
  // Whoever awaits it hears of it; a test that does not must not die of it.
  running.catch(() => undefined);
  return {
    consumer,
    metrics,
    log,
    notReady: () => source.notReady(),
    held: () => metrics.gauges.get('leasesHeld') ?? 0,
    running,
    async stop() {
      controller.abort();
      await running;
    },
  };
}
