/**
 * Real processes, killed at each crash point and restarted, at once and after the emulator's clock moved 25 h on
 * (the idempotency keys are gone by then): one charge each. The twin without the ledger's memory charges twice.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CRASH_POINTS, type CrashPoint } from '../../runtime/contract';
import type { Worker } from '../../stacks/local/workers';
import { type AwsLocal, startAwsLocal } from '../support/aws-local';
import { type WorkerWorld, workerWorld } from '../support/worker-world';

const EVENTS = [{ customer: 'ada' }, { customer: 'bob', amount: 700 }, { customer: 'ada', period: '2026-11' }];
const HOUR_MS = 3_600_000;

interface Death {
  readonly point: CrashPoint;
  readonly hours: number;
}
const DEATHS: readonly Death[] = [0, 25].flatMap((hours) => CRASH_POINTS.map((point) => ({ point, hours })));

describe('a worker killed and restarted', () => {
  const worlds = new Map<Death, WorkerWorld>();
  let forgetful: WorkerWorld;
  let aws: AwsLocal;

  beforeAll(async () => {
    aws = await startAwsLocal();
    for (const death of DEATHS) worlds.set(death, await workerWorld(aws));
    forgetful = await workerWorld(aws);
    const all = [...worlds.values(), forgetful];
    // One process starts at a time, for the sake of small machines; the long waits are shared.
    const first = new Map<WorkerWorld, Worker>();
    for (const [death, world] of [...worlds, [{ point: 'after-confirm', hours: 25 } as Death, forgetful] as const]) {
      first.set(world, await started(world, { CHARGEONCE_CRASH_AT: death.point }));
    }
    await Promise.all(all.map((world) => world.publish(EVENTS)));
    await Promise.all([...first.values()].map(diedByKill));
    await forgetful.database.query('DELETE FROM billing_records');
    for (const [{ hours }, world] of worlds) world.stripe.clock.advance(hours * HOUR_MS);
    forgetful.stripe.clock.advance(25 * HOUR_MS);
    for (const world of all) await started(world);
    await Promise.all(all.map((world) => world.charged(EVENTS.length, 120_000)));
  }, 240_000);

  afterAll(async () => {
    await Promise.all([...worlds.values(), forgetful].map((world) => world.close()));
    await aws.stop();
  });

  it.each(DEATHS)('at $point, Stripe $hours h on: one charge each', async (death) => {
    const world = worlds.get(death) as WorkerWorld;
    expect(world.stripe.books.doubleCharged()).toEqual([]);
    expect(world.stripe.books.charges.map((charge) => charge.amount).sort()).toEqual([500, 500, 700]);
    expect(await world.statuses()).toEqual({ charged: 3 });
    const caps = await world.database.query(
      'SELECT sum(reserved_cents)::int AS reserved, sum(spent_cents)::int AS spent FROM spend_caps',
    );
    expect(caps).toEqual([{ reserved: 0, spent: 1_700 }]);
  });

  it('twin: charges twice when the ledger forgot its rows meanwhile, and the books show it', () => {
    expect(forgetful.stripe.books.doubleCharged().length).toBeGreaterThan(0);
  });
});

async function started(world: WorkerWorld, extra: Readonly<Record<string, string>> = {}): Promise<Worker> {
  const worker = await world.startWorker(extra);
  await worker.ready(30_000);
  return worker;
}

async function diedByKill(worker: Worker): Promise<void> {
  const { signal } = await worker.exited;
  if (signal !== 'SIGKILL') throw new Error(`${worker.name} was to die at its crash point, but:\n${worker.tail()}`);
}
