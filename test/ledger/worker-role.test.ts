/** The role that workers log in with: it can do all that the runtime does, and nothing else. */
import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Ledger, type MigrateResult, migrate, SCHEMA_VERSION, type WorkerRole } from '../../runtime/ledger';
import { MIGRATIONS, QUERIES } from '../../runtime/ledger/generated/sql';
import { WORKER_FUNCTIONS, WORKER_TABLE_GRANTS } from '../../runtime/ledger/worker-grants';
import type { ChargeRow } from '../../runtime/processor/ports';
import { type ManagedPostgres, OWNER, startManagedPostgres } from '../support/managed-postgres';
import { claimWithIntent, event, openTestLedger, request } from './support';

const ROLE = 'chargeonce_worker';
const PASSWORD = 'worker-password';
let managed: ManagedPostgres;
const opened: Ledger[] = [];

beforeAll(async () => {
  managed = await startManagedPostgres();
});
afterAll(() => managed.stop());
beforeEach(() => managed.reset());
afterEach(() => Promise.all(opened.splice(0).map((ledger) => ledger.close())));

function migrateAsOwner(role: Partial<WorkerRole> | undefined = {}, plan = false): Promise<MigrateResult> {
  const workerRole: WorkerRole = { name: ROLE, auth: 'rds-iam', ...role };
  return migrate({ connection: { url: managed.ownerUrl }, plan, workerRole });
}

/** Migrates, and gives the role a password to log in with here. */
async function withRole(): Promise<void> {
  await migrateAsOwner();
  await managed.asProvider(`ALTER ROLE ${ROLE} PASSWORD '${PASSWORD}'`);
}

async function asWorker<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: managed.urlOf(ROLE, PASSWORD) });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

function ledgerAsWorker(): Ledger {
  const ledger = openTestLedger(managed.urlOf(ROLE, PASSWORD), {
    spendCap: { mode: 'ledger', defaults: { usd: 5_000 } },
  });
  opened.push(ledger);
  return ledger;
}

async function claimWithoutMethod(ledger: Ledger): Promise<ChargeRow> {
  const { paymentMethod: _, ...rest } = event('frozen');
  const [answer] = await ledger.claim([{ ...request('frozen'), event: rest }]);
  if (answer?.outcome !== 'mine') throw new Error(`not mine: ${answer?.outcome}`);
  return answer.row;
}

