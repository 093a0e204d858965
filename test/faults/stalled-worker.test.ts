/**
 * A process that stands still for 1.5 lease durations (a stalled event loop, a frozen container) and wakes up: another
 * worker has taken over, the sleeper begins nothing at Stripe that it may no longer, and each event is charged once.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host';
import type { Worker } from '../../stacks/local/workers';
import { type AwsLocal, startAwsLocal } from '../support/aws-local';
import { until } from '../support/until';
import { LEASE_DURATION_MS, type WorkerWorld, workerWorld } from '../support/worker-world';

const STALL_MS = 1.5 * LEASE_DURATION_MS;
/** A key of the sleeper's own, so that the emulator can tell whose requests it got. */
const SLEEPER_KEY = 'rk_test_key_of_the_sleeper_Zzzz';

describe('a worker that stands still', () => {
  let aws: AwsLocal;
  const worlds: WorkerWorld[] = [];
  beforeAll(async () => {
    aws = await startAwsLocal();
  });
  afterAll(async () => {
    for (const world of worlds) await world.close();
    await aws.stop();
  });

  /** It freezes with the confirm of the first of one customer's two events on its way; the second waits behind it. */
  async function frozenInMidCharge(leaseDurationMs: number): Promise<{ world: WorkerWorld; sleeper: Worker }> {
    const world = await workerWorld(aws);
    worlds.push(world);
    const sleeper = await world.startWorker({
      STRIPE_API_KEY: SLEEPER_KEY,
      LEASE_DURATION_MS: String(leaseDurationMs),
    });
    await sleeper.ready(30_000);
    const hold = world.stripe.faults.hold({ on: 'confirm', when: 'before-execute' });
    await world.publish([{ customer: 'ada' }, { customer: 'ada', period: '2026-11' }]);
    await hold.reached;
    await until('both events are read', async () => (await sleeper.metric('chargeonce_events_total')) === 2);
    process.kill(sleeper.pid, 'SIGSTOP');
    hold.release();
    return { world, sleeper };
  }

  /** Wakes it. Answers what it wrote at Stripe from now on, as `operation period`, whenever that is asked for. */
  function wake(world: WorkerWorld, sleeper: Worker): () => string[] {
    const before = world.stripe.requests.length;
    process.kill(sleeper.pid, 'SIGCONT');
    return () =>
      world.stripe.requests
        .slice(before)
        .filter(({ method, apiKey }) => method === 'POST' && apiKey?.endsWith(SLEEPER_KEY.slice(-4)))
        .map(({ path, operation, rawBody }) => `${operation} ${periodOf(world, path, rawBody)}`);
  }

  it('for longer than its leases stops itself before Stripe, and nothing is charged twice', async () => {
    const { world, sleeper } = await frozenInMidCharge(LEASE_DURATION_MS);
    const successor = await world.startWorker();
    await successor.ready(30_000);
    await until(
      'the other worker holds the lease',
      async () => (await successor.metric('chargeonce_leases_held')) === 1,
    );
    await systemHost.sleep(LEASE_DURATION_MS / 2);
    const written = wake(world, sleeper);
    await until(
      'the sleeper knows that its lease is gone',
      async () => (await sleeper.metric('chargeonce_leases_lost_total')) === 1,
    );
    expect(await sleeper.metric('chargeonce_leases_held')).toBe(0);
    expect(await sleeper.metric('chargeonce_checkpoints_total')).toBe(0);
    await world.charged(2);
    expect(written()).toEqual([]);
    expect(world.stripe.books.charges).toHaveLength(2);
    expect(world.stripe.books.doubleCharged()).toEqual([]);
    expect(world.stripe.intents()).toHaveLength(2);
    expect((await sleeper.stop(30_000)).code).toBe(0);
    expect(written()).toEqual([]);
  });

  it('twin: for as long, but within its lease, goes on to charge what it had read', async () => {
    const { world, sleeper } = await frozenInMidCharge(10 * STALL_MS);
    await systemHost.sleep(STALL_MS);
    const written = wake(world, sleeper);
    await world.charged(2);
    expect(written()).toEqual(['payment_intents.create 2026-11', 'payment_intents.confirm 2026-11']);
    expect(world.stripe.books.doubleCharged()).toEqual([]);
    expect((await sleeper.stop(30_000)).code).toBe(0);
  });
});

/** The billing period that a write is about: a create says it, a confirm names its intent. */
function periodOf(world: WorkerWorld, path: string, body: Buffer): string | undefined {
  const id = /\/payment_intents\/([^/]+)/.exec(path)?.[1];
  if (id !== undefined) return world.stripe.intent(id).metadata.billing_period;
  return new URLSearchParams(body.toString()).get('metadata[billing_period]') ?? undefined;
}
