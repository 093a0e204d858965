/** The bundle that is deployed, as a process of its own, from the hub to the books. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AmqpBroker, type PutToken, startAmqpBroker } from '../emulators/amqp';
import { type RunningBlobStorage, startBlobStorage } from '../emulators/blob-storage';
import { type Entra, startEntra } from '../support/entra';
import { type HubWorld, hubWorld } from '../support/hub-world';
import { newAuthority } from '../support/rds/certificates';
import { until } from '../support/until';

/** As the client of Event Hubs asks for it. */
const AUDIENCE = 'https://eventhubs.azure.net/';

describe('a worker on Event Hubs', () => {
  let storage: RunningBlobStorage;
  let world: HubWorld;
  beforeAll(async () => {
    storage = await startBlobStorage();
    world = await hubWorld({ storage: storage.connectionString });
  });
  afterAll(async () => {
    await world?.close();
    await storage?.stop();
  });

  it('charges each customer and period once, whatever is sent twice, and ends when it is told to', async () => {
    await world.publish([{ customer: 'ada' }, { customer: 'bob', amount: 700 }, { customer: 'ada' }]);
    const worker = await world.startWorker();
    await worker.ready(30_000);
    await world.charged(2);
    await world.publish([
      { customer: 'ada', period: '2026-11' },
      { customer: 'bob', amount: 700 },
    ]);
    await world.charged(3);
    await until('every event is below a checkpoint', async () => {
      const done = Object.values(await world.checkpoints()).map((sequence) => sequence + 1);
      return done.reduce((sum, each) => sum + each, 0) === 5;
    });
    expect(await worker.stop(20_000)).toEqual({ code: 0, signal: null });
    expect(world.stripe.books.doubleCharged()).toEqual([]);
    expect(world.stripe.books.charges.map(({ amount }) => amount).sort()).toEqual([500, 500, 700]);
  });
});

describe('a worker with a managed identity', () => {
  const WORKER = { clientId: randomUUID(), principalId: randomUUID(), name: 'worker' };
  const STRANGER = { clientId: randomUUID(), principalId: randomUUID(), name: 'stranger' };
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-hub-identity-'));
  const authority = newAuthority('hub');
  let storage: RunningBlobStorage;
  let entra: Entra;
  let broker: AmqpBroker;
  let world: HubWorld;
  beforeAll(async () => {
    writeFileSync(join(folder, 'ca.pem'), authority.pem);
    storage = await startBlobStorage();
    entra = await startEntra({ identities: [WORKER, STRANGER] });
    const verifyToken = ({ token }: PutToken) => {
      const claims = entra.verify(token, AUDIENCE);
      return typeof claims !== 'string' && claims.oid === WORKER.principalId;
    };
    broker = await startAmqpBroker({
      tls: authority.sign('127.0.0.1'),
      verifyToken: (put) => put.type !== 'jwt' || verifyToken(put),
    });
    world = await hubWorld({ storage: storage.connectionString, broker });
  });
  afterAll(async () => {
    await world?.close();
    await entra?.stop();
    await storage?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const environment = ({ clientId }: typeof WORKER) => ({
    ...entra.environment(clientId),
    AZURE_CLIENT_ID: clientId,
    EVENTHUB_CONNECTION_STRING: '',
    EVENTHUB_NAMESPACE: 'contoso.servicebus.windows.net',
    EVENTHUB_ENDPOINT_ADDRESS: broker.tlsAddress ?? '',
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
  });

  it('reads and charges over TLS; another identity waits, and says which roles it needs', async () => {
    await world.publish([{ customer: 'ada' }]);
    const stranger = await world.startWorker(environment(STRANGER));
    await until('the stranger says why it waits', () => stranger.tail().includes('Azure Event Hubs Data Receiver'));
    expect(await (await fetch(`http://127.0.0.1:${stranger.port}/readyz`)).text()).toContain('refuses this identity');
    const worker = await world.startWorker(environment(WORKER));
    await world.charged(1);
    // Whatever address leads there, others look under the namespace's own name.
    const folders = new Set<string | undefined>();
    for await (const { name } of world.container.listBlobsFlat()) folders.add(name.split('/')[0]);
    expect([...folders]).toEqual(['contoso.servicebus.windows.net']);
    expect(await worker.stop(20_000)).toEqual({ code: 0, signal: null });
    expect(await stranger.stop(20_000)).toEqual({ code: 0, signal: null });
  });
});