const TABLES = [
  'ledger_meta',
  'ledger_migrations',
  'billing_records',
  'billing_conflicts',
  'spend_caps',
  'dead_letters',
];
const FORBIDDEN = [
  ...TABLES.flatMap((table) => [
    `DELETE FROM ${table}`,
    `TRUNCATE ${table}`,
    `DROP TABLE ${table}`,
    `ALTER TABLE ${table} ADD COLUMN more integer`,
    `CREATE TRIGGER t BEFORE UPDATE ON ${table} EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
    `CREATE INDEX ON ${table} ((1))`,
  ]),
  'CREATE TABLE mine (id integer)',
  'CREATE SCHEMA mine',
  "CREATE FUNCTION mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
  "CREATE OR REPLACE FUNCTION save_intents(p_writes jsonb) RETURNS SETOF integer LANGUAGE sql AS 'SELECT 1'",
  'DROP FUNCTION claim_due',
  'SELECT * FROM ledger_migrations',
  "INSERT INTO ledger_migrations (version, name) VALUES (99, 'mine')",
  'UPDATE ledger_migrations SET version = version + 1',
  'UPDATE ledger_meta SET schema_version = 99',
  'UPDATE ledger_meta SET ledger_id = gen_random_uuid()',
  'INSERT INTO ledger_meta (schema_version) VALUES (1)',
  'UPDATE billing_records SET amount_cents = 1',
  "UPDATE billing_records SET customer_id = 'other'",
  "UPDATE billing_records SET billing_period = 'other'",
  "UPDATE billing_records SET stripe_customer_id = 'cus_other'",
  "UPDATE billing_records SET currency = 'eur'",
  'INSERT INTO billing_records (payment_intent_id) VALUES (NULL)',
  'UPDATE billing_conflicts SET amount_cents = 1',
  'SELECT body FROM dead_letters',
  'UPDATE dead_letters SET resolved_at = now()',
  'CREATE ROLE other',
  `SET ROLE ${OWNER}`,
];

/** Which of them the worker's role is not refused for want of a privilege. */
function allowedOf(statements: readonly string[]): Promise<string[]> {
  return asWorker(async (client) => {
    const allowed: string[] = [];
    for (const statement of statements) {
      await client.query('BEGIN');
      const refused = await client.query(statement).then(
        () => false,
        (error: { code?: string }) => error.code === '42501',
      );
      await client.query('ROLLBACK');
      if (!refused) allowed.push(statement);
    }
    return allowed;
  });
}

describe('what the worker can do', () => {
  test('is the whole journey of a charge', async () => {
    await withRole();
    const ledger = ledgerAsWorker();
    await ledger.bindAccount({ livemode: false, accountId: 'acct_1' });
    const charged = await claimWithIntent(ledger, 'charged');
    expect(await ledger.settle(charged, { status: 'charged', chargeId: 'ch_1' })).toBe(true);
    expect(await ledger.claim([request('charged', { amountCents: 5 })])).toEqual([{ outcome: 'conflict' }]);
    expect(await ledger.claim([request('over', { amountCents: 4_500 })])).toEqual([{ outcome: 'cap_blocked' }]);
    expect(await ledger.claim([request('zero', { amountCents: 0 })])).toMatchObject([{ status: 'zero_amount' }]);
    const frozen = await claimWithoutMethod(ledger);
    expect(await ledger.freezePaymentMethod(frozen, 'pm_1')).toBe(true);
    expect(await ledger.nextAttempt(frozen, 'key-2')).toMatchObject({ attempt: 2 });
    const declined = await claimWithIntent(ledger, 'declined');
    expect(await ledger.settle(declined, { status: 'card_declined', error: 'no', declineCode: 'x' })).toBe(true);
    const dropped = await ledger.dropIntent(await claimWithIntent(ledger, 'dropped', false), 'key-dropped-2');
    expect(dropped).toMatchObject({ attempt: 2 });
    if (dropped) await ledger.release(dropped);
    expect(await ledger.claimDue(10)).toMatchObject([{ customerId: 'dropped', fence: 2n }]);
    expect(await ledger.look([event('charged')])).toEqual([{ outcome: 'settled', status: 'charged' }]);
    const letter = { source: 's', sourcePosition: '1', partitionKey: 'k', body: new Uint8Array([1]), reason: 'r' };
    await ledger.deadLetter([letter]);
    await ledger.deadLetter([letter]);
    expect(await ledger.counts()).toMatchObject({ pending: 2 });
    await ledger.ping();
  });

  test('is every statement that is not for migrations', async () => {
    await withRole();
    const forMigrations = /migration|schemaVersion|encoding|role|worker/i;
    const used = Object.entries(QUERIES).filter(([name]) => !forMigrations.test(name));
    expect(used.length).toBeGreaterThan(8);
    const refused = await asWorker(async (client) => {
      const names: string[] = [];
      for (const [name, sql] of used) {
        const count = Math.max(0, ...[...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
        // Whatever becomes of a statement without values: it must not be for want of a privilege.
        const failed = await client.query(sql, Array(count).fill(null)).catch((error: { code?: string }) => error);
        if ('code' in failed && failed.code === '42501') names.push(name);
      }
      return names;
    });
    expect(refused).toEqual([]);
  });

  test('ends there: it deletes, makes, alters and gives away nothing, and changes no amount', async () => {
    await withRole();
    await claimWithIntent(ledgerAsWorker(), 'somebody');
    expect(await allowedOf(FORBIDDEN)).toEqual([]);
  });

  test('would be noticed if it were more, and is taken back by the next migration', async () => {
    await withRole();
    await managed.asProvider(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${ROLE}`);
    await managed.asProvider(`GRANT ALL ON SCHEMA public TO ${ROLE}`);
    const tooMuch = await allowedOf(FORBIDDEN);
    expect(tooMuch).toContain('DELETE FROM billing_records');
    expect(tooMuch).toContain('UPDATE billing_records SET amount_cents = 1');
    expect(tooMuch).toContain('CREATE TABLE mine (id integer)');
    const { worker } = await migrateAsOwner();
    expect(worker?.statements).toContain(`REVOKE DELETE ON billing_records FROM ${ROLE}`);
    expect(worker?.overreach).toEqual([]);
    expect(await allowedOf(FORBIDDEN)).toEqual([]);
    await claimWithIntent(ledgerAsWorker(), 'somebody');
  });
});

