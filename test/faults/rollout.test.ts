/**
 * A deploy runs two releases side by side, and one that fails goes back: so every earlier release must work on this
 * state's schema, beside this state's workers and alone. Real processes, one stream, one charge for each event.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCHEMA_VERSION } from '../../runtime/ledger';
import { MIGRATIONS, QUERIES } from '../../runtime/ledger/generated/sql';
import type { Worker } from '../../stacks/local/workers';
import { type AwsLocal, startAwsLocal } from '../support/aws-local';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import { until } from '../support/until';
import { BUNDLE, type WorkerWorld, workerWorld } from '../support/worker-world';
import { compress } from './previous-bundles/write';

const FIXTURES = join(__dirname, 'previous-bundles');
const EARLIER = readdirSync(FIXTURES).filter((name) => name.endsWith('.js.gz'));
const ROUND = 8;
const ROLE = `rollout_${process.pid}`;

const unpacked = mkdtempSync(join(tmpdir(), 'chargeonce-rollout-'));
let aws: AwsLocal;
beforeAll(async () => {
  aws = await startAwsLocal();
});
afterAll(async () => {
  await aws?.stop();
  rmSync(unpacked, { recursive: true, force: true });
});

function unpack(fixture: string): string {
  const file = join(unpacked, fixture.replace(/\.gz$/, ''));
  writeFileSync(file, gunzipSync(readFileSync(join(FIXTURES, fixture))));
  return file;
}

/** As the database's owner, whatever a worker may do. */
function migrate(bundle: string, databaseUrl: string, ...args: readonly string[]): { readonly version: number } {
  const env = { DATABASE_URL: databaseUrl, PGSSLMODE: 'disable' };
  const said = execFileSync(process.execPath, [bundle, 'migrate', '--apply', '--json', ...args], {
    env,
    encoding: 'utf8',
  });
  return JSON.parse(said) as { version: number };
}

/** Customers of one round of publishing; every event is sent twice. */
async function publish(world: WorkerWorld, round: string): Promise<void> {
  const events = Array.from({ length: ROUND }, (_, index) => ({ customer: `${round}-${index}` }));
  await world.publish([...events, ...events]);
}

async function started(world: WorkerWorld, bundle: string, extra = {}): Promise<Worker> {
  const worker = await world.startWorker(extra, bundle);
  await worker.ready(30_000);
  return worker;
}

async function stopped(worker: Worker): Promise<void> {
  expect(await worker.stop(30_000)).toEqual({ code: 0, signal: null });
}

/** PostgreSQL's codes of class 42: a statement names something that the schema does not have. */
const MISFIT = /"message":"([^"\\]|\\.)*"[^}]*"code":"42\w{3}"/;

/** Publishes a round to a worker that is alone; rejects with its own words as soon as the schema does not fit it. */
async function chargesAlone(world: WorkerWorld, worker: Worker, round: string, total: number): Promise<void> {
  await publish(world, round);
  await until(`${total} rows are charged`, async () => {
    const misfit = MISFIT.exec(worker.tail())?.[0];
    if (misfit !== undefined) throw new Error(`The schema does not fit the release: ${misfit}`);
    return (await world.statuses()).charged === total;
  });
}

