/** `migrate` on a server as Azure has it, by an administrator who is no superuser and owns nothing yet. */
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type MigrateResult, migrate, SCHEMA_VERSION, type WorkerRole } from '../../runtime/ledger';
import { MIGRATIONS } from '../../runtime/ledger/generated/sql';
import { type EntraPostgres, startEntraPostgres } from '../support/entra';
import { claimWithIntent, openTestLedger } from './support';

const MIGRATOR = { name: 'usage-migrator', principalId: '0b1ec700-0000-4000-8000-000000000001' };
const WORKER = { name: 'usage-worker', principalId: '0b1ec700-0000-4000-8000-000000000002' };
const OTHER = '0b1ec700-0000-4000-8000-000000000003';
let postgres: EntraPostgres;

beforeAll(async () => {
  postgres = await startEntraPostgres({ administrators: [MIGRATOR] });
});
afterAll(() => postgres.stop());
beforeEach(() => postgres.reset());

/** At the server itself, which asks nobody but its provider: tokens are another test's affair. */
function urlOf(user: string): string {
  return `postgres://${user}@${postgres.server.host}:${postgres.server.port}/${postgres.database}`;
}

function run(role: Partial<WorkerRole> = {}, plan = false, user = MIGRATOR.name): Promise<MigrateResult> {
  const workerRole: WorkerRole = { ...WORKER, auth: 'entra', ...role };
  return migrate({ connection: { url: urlOf(user) }, plan, workerRole });
}

async function as<T>(user: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: urlOf(user) });
  await client.connect();
  return use(client).finally(() => client.end());
}

const mapping = `SELECT pg_catalog.pgaadauth_create_principal_with_oid('${WORKER.name}', '${WORKER.principalId}', 'service', false, false)`;

describe('an Entra administrator', () => {
  test('is none of a superuser, the owner of the database or the owner of the schema', async () => {
    const [powers] = await postgres.asProvider(
      `SELECT rolsuper, rolcreaterole, rolcreatedb, pg_get_userbyid(datdba) AS database,
         (SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'public') AS schema
       FROM pg_roles, pg_database WHERE rolname = '${MIGRATOR.name}' AND datname = current_database()`,
    );
    expect(powers).toEqual({
      rolsuper: false,
      rolcreaterole: true,
      rolcreatedb: true,
      database: 'postgres',
      schema: 'azure_pg_admin',
    });
  });

  test('makes the schema and the role, once, and the worker charges', async () => {
    const planned = await run({}, true);
    expect(planned.applied).toHaveLength(MIGRATIONS.length);
    expect(planned.worker?.statements[0]).toBe(mapping);
    expect(await postgres.principalOf(WORKER.name)).toBeUndefined();
    const done = await run();
    expect(done).toEqual(planned);
    expect(await postgres.principalOf(WORKER.name)).toBe(WORKER.principalId);
    const again = {
      applied: [],
      version: SCHEMA_VERSION,
      worker: { name: WORKER.name, statements: [], overreach: [] },
    };
    expect(await run()).toEqual(again);
    expect(await run({ principalId: WORKER.principalId.toUpperCase() }, true)).toEqual(again);
    const ledger = openTestLedger(urlOf(WORKER.name));
    await claimWithIntent(ledger, 'somebody').finally(() => ledger.close());
  });

  test('gives the worker no more than elsewhere', async () => {
    await run();
    for (const statement of ['DELETE FROM billing_records', 'CREATE TABLE mine (id integer)', 'CREATE ROLE other']) {
      await expect(as(WORKER.name, (client) => client.query(statement))).rejects.toMatchObject({ code: '42501' });
    }
    const [role] = await postgres.asProvider(
      `SELECT rolcreaterole OR rolcreatedb OR rolsuper AS powers, pg_has_role(oid, 'azure_pg_admin', 'MEMBER') AS admin
       FROM pg_roles WHERE rolname = '${WORKER.name}'`,
    );
    expect(role).toEqual({ powers: false, admin: false });
  });

  test('is one of ten that start at once', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => run()));
    expect(all.filter(({ worker }) => worker?.statements.includes(mapping))).toHaveLength(1);
  });

  test('finishes what was cut off between the role, which stays, and the schema, which does not', async () => {
    await as(MIGRATOR.name, (client) => client.query('CREATE TABLE billing_records (mine integer)'));
    await expect(run()).rejects.toThrow('already exists');
    await as(MIGRATOR.name, (client) => client.query('DROP TABLE billing_records'));
    expect((await run()).applied).toHaveLength(MIGRATIONS.length);
    expect(await postgres.principalOf(WORKER.name)).toBe(WORKER.principalId);
  });

  test('gives a role back its login', async () => {
    await run();
    await postgres.asProvider(`ALTER ROLE "${WORKER.name}" NOLOGIN`);
    // As Azure lets members of azure_pg_admin manage the roles of others; plain PostgreSQL 16 does not.
    await postgres.asProvider(`GRANT "${WORKER.name}" TO "${MIGRATOR.name}" WITH ADMIN TRUE, SET FALSE, INHERIT FALSE`);
    expect((await run()).worker?.statements).toEqual([`ALTER ROLE "${WORKER.name}" LOGIN`]);
  });
});