describe('the role', () => {
  test('is planned, made once with the schema, and then there is nothing to do', async () => {
    const planned = await migrateAsOwner({}, true);
    expect(planned.applied).toHaveLength(MIGRATIONS.length);
    const statements = planned.worker?.statements ?? [];
    expect(statements.slice(0, 2)).toEqual([
      `CREATE ROLE ${ROLE} LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS`,
      `GRANT rds_iam TO ${ROLE}`,
    ]);
    expect(statements.slice(2).every((statement) => statement.startsWith('GRANT '))).toBe(true);
    expect(statements.join('\n')).not.toMatch(/DELETE|TRUNCATE|ALL PRIVILEGES/);
    expect(await managed.asProvider(`SELECT FROM pg_roles WHERE rolname = '${ROLE}'`)).toEqual([]);
    const done = await migrateAsOwner();
    expect(done).toEqual({ ...planned, worker: { name: ROLE, statements, overreach: [] } });
    const again = { applied: [], version: SCHEMA_VERSION, worker: { name: ROLE, statements: [], overreach: [] } };
    expect(await migrateAsOwner()).toEqual(again);
    expect(await migrateAsOwner({}, true)).toEqual(again);
  });

  test('is made by one of ten that start at once', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => migrateAsOwner()));
    expect(all.filter(({ worker }) => (worker?.statements.length ?? 0) > 0)).toHaveLength(1);
    expect(await managed.asProvider('SELECT count(*)::integer FROM ledger_migrations')).toEqual([
      { count: MIGRATIONS.length },
    ]);
  });

  test('gets what a new table or function needs, and its login back', async () => {
    await withRole();
    await managed.asProvider(`REVOKE INSERT ON dead_letters FROM ${ROLE}`);
    await managed.asProvider(`REVOKE EXECUTE ON FUNCTION claim_due FROM ${ROLE}`);
    await managed.asProvider(`ALTER ROLE ${ROLE} NOLOGIN`);
    const statements = [
      `ALTER ROLE ${ROLE} LOGIN`,
      `GRANT INSERT (source, source_position, partition_key, body, reason) ON dead_letters TO ${ROLE}`,
      `GRANT EXECUTE ON FUNCTION claim_due TO ${ROLE}`,
    ];
    expect((await migrateAsOwner({}, true)).worker?.statements).toEqual(statements);
    expect((await migrateAsOwner()).worker?.statements).toEqual(statements);
  });

  test('may be made without a login of Amazon, and be given a password', async () => {
    const name = 'Worker-2';
    const { worker } = await migrate({ connection: { url: managed.ownerUrl }, workerRole: { name } });
    expect(worker?.statements[0]).toContain('CREATE ROLE "Worker-2" LOGIN');
    expect(worker?.statements.join()).not.toContain('rds_iam');
  });

  test('works where PUBLIC may connect to nothing and call nothing', async () => {
    await migrate({ connection: { url: managed.ownerUrl } });
    await managed.asProvider('REVOKE ALL ON DATABASE chargeonce FROM PUBLIC');
    await managed.asProvider('REVOKE ALL ON SCHEMA public FROM PUBLIC');
    await managed.asProvider('REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC');
    await withRole();
    await claimWithIntent(ledgerAsWorker(), 'somebody');
  });

  test('may not create in the schema public, as everybody could before PostgreSQL 15', async () => {
    await managed.asProvider('GRANT CREATE ON SCHEMA public TO PUBLIC');
    const { worker } = await migrateAsOwner();
    expect(worker?.statements).toContain('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    await managed.asProvider(`ALTER ROLE ${ROLE} PASSWORD '${PASSWORD}'`);
    expect(await allowedOf(['CREATE TABLE mine (id integer)'])).toEqual([]);
  });

  test('is said to reach too far where the owner cannot help it', async () => {
    await migrateAsOwner();
    await managed.asProvider('ALTER SCHEMA public OWNER TO postgres');
    await managed.asProvider('GRANT CREATE ON SCHEMA public TO PUBLIC');
    await managed.asProvider('GRANT DELETE ON spend_caps TO PUBLIC');
    await managed.asProvider(`GRANT pg_write_all_data TO ${ROLE}`);
    expect((await migrateAsOwner()).worker).toEqual({
      name: ROLE,
      statements: [],
      overreach: [
        'CREATE in schema public',
        ...['DELETE', 'INSERT', 'UPDATE'].flatMap((privilege) => TABLES.map((table) => `${privilege} ${table}`).sort()),
      ],
    });
  });

  test('is said to reach too far where somebody else gave it more, which does not stop a deploy', async () => {
    await withRole();
    await managed.asProvider('CREATE ROLE friend');
    await managed.asProvider('GRANT DELETE, UPDATE (amount_cents) ON billing_records TO friend WITH GRANT OPTION');
    await managed.asProvider(
      `SET ROLE friend; GRANT DELETE, UPDATE (amount_cents) ON billing_records TO ${ROLE}; RESET ROLE`,
    );
    const { worker } = await migrateAsOwner();
    expect(worker?.overreach).toEqual(['DELETE billing_records', 'UPDATE billing_records (amount_cents)']);
  });
});

