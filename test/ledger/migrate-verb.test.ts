/** `chargeonce migrate` as a person runs it. */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { systemHost } from '../../runtime/host/host';
import { SCHEMA_VERSION } from '../../runtime/ledger';
import { runCli } from '../../runtime/ops/cli';
import { migrateVerb } from '../../runtime/ops/migrate';
import { createDatabase, databaseUrl, dropDatabase } from '../support/ledger-database';
import { fakeShell } from '../unit/ops/fake-shell';

const suffix = randomBytes(6).toString('hex');
const name = `migrated_${suffix}`;
const role = `worker_${suffix}`;
const ID = '0b1ec700-0000-4000-8000-000000000001';
let url: string;

beforeAll(async () => {
  await createDatabase(inject('postgresUrl'), name);
  url = `${databaseUrl(inject('postgresUrl'), name)}?sslmode=disable`;
});
afterAll(async () => {
  await dropDatabase(inject('postgresUrl'), name);
  const client = new Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  await client.query(`DROP ROLE IF EXISTS ${role}`);
  await client.end();
});

async function run(...args: string[]) {
  const { shell, written } = fakeShell(['migrate', ...args], { DATABASE_URL: url });
  const code = await runCli({ shell, host: systemHost, verbs: [migrateVerb], version: '0' });
  return { code, ...written };
}

test('says what is missing, does it, and then says that there is nothing to do', async () => {
  const planned = await run('--worker-role', role);
  expect(planned.code).toBe(1);
  expect(planned.out).toContain(
    `with --apply the ledger gets schema version ${SCHEMA_VERSION}:\n  create_ledger_meta\n`,
  );
  expect(planned.out).toContain(`With --apply this is done for the role ${role}:\n  CREATE ROLE ${role} LOGIN`);
  const applied = await run('--worker-role', role, '--apply');
  expect(applied.code).toBe(0);
  expect(applied.out).toContain(`Done for the role ${role}:\n  CREATE ROLE`);
  expect(await run('--worker-role', role)).toEqual({
    code: 0,
    out:
      `The ledger has schema version ${SCHEMA_VERSION}: nothing to do.\n` +
      `The role ${role} may do what a worker does: nothing to do.\n`,
    err: '',
  });
  const json = await run('--worker-role', role, '--apply', '--json');
  expect(JSON.parse(json.out)).toEqual({
    applied: [],
    version: SCHEMA_VERSION,
    apply: true,
    worker: { name: role, statements: [], overreach: [] },
  });
});

test('warns, and still exits 0, when the role reaches too far by other ways', async () => {
  const client = new Client({ connectionString: url.replace('?sslmode=disable', '') });
  await client.connect();
  await client.query('GRANT DELETE ON spend_caps TO PUBLIC');
  await client.end();
  const warned = await run('--worker-role', role, '--apply');
  expect(warned.code).toBe(0);
  expect(warned.out).toMatch(/WARNING: the role \S+ may do what no worker needs.*\n {2}DELETE spend_caps\n/);
});

test.each([
  [['--worker-auth', 'rds-iam'], 'without --worker-role'],
  [['--worker-role', role, '--worker-auth', 'password'], 'allowed: rds-iam | entra'],
  [['--worker-role', role, '--worker-auth', 'entra'], 'needs --worker-principal OBJECT_ID'],
  [['--worker-role', role, '--worker-principal', ID], 'without --worker-auth entra'],
  [['--worker-auth', 'entra', '--worker-principal', ID], 'without --worker-role'],
  [['--worker-role', role, '--worker-auth', 'entra', '--worker-principal', 'me'], 'a GUID'],
  [['--worker-role', role, '--worker-auth', 'entra', '--worker-principal', ID], 'has no functions pgaadauth_'],
  [['--worker-role', 'azure_pg_admin'], 'such as chargeonce_worker'],
  [['--worker-role', ''], 'such as chargeonce_worker'],
  [['--worker-role', 'postgres; x'], 'such as chargeonce_worker'],
  [['--worker-role', role, '--worker-auth', 'rds-iam'], 'no role rds_iam'],
])('refuses %j', async (args, words) => {
  const refused = await run('--apply', ...args);
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toContain(words);
});