describe('what is refused, in words', () => {
  test('a role of another identity: the worker would not get in', async () => {
    await run();
    for (const plan of [true, false]) {
      await expect(run({ principalId: OTHER }, plan)).rejects.toThrow(
        `is mapped to the identity ${WORKER.principalId}, not to ${OTHER}. If the identity was made anew`,
      );
    }
  });

  test('and dropping it, as the words say, lets the new identity in', async () => {
    await run();
    await postgres.asProvider(`DROP OWNED BY "${WORKER.name}"`);
    await postgres.asProvider(`DROP ROLE "${WORKER.name}"`);
    await run({ principalId: OTHER });
    expect(await postgres.principalOf(WORKER.name)).toBe(OTHER);
  });

  test('a role that is mapped to nobody', async () => {
    await postgres.asProvider(`CREATE ROLE "${WORKER.name}" LOGIN`);
    await expect(run()).rejects.toThrow(
      `SECURITY LABEL FOR "pgaadauth" ON ROLE "${WORKER.name}" IS 'aadauth,oid=${WORKER.principalId},type=service'`,
    );
  });

  test('the role of the migrator, and one of Azure', async () => {
    await expect(run({ name: MIGRATOR.name })).rejects.toThrow('is the role that migrates');
    await expect(run({ name: 'azuresu' })).rejects.toThrow('such as chargeonce_worker');
  });

  test('a migrator who is no Entra administrator', async () => {
    await postgres.asProvider('CREATE ROLE local_admin LOGIN CREATEROLE CREATEDB IN ROLE azure_pg_admin');
    await expect(run({}, false, 'local_admin')).rejects.toThrow(
      /could not be made for the identity \S+: Only Microsoft Entra administrators.* and the identity must exist/,
    );
    expect(await postgres.asProvider("SELECT to_regclass('billing_records') AS found")).toEqual([{ found: null }]);
  });

  test('another migrator than the one that owns the tables, and giving them to it helps', async () => {
    await run();
    const successor = { name: 'next-migrator', principalId: '0b1ec700-0000-4000-8000-000000000004' };
    await postgres.addAdministrator(successor);
    await expect(run({}, false, successor.name)).rejects.toThrow(
      /permission denied.*The ledger's tables belong to the role usage-migrator: migrate as that role/s,
    );
    await postgres.asProvider(`REASSIGN OWNED BY "${MIGRATOR.name}" TO "${successor.name}"`);
    expect((await run({}, false, successor.name)).applied).toEqual([]);
  });

  test.each(['', 'usage-worker', '0b1ec700'])('the object id %j', async (principalId) => {
    await expect(run({ principalId })).rejects.toThrow('It is not the client id and not the name');
  });
});

test('where everybody may create in the schema public, as Azure once had it, that is taken back', async () => {
  await postgres.asProvider('GRANT CREATE ON SCHEMA public TO PUBLIC');
  const { worker } = await run();
  expect(worker?.statements).toContain('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  expect(worker?.overreach).toEqual([]);
});
