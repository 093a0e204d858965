/** Brings up what the program declares on local parts, all on loopback and free ports. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventHubProducerClient } from '@azure/event-hubs';
import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob';
import { Client } from 'pg';
import { createProducer } from '../../../../runtime/sources/event-hubs/publisher-client';
import { type AmqpBroker, type PutToken, startAmqpBroker } from '../../../../test/emulators/amqp';
import { startBlobStorage } from '../../../../test/emulators/blob-storage';
import { startStripeEmulator } from '../../../../test/emulators/stripe';
import { type BlobFaultProxy, startBlobFaultProxy } from '../../../../test/support/blob-fault-proxy';
import { type Entra, startEntra, startEntraEndpoint, startEntraPostgres } from '../../../../test/support/entra';
import { newAuthority } from '../../../../test/support/rds/certificates';
import { type OutageRelay, startOutageRelay } from '../../outage-relay';
import type { Screen } from '../../screen';
import type { Parts } from '../parts';
import { containersOf } from './environment';
import type { ProgramPlan } from './program';
import { startStorageDoor } from './storage-door';

export interface EventHubsParts extends Parts {
  readonly plan: ProgramPlan;
  readonly broker: AmqpBroker;
  readonly producer: EventHubProducerClient;
  /** The checkpoints, past every fault. */
  readonly container: ContainerClient;
  /** Stands between the workers and the checkpoints. */
  readonly storageProxy: BlobFaultProxy;
  /** Stands between everybody of the program and the ledger. */
  readonly ledgerRelay: OutageRelay;
}

/** The services that tokens are for. */
const HUB_SERVICE = 'https://eventhubs.azure.net/';
const STORAGE_SERVICE = 'https://storage.azure.com';
const HOST = '127.0.0.1';

/** `folder`: for files of the run. */
export async function startParts(plan: ProgramPlan, screen: Screen, folder: string): Promise<EventHubsParts> {
  const started: (() => Promise<unknown>)[] = [];
  // The newest first: whoever uses a part goes before it.
  const closeAll = async () => {
    for (const stop of started.splice(0).reverse()) await stop().catch(() => undefined);
  };
  const keep: Keep = async (starting, stop) => {
    const part = await starting;
    started.push(() => stop(part));
    return part;
  };
  try {
    const services = await startServices(plan, keep);
    const { broker, storage, stripe, postgres } = services;
    const doors = await openDoors(plan, services, keep);
    const container = await createAll(plan, services, screen);
    const trust = { ledger: join(folder, 'ledger-authority.pem'), azure: join(folder, 'azure-authority.pem') };
    writeFileSync(trust.ledger, doors.ledger.authority.pem);
    writeFileSync(trust.azure, services.authority.pem);
    const hub = { connectionString: broker.connectionString };
    const producer = await keep(createProducer({ eventHubName: plan.hub.name, hub, timeoutMs: ANSWER_MS }), close);
    const ledgerUrl = postgres.server.url(plan.database.name);
    return {
      ...{ plan, stripe, broker, container, producer, close: closeAll, ...doors },
      ...containersOf(plan, { ...services, ...doors, trust }),
      logins: doors.ledger.logins,
      endpoints: {
        PostgreSQL: ledgerUrl,
        'Event Hubs': broker.connectionString,
        Blobs: storage.connectionString,
        Stripe: stripe.url,
      },
      async ledgerClient() {
        const client = new Client({ connectionString: ledgerUrl });
        await client.connect();
        return client;
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Waits for a part and remembers how it is stopped. */
type Keep = <T>(starting: T | Promise<T>, stop: (part: T) => Promise<unknown>) => Promise<T>;
const stop = (part: { stop(): Promise<void> }) => part.stop();
const close = (part: { close(): Promise<void> }) => part.close();

/** What Azure and Stripe have. */
async function startServices(plan: ProgramPlan, keep: Keep) {
  const authority = newAuthority('a stand-in for Azure');
  const entra = await keep(startEntra({ identities: [...plan.identities] }), stop);
  const { database, administrators } = plan;
  const verifyToken = ({ type, token }: PutToken) => mayRead(plan, entra, type, token);
  const [postgres, storage, broker, stripe] = await Promise.all([
    keep(startEntraPostgres({ database: database.name, administrators }), stop),
    keep(startBlobStorage(), stop),
    keep(startAmqpBroker({ tls: authority.sign(HOST), verifyToken }), close),
    keep(startStripeEmulator({ autoCustomers: true }), close),
  ]);
  return { authority, entra, postgres, storage, broker, stripe };
}

type Services = Awaited<ReturnType<typeof startServices>>;

/** What stands before ledger and storage: who is let in, and what goes wrong. */
async function openDoors(plan: ProgramPlan, { authority, entra, postgres, storage }: Services, keep: Keep) {
  const ledger = await keep(startEntraEndpoint({ postgres, entra }), stop);
  const ledgerRelay = await keep(startOutageRelay(ledger), stop);
  const storageProxy = await keep(startBlobFaultProxy(storage), stop);
  const storageDoor = await keep(
    startStorageDoor({
      ...storageProxy,
      certificate: authority.sign(HOST),
      refuse: (token) => refuse(entra, STORAGE_SERVICE, plan.checkpointers, token),
    }),
    stop,
  );
  return { ledger, ledgerRelay, storageProxy, storageDoor };
}

/** The hub and the container; answers the container. */
async function createAll({ hub, consumerGroup, container }: ProgramPlan, services: Services, screen: Screen) {
  const { name, partitionCount, retentionHours } = hub;
  services.broker.createHub(name, {
    partitions: partitionCount,
    consumerGroups: [consumerGroup],
    capacity: KEPT_EVENTS,
  });
  const storage = BlobServiceClient.fromConnectionString(services.storage.connectionString);
  const created = storage.getContainerClient(container.name);
  await created.create();
  screen.step(
    `hub ${name}: ${partitionCount} partitions, kept for ${retentionHours} h, group ${consumerGroup}; ` +
      `container ${container.name}`,
  );
  return created;
}

/** Every event outlasts the run, as it does the hours that the program says. */
const KEPT_EVENTS = 10_000_000;

/** How long a lost acknowledgement is waited for, before the events are sent again. */
const ANSWER_MS = 4_000;

/** As the service does it: a token of an identity that has the role in the program. Keys are the publisher's. */
function mayRead({ receivers }: ProgramPlan, entra: Entra, type: string, token: string): boolean {
  return type !== 'jwt' || refuse(entra, HUB_SERVICE, receivers, token) === undefined;
}

/** Why this token is not good there; undefined when it is. */
function refuse(entra: Entra, service: string, holders: ReadonlySet<string>, token: string): string | undefined {
  const claims = entra.verify(token, service);
  if (typeof claims === 'string') return claims;
  return holders.has(claims.oid) ? undefined : 'The program gives this identity no role here.';
}
