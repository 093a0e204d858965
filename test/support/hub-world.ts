/** A small world for whole processes on Event Hubs: the bundle on a local broker, Azurite, a ledger and a Stripe of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventHubProducerClient } from '@azure/event-hubs';
import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob';
import { Worker } from '../../stacks/local/workers';
import { type StripeEmulator, startStripeEmulator } from '../emulators';
import { type AmqpBroker, startAmqpBroker } from '../emulators/amqp';
import { type LedgerDatabase, ledgerDatabase } from './ledger-database';
import { until } from './until';

/** The bundle of this state. */
export const HUB_BUNDLE = join(__dirname, '../../dist/runtime/image/event-hubs/chargeonce.js');
export const GROUP = 'chargeonce';
export const HUB = 'usage';
export const OWNERSHIP_MS = 4_000;

export interface HubEvent {
  readonly customer: string;
  readonly period?: string;
  readonly amount?: number;
}

export interface HubWorld {
  readonly broker: AmqpBroker;
  readonly stripe: StripeEmulator;
  readonly database: LedgerDatabase;
  readonly container: ContainerClient;
  /** @param command of the bundle. Absent: consume */
  startWorker(extra?: Readonly<Record<string, string>>, command?: readonly string[]): Promise<Worker>;
  publish(events: readonly HubEvent[], partitionId?: string): Promise<void>;
  /** Resolves when as many rows are charged. */
  charged(count: number, timeoutMs?: number): Promise<void>;
  /** Sequence number of each partition's checkpoint. */
  checkpoints(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

export interface HubWorldOptions {
  /** Azurite's, or that of a proxy in front of it. */
  readonly storage: string;
  /** For the test itself. Default: the same. */
  readonly directStorage?: string;
  /** Default: 2. */
  readonly partitions?: number;
  /** Default: one of its own. */
  readonly broker?: AmqpBroker;
}

let worlds = 0;

export async function hubWorld(options: HubWorldOptions): Promise<HubWorld> {
  const containerName = `checkpoints-${process.pid}-${++worlds}`;
  const container = BlobServiceClient.fromConnectionString(options.directStorage ?? options.storage).getContainerClient(
    containerName,
  );
  const [broker, database, stripe] = await Promise.all([
    options.broker ?? startAmqpBroker(),
    ledgerDatabase(),
    startStripeEmulator({ autoCustomers: true }),
    container.create(),
  ]);
  broker.createHub(HUB, { partitions: options.partitions ?? 2, consumerGroups: [GROUP] });
  const logFolder = mkdtempSync(join(tmpdir(), 'chargeonce-hub-world-'));
  const workers: Worker[] = [];
  const environment = {
    SOURCE: 'event-hubs',
    EVENTHUB_NAME: HUB,
    EVENTHUB_CONSUMER_GROUP: GROUP,
    EVENTHUB_CONNECTION_STRING: broker.connectionString,
    EVENTHUB_OWNERSHIP_MS: String(OWNERSHIP_MS),
    CHECKPOINT_CONNECTION_STRING: options.storage,
    CHECKPOINT_CONTAINER: containerName,
    DATABASE_URL: database.url,
    PGSSLMODE: 'disable',
    STRIPE_API_KEY: 'rk_test_hub_0123456789',
    STRIPE_API_BASE: stripe.url,
    STRIPE_MAX_RPS: '100',
    STRIPE_TIMEOUT_MS: '2500',
    CLAIM_TTL_MS: '15000',
    RECONCILE_INTERVAL_MS: '500',
    SPEND_CAP_MODE: 'off',
    HEALTH_HOST: '127.0.0.1',
    DRAIN_TIMEOUT_MS: '20000',
  };
  return {
    broker,
    stripe,
    database,
    container,
    async startWorker(extra = {}, command = ['consume']) {
      const name = `worker-${workers.length + 1}`;
      const worker = await Worker.start(name, { bundle: HUB_BUNDLE, command, environment, logFolder }, extra);
      workers.push(worker);
      return worker;
    },
    publish: (events, partitionId) => publishTo(broker, events, partitionId),
    charged: (count, timeoutMs = 30_000) =>
      until(
        `${count} rows are charged`,
        async () => {
          const [row] = await database.query<{ n: number }>(
            "SELECT count(*)::int AS n FROM billing_records WHERE status = 'charged'",
          );
          return row?.n === count;
        },
        timeoutMs,
      ),
    checkpoints: () => checkpointsIn(container),
    async close() {
      for (const worker of workers) if (worker.exit === undefined) worker.kill();
      await Promise.all(workers.map((worker) => worker.exited));
      await Promise.all([stripe.close(), broker.close(), database.drop()]);
      rmSync(logFolder, { recursive: true, force: true });
    },
  };
}

/** Sequence number of each partition's checkpoint in a container. */
export async function checkpointsIn(container: ContainerClient): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for await (const { name, metadata } of container.listBlobsFlat({ includeMetadata: true })) {
    if (!name.includes('/checkpoint/')) continue;
    found[name.slice(name.lastIndexOf('/') + 1)] = Number(metadata?.sequencenumber);
  }
  return found;
}

async function publishTo(broker: AmqpBroker, events: readonly HubEvent[], partitionId?: string): Promise<void> {
  const producer = new EventHubProducerClient(broker.connectionString, HUB);
  try {
    for (const event of events) {
      const place = partitionId === undefined ? { partitionKey: event.customer } : { partitionId };
      await producer.sendBatch([{ body: Buffer.from(JSON.stringify(bodyOf(event))) }], place);
    }
  } finally {
    await producer.close();
  }
}

function bodyOf({ customer, period = '2026-10', amount = 500 }: HubEvent): object {
  return { customer_id: customer, billing_period: period, stripe_customer_id: `cus_${customer}`, amount_cents: amount };
}
