/** A worker that is started before the migration: it waits and says what to run, and goes on by itself. */
import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../runtime/ledger';
import type { Worker } from '../../stacks/local/workers';
import { type AwsLocal, startAwsLocal } from '../support/aws-local';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import { until } from '../support/until';
import { BUNDLE, type WorkerWorld, workerWorld } from '../support/worker-world';

const COMMAND = "aws ecs run-task --cluster billing --task-definition 'migrate:7'";

let aws: AwsLocal;
let world: WorkerWorld;
beforeAll(async () => {
  aws = await startAwsLocal();
});
afterEach(() => world.close());
afterAll(() => aws.stop());

async function emptyWorld(): Promise<LedgerDatabase> {
  const database = await ledgerDatabase({ empty: true });
  world = await workerWorld(aws, { database });
  return database;
}

async function readyz(worker: Worker): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://127.0.0.1:${worker.port}/readyz`);
  return { status: response.status, text: await response.text() };
}

describe('a schema that is too old', () => {
  it('is waited for, with the exact command in the log and at /readyz, and a stop ends the waiting', async () => {
    const database = await emptyWorld();
    const [waits, stops] = await Promise.all([
      world.startWorker({ MIGRATE_COMMAND: COMMAND }),
      world.startWorker({ MIGRATE_COMMAND: COMMAND }),
    ]);
    for (const worker of [waits, stops]) {
      await until('it waits', () => Promise.resolve(worker.tail().includes('goes on by itself')));
      const { status, text } = await readyz(worker);
      expect(status).toBe(503);
      expect(text).toMatch(/^starting: The database has no ledger schema; this runtime needs version \d+\. Run: /);
      expect(text).toContain(COMMAND);
      const line = worker
        .tail()
        .split('\n')
        .find((each) => each.includes('goes on by itself'));
      expect(JSON.parse(line?.replace(/^[ |]+/, '') ?? '{}')).toMatchObject({ level: 'warn', migrateCommand: COMMAND });
    }
    expect(await stops.stop(10_000)).toEqual({ code: 0, signal: null });
    expect(stops.tail()).toContain('stopped while it was starting');
    const env = { DATABASE_URL: database.url, PGSSLMODE: 'disable' };
    execFileSync(process.execPath, [BUNDLE, 'migrate', '--apply'], { env });
    await waits.ready(30_000);
    await world.publish([{ customer: 'late' }]);
    await world.charged(1);
    expect(await waits.stop(30_000)).toEqual({ code: 0, signal: null });
  });

  it('is told with the usual command where nobody named another', async () => {
    await emptyWorld();
    const worker = await world.startWorker();
    await until('it waits', () => Promise.resolve(worker.tail().includes('goes on by itself')));
    expect((await readyz(worker)).text).toContain('Run: chargeonce migrate --apply');
  });

  it('is not what a schema is that is too new: that ends the worker at once', async () => {
    const database = await emptyWorld();
    await migrate({ connection: { url: database.url } });
    await database.query('UPDATE ledger_meta SET schema_version = 1000, min_runtime_version = 1000');
    const worker = await world.startWorker();
    expect(await worker.exited).toEqual({ code: 1, signal: null });
    expect(worker.tail()).toContain('Run the newer release');
  });
});
