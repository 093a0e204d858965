/** Brings up what the program declares on local parts, all on loopback and free ports. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EventHubProducerClient } from '@azure/event-hubs';
import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob';
import { Client } from 'pg';
import { type AmqpBroker, startAmqpBroker } from '../../../../test/emulators/amqp';
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
  const keep = <T>(part: T, stop: (part: T) => Promise<unknown>): T => {
    started.unshift(() => stop(part));
    return part;
  };
  const close = async () => {
    // The newest first: whoever uses a part goes before it.
    for (const stop of started.splice(0)) await stop().catch(() => undefined);
  };
  const stop = (part: { stop(): Promise<void> }) => part.stop();
  try {
    const authority = newAuthority('a stand-in for Azure');
    const entra = keep(await startEntra({ identities: [...plan.identities] }), stop);
    const [postgres, storage, broker, stripe] = await Promise.all([
      startEntraPostgres({ database: plan.database.name, administrators: plan.administrators }).then((part) =>
        keep(part, stop),
      ),
      startBlobStorage().then((part) => keep(part, stop)),
      startAmqpBroker({
        tls: authority.sign(HOST),
        verifyToken: ({ token, type }) => mayRead(plan, entra, type, token),
      }).then((part) => keep(part, (broker) => broker.close())),
      startStripeEmulator({ autoCustomers: true }).then((part) => keep(part, (emulator) => emulator.close())),
    ]);
    const door = keep(await startEntraEndpoint({ postgres, entra }), stop);
    const ledgerRelay = keep(await startOutageRelay(door), stop);
    const storageProxy = keep(await startBlobFaultProxy(storage), stop);
    const storageDoor = keep(
      await startStorageDoor({
        ...storageProxy,
        certificate: authority.sign(HOST),
        refuse: (token) => refuse(entra, STORAGE_SERVICE, plan.checkpointers, token),
      }),
      stop,
    );
    const { name, partitionCount } = plan.hub;
    broker.createHub(name, { partitions: partitionCount, consumerGroups: [plan.consumerGroup], capacity: KEPT_EVENTS });
    const container = BlobServiceClient.fromConnectionString(storage.connectionString).getContainerClient(
      plan.container.name,
    );
    await container.create();
    screen.step(
      `hub ${name}: ${partitionCount} partitions, kept for ${plan.hub.retentionHours} h, group ${plan.consumerGroup}; container ${plan.container.name}`,
    );
    const trust = { ledger: join(folder, 'ledger-authority.pem'), azure: join(folder, 'azure-authority.pem') };
    writeFileSync(trust.ledger, door.authority.pem);
    writeFileSync(trust.azure, authority.pem);
    const local = { entra, broker, storageDoor, stripe, ledgerPort: ledgerRelay.port, trust };
    return {
      ...{ plan, stripe, broker, container, storageProxy, ledgerRelay, close },
      ...containersOf(plan, local),
      producer: keep(
        new EventHubProducerClient(broker.connectionString, name, { retryOptions: PRODUCER_RETRIES }),
        (client) => client.close(),
      ),
      logins: door.logins,
      endpoints: {
        PostgreSQL: postgres.server.url(plan.database.name),
        'Event Hubs': broker.connectionString,
        Blobs: storage.endpoint,
        Stripe: stripe.url,
      },
      async ledgerClient() {
        const client = new Client({ connectionString: postgres.server.url(plan.database.name) });
        await client.connect();
        return client;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Every event outlasts the run, as it does the hours that the program says. */
const KEPT_EVENTS = 10_000_000;

/** A lost acknowledgement is noticed, and the events sent again, before anybody falls asleep. */
const PRODUCER_RETRIES = { maxRetries: 5, retryDelayInMs: 200, maxRetryDelayInMs: 1_000, timeoutInMs: 4_000 };

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
