import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { AccountMismatch, migrate, SCHEMA_VERSION, SchemaTooNew, SchemaTooOld } from '../../runtime/ledger';
import { generateSql } from '../../runtime/ledger/generate';
import { MIGRATIONS } from '../../runtime/ledger/generated/sql';
import {
  createDatabase,
  databaseUrl,
  dropDatabase,
  type LedgerDatabase,
  ledgerDatabase,
} from '../support/ledger-database';
import { dumpSchema } from './schema-dump';
import { openTestLedger } from './support';

const ROOM = join(__dirname, '..', '..', 'runtime', 'ledger');
let database: LedgerDatabase;

beforeAll(async () => {
  database = await ledgerDatabase();
});
afterAll(() => database.drop());

/** An empty database for one test. */
async function withEmpty(use: (url: string) => Promise<void>): Promise<void> {
  const server = inject('postgresUrl');
  const name = `empty_${Math.random().toString(36).slice(2)}`;
  await createDatabase(server, name);
  try {
    await use(databaseUrl(server, name));
  } finally {
    await dropDatabase(server, name);
  }
}

test('generated/sql.ts is what the .sql files say (npm run gen)', () => {
  expect(readFileSync(join(ROOM, 'generated', 'sql.ts'), 'utf8')).toBe(generateSql(ROOM));
});

test('migrations are numbered without a gap and hold one statement each', () => {
  expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  for (const { name, sql } of MIGRATIONS) {
    const outsideBodies = sql.replace(/\$\$[\s\S]*\$\$/, '').replace(/--.*$/gm, '');
    expect(outsideBodies, name).not.toContain(';');
  }
});

test('the schema is the committed one', async () => {
  await expect(await dumpSchema(database)).toMatchFileSnapshot('schema.sql');
});

test('twenty processes may migrate at once: each migration is applied by one of them', async () => {
  await withEmpty(async (url) => {
    const results = await Promise.all(Array.from({ length: 20 }, () => migrate({ connection: { url } })));
    expect(results.map(({ version }) => version)).toEqual(Array(20).fill(SCHEMA_VERSION));
    expect(results.flatMap(({ applied }) => applied)).toEqual(MIGRATIONS.map(({ name }) => name));
  });
});

test('a plan says what is missing and changes nothing', async () => {
  await withEmpty(async (url) => {
    const connection = { url };
    const planned = { applied: MIGRATIONS.map(({ name }) => name), version: SCHEMA_VERSION };
    expect(await migrate({ connection, plan: true })).toEqual(planned);
    expect(await migrate({ connection, plan: true })).toEqual(planned);
    expect(await migrate({ connection })).toEqual(planned);
    expect(await migrate({ connection, plan: true })).toEqual({ applied: [], version: SCHEMA_VERSION });
    expect(await migrate({ connection })).toEqual({ applied: [], version: SCHEMA_VERSION });
  });
});

test('a database without a schema, or with an older one, says how to migrate', async () => {
  await withEmpty(async (url) => {
    const ledger = openTestLedger(url);
    await expect(ledger.bindAccount({ livemode: false })).rejects.toThrow(SchemaTooOld);
    await expect(ledger.checkSchema()).rejects.toThrow('chargeonce migrate --apply');
    await ledger.close();
  });
});

test('a newer schema is fine while it is not breaking, and refused when it is', async () => {
  const copy = await ledgerDatabase();
  const ledger = openTestLedger(copy.url);
  await copy.query('UPDATE ledger_meta SET schema_version = schema_version + 5');
  await ledger.checkSchema();
  expect(await migrate({ connection: { url: copy.url } })).toEqual({ applied: [], version: SCHEMA_VERSION + 5 });
  await copy.query('UPDATE ledger_meta SET min_runtime_version = schema_version');
  await expect(ledger.checkSchema()).rejects.toThrow(SchemaTooNew);
  await expect(migrate({ connection: { url: copy.url } })).rejects.toThrow(SchemaTooNew);
  await ledger.close();
  await copy.drop();
});

test('an empty ledger is bound to mode and account, and refuses others afterwards', async () => {
  const ledger = openTestLedger(database.url);
  await ledger.bindAccount({ livemode: false });
  await expect(ledger.bindAccount({ livemode: true, accountId: 'acct_1' })).rejects.toThrow(AccountMismatch);
  await ledger.bindAccount({ livemode: false, accountId: 'acct_1' });
  await ledger.bindAccount({ livemode: false });
  await expect(ledger.bindAccount({ livemode: false, accountId: 'acct_2' })).rejects.toThrow(/acct_1.*acct_2/);
  await ledger.ping();
  await ledger.close();
});