/** What /readyz says; empty when it is ready, or not there yet. */
async function whyNotReady(worker: Worker): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${worker.port}/readyz`).catch(() => undefined);
  return response === undefined || response.ok ? '' : response.text();
}

/** A database as the release before the last migration leaves it. */
async function oneMigrationBehind(): Promise<LedgerDatabase> {
  const database = await ledgerDatabase({ empty: true });
  await database.query(QUERIES.createMigrationsTable);
  for (const { version, name, sql } of MIGRATIONS.slice(0, -1)) {
    await database.query(sql);
    await database.query(QUERIES.recordMigration, [version, name]);
  }
  await database.query(QUERIES.writeSchemaVersion, [SCHEMA_VERSION - 1]);
  return database;
}

/** Workers of this state log in as a role without rights to the schema; the earlier ones as the owner, as they did. */
async function asRole(world: WorkerWorld): Promise<{ DATABASE_URL: string }> {
  await world.database.query(`ALTER ROLE ${ROLE} PASSWORD 'only-here'`);
  const url = new URL(world.database.url);
  [url.username, url.password] = [ROLE, 'only-here'];
  return { DATABASE_URL: url.href };
}

/** Of two shards: one that lost the other has noticed it, and reads it no more. */
const holdsOne = async (worker: Worker) => (await worker.metric('chargeonce_leases_held')) === 1;

/** A world as the earlier release leaves it: charged rows, and rows whose outcome it did not live to write. */
async function earlierWorld(bundle: string): Promise<WorkerWorld> {
  const database = await ledgerDatabase({ empty: true });
  migrate(bundle, database.url);
  const world = await workerWorld(aws, { shards: 2, database });
  const worker = await started(world, bundle);
  await publish(world, 'before');
  await world.charged(ROUND);
  await stopped(worker);
  const dying = await world.startWorker({ CHARGEONCE_CRASH_AT: 'after-confirm' }, bundle);
  await dying.ready(30_000);
  await publish(world, 'interrupted');
  expect((await dying.exited).signal, dying.tail()).toBe('SIGKILL');
  return world;
}

describe.each(EARLIER)('the release of %s', (fixture) => {
  let earlier: string;
  let world: WorkerWorld;
  beforeAll(async () => {
    earlier = unpack(fixture);
    world = await earlierWorld(earlier);
  }, 120_000);
  afterAll(async () => {
    await world?.database.query(`DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`);
    await world?.close();
  });

  it('left rows that are charged and rows that are open', async () => {
    const { charged, pending } = await world.statuses();
    expect(charged).toBe(ROUND);
    expect(pending).toBeGreaterThan(0);
  });

  it('works beside this one on this one’s schema, and alone after the deploy was rolled back', async () => {
    const role = ['--worker-role', ROLE];
    expect(migrate(BUNDLE, world.database.url, ...role).version).toBe(SCHEMA_VERSION);
    const [old, current] = [await started(world, earlier), await started(world, BUNDLE, await asRole(world))];
    await until('each holds a shard', async () => (await holdsOne(old)) && (await holdsOne(current)), 60_000);
    await publish(world, 'beside');
    await world.charged(3 * ROUND);
    for (const worker of [old, current]) {
      expect(await worker.metric('chargeonce_charges_total', { status: 'charged' }), worker.name).toBeGreaterThan(0);
    }
    await stopped(current);
    await publish(world, 'before');
    await chargesAlone(world, old, 'rolled-back', 4 * ROUND);
    await stopped(old);

    expect(world.stripe.books.doubleCharged()).toEqual([]);
    expect(world.stripe.books.charges.length).toBe(4 * ROUND);
    expect(await world.statuses()).toEqual({ charged: 4 * ROUND });
    const caps = 'SELECT sum(reserved_cents)::int AS reserved, sum(spent_cents)::int AS spent FROM spend_caps';
    expect(await world.database.query(caps)).toEqual([{ reserved: 0, spent: 4 * ROUND * 500 }]);
  });

  it('twin: is found out when a migration does more than expand', async () => {
    const broken = await workerWorld(aws);
    try {
      await broken.database.query('ALTER TABLE billing_records RENAME COLUMN payment_intent_id TO intent_id');
      const old = await started(broken, earlier);
      const charging = chargesAlone(broken, old, 'rolled-back', ROUND);
      await expect(charging).rejects.toThrow('The schema does not fit the release');
    } finally {
      await broken.close();
    }
  });
});

describe('a worker of this state that starts before the migration', () => {
  it('waits, not ready, says what to run, and goes on by itself once that was done', async () => {
    const database = await oneMigrationBehind();
    const world = await workerWorld(aws, { database });
    try {
      await publish(world, 'early');
      const worker = await world.startWorker({ MIGRATE_COMMAND: 'aws ecs run-task --cluster billing' });
      await until('it says what it waits for', async () => (await whyNotReady(worker)).includes('run-task'));
      expect(worker.tail()).toContain('aws ecs run-task --cluster billing');
      expect(worker.exit).toBeUndefined();
      expect(await world.statuses()).toEqual({});
      migrate(BUNDLE, database.url);
      await worker.ready(30_000);
      await world.charged(ROUND);
      await stopped(worker);
      expect(world.stripe.books.doubleCharged()).toEqual([]);
    } finally {
      await world.close();
    }
  });
});

describe('a fixture', () => {
  it('is there', () => {
    expect(EARLIER.length).toBeGreaterThan(0);
  });

  it.each(EARLIER)('%s is one bundle that runs, names no path of a machine and refers to no source map', (fixture) => {
    const file = unpack(fixture);
    const text = readFileSync(file, 'utf8');
    expect(execFileSync(process.execPath, [file, '--version'], { encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(text.match(/["'`](?:\/(?:home|root|tmp|work|Users|opt)\/|[A-Z]:\\)[^"'`\n]*/g)).toBeNull();
    expect(text).not.toContain('sourceMappingURL');
  });

  it('is the same bytes for the same bundle', () => {
    const content = gunzipSync(readFileSync(join(FIXTURES, EARLIER[0]!)));
    const bytes = compress(content);
    expect(compress(content).equals(bytes)).toBe(true);
    expect([...bytes.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);
  });
});
