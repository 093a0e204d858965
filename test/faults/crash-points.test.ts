/**
 * Real processes, killed at each crash point and restarted, at once and after the emulator's clock moved 25 h on
 * (the idempotency keys are gone by then): one charge each. The twin without the ledger's memory charges twice.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CRASH_POINTS, type CrashPoint } from '../../runtime/contract';
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
    // All at the same time: most of it is waiting for the claim of the dead to expire.
    await Promise.all([...[...worlds].map(([death, world]) => dieAndComeBack(death, world)), dieAndForget(forgetful)]);
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
    expect(forgetful.stripe.books.doubleCharged()).toHaveLength(1);
  });
});

async function dieAndComeBack({ point, hours }: Death, world: WorkerWorld): Promise<void> {
  const first = await world.startWorker({ CHARGEONCE_CRASH_AT: point });
  await world.publish(EVENTS);
  const { signal } = await first.exited;
  if (signal !== 'SIGKILL') throw new Error(`The worker was to die at ${point}, but:\n${first.tail()}`);
  world.stripe.clock.advance(hours * HOUR_MS);
  await world.startWorker();
  await world.charged(3, 120_000);
}

async function dieAndForget(world: WorkerWorld): Promise<void> {
  const first = await world.startWorker({ CHARGEONCE_CRASH_AT: 'after-confirm' });
  await world.publish([{ customer: 'ada' }]);
  await first.exited;
  await world.database.query('DELETE FROM billing_records');
  world.stripe.clock.advance(25 * HOUR_MS);
  await world.startWorker();
  await world.charged(1, 120_000);
}
