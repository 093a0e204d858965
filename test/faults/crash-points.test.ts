/**
 * Real processes, killed at each crash point and restarted, at once and after the emulator's clock moved 25 h on
 * (the idempotency keys are gone by then): one charge each. The twin without the ledger's memory charges twice.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CRASH_POINTS, type CrashPoint } from '../../runtime/contract';
import { type AwsLocal, startAwsLocal } from '../support/aws-local';
import { type WorkerWorld, workerWorld } from '../support/worker-world';

const EVENTS = [{ customer: 'ada' }, { customer: 'bob', amount: 700 }, { customer: 'ada', period: '2026-11' }];
const HOURS = 3_600_000;

describe.each([0, 25])('a worker killed, and restarted with Stripe %i h on', (hours) => {
  const worlds = new Map<CrashPoint, WorkerWorld>();
  let aws: AwsLocal;

  beforeAll(async () => {
    aws = await startAwsLocal();
    for (const point of CRASH_POINTS) worlds.set(point, await workerWorld(aws));
    // All at the same time: most of it is waiting for the claim of the dead to expire.
    await Promise.all([...worlds].map(([point, world]) => dieAndComeBack(point, world, hours)));
  }, 180_000);
  afterAll(async () => {
    await Promise.all([...worlds.values()].map((world) => world.close()));
    await aws.stop();
  });

  it.each(CRASH_POINTS)('at %s: one charge each', async (point) => {
    const world = worlds.get(point) as WorkerWorld;
    expect(world.stripe.books.doubleCharged()).toEqual([]);
    expect(world.stripe.books.charges.map((charge) => charge.amount).sort()).toEqual([500, 500, 700]);
    expect(await world.statuses()).toEqual({ charged: 3 });
    const caps = await world.database.query(
      'SELECT sum(reserved_cents)::int AS reserved, sum(spent_cents)::int AS spent FROM spend_caps',
    );
    expect(caps).toEqual([{ reserved: 0, spent: 1_700 }]);
  });
});

async function dieAndComeBack(point: CrashPoint, world: WorkerWorld, hours: number): Promise<void> {
  const first = await world.startWorker({ CHARGEONCE_CRASH_AT: point });
  await world.publish(EVENTS);
  const { signal } = await first.exited;
  if (signal !== 'SIGKILL') throw new Error(`The worker was to die at ${point}, but:\n${first.tail()}`);
  world.stripe.clock.advance(hours * HOURS);
  await world.startWorker();
  await world.charged(3, 90_000);
}

describe('the twin: the ledger forgets its rows between the crash and the restart', () => {
  let aws: AwsLocal;
  let world: WorkerWorld;
  beforeAll(async () => {
    aws = await startAwsLocal();
    world = await workerWorld(aws);
  });
  afterAll(async () => {
    await world.close();
    await aws.stop();
  });

  it('charges twice once the key is pruned, and the books show it', async () => {
    const first = await world.startWorker({ CHARGEONCE_CRASH_AT: 'after-confirm' });
    await world.publish([{ customer: 'ada' }]);
    await first.exited;
    await world.database.query('DELETE FROM billing_records');
    world.stripe.clock.advance(25 * HOURS);
    await world.startWorker();
    await world.charged(1);
    expect(world.stripe.books.doubleCharged()).toHaveLength(1);
  });
});