/** While releases take turns, an old task may start when a newer release has granted more. */
describe('grants of a newer release', () => {
  const more = `GRANT SELECT (reason) ON dead_letters TO ${ROLE}`;

  test('are left alone by an older one', async () => {
    await withRole();
    await managed.asProvider(more);
    await managed.asProvider('UPDATE ledger_meta SET schema_version = schema_version + 1');
    expect((await migrateAsOwner({}, true)).worker?.statements).toEqual([]);
    expect((await migrateAsOwner()).worker).toEqual({ name: ROLE, statements: [], overreach: [] });
    await withRole();
    expect(await allowedOf(['SELECT reason FROM dead_letters'])).toEqual(['SELECT reason FROM dead_letters']);
  });

  test('twin: what nobody granted with a migration is taken back', async () => {
    await withRole();
    await managed.asProvider(more);
    const statements = (await migrateAsOwner()).worker?.statements;
    expect(statements?.join()).toMatch(/^REVOKE SELECT .*dead_letters/);
  });

  test('come with a migration: this list belongs to this version of the schema', () => {
    const hash = createHash('sha256')
      .update(JSON.stringify([WORKER_TABLE_GRANTS, WORKER_FUNCTIONS]))
      .digest('hex');
    expect({ schema: SCHEMA_VERSION, grants: hash.slice(0, 16) }).toMatchInlineSnapshot(`
      {
        "grants": "394020214ce3724e",
        "schema": 19,
      }
    `);
  });
});

describe('what is refused, before anything is changed', () => {
  test.each([
    '',
    '1abc',
    'pg_worker',
    'rds_superuser',
    'public',
    'none',
    'a b',
    'x"; DROP TABLE y; --',
    'a'.repeat(64),
  ])('the name %j', async (name) => {
    await expect(migrateAsOwner({ name })).rejects.toThrow('such as chargeonce_worker');
  });

  test('the role that migrates, and one that may do too much', async () => {
    await expect(migrateAsOwner({ name: OWNER })).rejects.toThrow('is the role that migrates');
    await managed.asProvider('CREATE ROLE strong CREATEDB BYPASSRLS');
    await expect(migrateAsOwner({ name: 'strong' })).rejects.toThrow('is CREATEDB, BYPASSRLS');
    expect(await managed.asProvider("SELECT to_regclass('billing_records') AS found")).toEqual([{ found: null }]);
  });

  test('a grant that comes to nothing, since the tables are not those of who migrates', async () => {
    await migrateAsOwner();
    await managed.asProvider(`REVOKE SELECT ON spend_caps FROM ${ROLE}`);
    await managed.asProvider('ALTER TABLE spend_caps OWNER TO postgres');
    await managed.asProvider(`GRANT SELECT ON spend_caps TO ${OWNER}`);
    await expect(migrateAsOwner()).rejects.toThrow('came to nothing: GRANT SELECT ON spend_caps');
  });

  test('tokens of Amazon on another server', async () => {
    await managed.asProvider('ALTER ROLE rds_iam RENAME TO not_rds_iam');
    await expect(migrateAsOwner()).rejects.toThrow('no role rds_iam');
    await managed.asProvider('ALTER ROLE not_rds_iam RENAME TO rds_iam');
  });
});
