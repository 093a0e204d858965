/**
 * The bundle logs in to a ledger that takes identities of Microsoft Entra alone, as the components tell it to: the migration
 * as one identity, the worker as another, which is let in once the migration has mapped it to its role.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningBlobStorage, startBlobStorage } from '../emulators/blob-storage';
import {
  type Entra,
  type EntraEndpoint,
  type EntraIdentity,
  type EntraPostgres,
  startEntra,
  startEntraEndpoint,
  startEntraPostgres,
} from '../support/entra';
import { type HubWorld, hubWorld } from '../support/hub-world';
import { until } from '../support/until';

const identity = (name: string, tail: string): EntraIdentity => ({
  name,
  clientId: `c1e7a000-0000-4000-8000-${tail}`,
  principalId: `0b1ec700-0000-4000-8000-${tail}`,
});
const MIGRATOR = identity('charges-migrator', '0000000000a1');
const WORKER = identity('charges-worker', '0000000000a2');
const MAKE_ROLE = ['--worker-role', WORKER.name, '--worker-auth', 'entra', '--worker-principal', WORKER.principalId];

let storage: RunningBlobStorage;
let world: HubWorld;
let entra: Entra;
let postgres: EntraPostgres;
let endpoint: EntraEndpoint;
let folder: string;
beforeAll(async () => {
  storage = await startBlobStorage();
  entra = await startEntra({ identities: [MIGRATOR, WORKER] });
  postgres = await startEntraPostgres({ administrators: [MIGRATOR] });
  endpoint = await startEntraEndpoint({ postgres, entra });
  world = await hubWorld({ storage: storage.connectionString, partitions: 1 });
  folder = mkdtempSync(join(tmpdir(), 'chargeonce-entra-logins-'));
  writeFileSync(join(folder, 'ca.pem'), endpoint.authority.pem);
});
afterAll(async () => {
  await world?.close();
  await endpoint?.stop();
  await postgres?.stop();
  await entra?.stop();
  await storage?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What a container that runs as this identity is told, and the platform adds. */
const loginAs = (who: EntraIdentity): Record<string, string> => ({
  ...entra.environment(who.clientId),
  DATABASE_URL: '',
  DATABASE_AUTH: 'entra',
  PGHOST: endpoint.host,
  PGPORT: String(endpoint.port),
  PGDATABASE: postgres.database,
  PGUSER: who.name,
  PGSSLMODE: 'verify-full',
  PGSSLROOTCERT: join(folder, 'ca.pem'),
});
const customers = () => world.stripe.books.charges.map(({ customer }) => customer).sort();
const loginsOf = ({ name }: EntraIdentity) => endpoint.logins.filter(({ user }) => user === name);

it('migrates as one identity and charges as another, which waits for its role and outlasts refused tokens', async () => {
  const worker = await world.startWorker({
    ...loginAs(WORKER),
    MIGRATE_COMMAND: 'az containerapp job start -n migrate',
  });
  await until('it says what to run', () => worker.tail().includes('with: az containerapp job start -n migrate'));
  expect((await fetch(`http://127.0.0.1:${worker.port}/readyz`)).status).toBe(503);
  const migration = await world.startWorker(loginAs(MIGRATOR), ['migrate', '--apply', ...MAKE_ROLE]);
  expect({ exit: await migration.exited, said: migration.tail() }).toMatchObject({ exit: { code: 0, signal: null } });
  await worker.ready(30_000);
  await world.publish([{ customer: 'ann' }, { customer: 'ann' }], '0');
  await until('it is charged', () => customers().length > 0);
  const before = loginsOf(WORKER).length;
  endpoint.refuse(2);
  await postgres.asProvider(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '${WORKER.name}'`,
  );
  await world.publish([{ customer: 'bea' }], '0');
  await until('it is charged as well', () => customers().length > 1);
  expect(
    loginsOf(WORKER)
      .slice(before)
      .filter(({ refused }) => refused !== undefined),
  ).toHaveLength(2);
  expect(await worker.stop(20_000)).toEqual({ code: 0, signal: null });
  expect(customers()).toEqual(['cus_ann', 'cus_bea']);
  expect(new Set(entra.requests.map(({ clientId }) => clientId))).toEqual(
    new Set([MIGRATOR.clientId, WORKER.clientId]),
  );
  const said = [worker.tail(), migration.tail()].join();
  for (const { token } of endpoint.logins) expect(said).not.toContain(token.slice(-32));
});

it('twin: a worker that calls itself the migrator is not let in with its own token', async () => {
  const before = loginsOf(MIGRATOR).length;
  const worker = await world.startWorker({ ...loginAs(WORKER), PGUSER: MIGRATOR.name });
  await until('it was refused', () => loginsOf(MIGRATOR).length > before);
  expect(
    loginsOf(MIGRATOR)
      .slice(before)
      .every(({ refused }) => refused !== undefined),
  ).toBe(true);
  worker.kill();
});
