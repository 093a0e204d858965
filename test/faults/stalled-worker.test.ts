/**
 * A process that stands still for 1.5 lease durations (a stalled event loop, a frozen container) and wakes up: another
 * worker has taken over, the sleeper begins nothing at Stripe that it may no longer, and each event is charged once.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host';
import { type AwsLocal, startAwsLocal } from '../support/aws-local';
import { until } from '../support/until';
import { LEASE_DURATION_MS, type WorkerWorld, workerWorld } from '../support/worker-world';

describe('a worker that stands still for longer than its leases', () => {
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

  it('stops itself before Stripe, and nothing is charged twice', async () => {
    const sleeper = await world.startWorker();
    await sleeper.ready(30_000);
    // The confirm of the first customer is on its way when the process freezes.
    const hold = world.stripe.faults.hold({ on: 'confirm', when: 'before-execute' });
    await world.publish([{ customer: 'ada' }, { customer: 'ada', period: '2026-11' }]);
    await hold.reached;
    process.kill(sleeper.pid, 'SIGSTOP');
    hold.release();
    const successor = await world.startWorker();
    await successor.ready(30_000);
    await until(
      'the other worker holds the lease',
      async () => (await successor.metric('chargeonce_leases_held')) === 1,
    );
    await systemHost.sleep(LEASE_DURATION_MS / 2);
    const before = world.stripe.requests.filter((request) => request.method === 'POST').length;
    process.kill(sleeper.pid, 'SIGCONT');
    await until(
      'the sleeper knows that its lease is gone',
      async () => (await sleeper.metric('chargeonce_leases_lost_total')) === 1,
    );
    expect(await sleeper.metric('chargeonce_leases_held')).toBe(0);
    expect(await sleeper.metric('chargeonce_checkpoints_total')).toBe(0);
    // Its second event was waiting behind the first: it may not be begun any more by the sleeper.
    const creates = world.stripe.requests
      .slice()
      .filter((request) => request.path === '/v1/payment_intents' && request.method === 'POST');
    expect(before).toBeGreaterThan(0);
    await world.charged(2);
    expect(world.stripe.books.doubleCharged()).toEqual([]);
    expect(new Set(creates.map((request) => request.idempotencyKey)).size).toBe(creates.length);
    expect((await sleeper.stop(30_000)).code).toBe(0);
  });
});
