/**
 * A process on Event Hubs that stands still for longer than its ownership (a stalled event loop, a frozen container) and
 * wakes up: another worker has taken over, the sleeper begins nothing at Stripe that it may no longer, whether or not a
 * request to the storage was on its way when it froze, and each event is charged once.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host';
import type { Worker } from '../../stacks/local/workers';
import { type RunningBlobStorage, startBlobStorage } from '../emulators/blob-storage';
import { type BlobFaultProxy, startBlobFaultProxy } from '../support/blob-fault-proxy';
import { type HubWorld, hubWorld, OWNERSHIP_MS } from '../support/hub-world';
import { until } from '../support/until';

/** A key of the sleeper's own, so that the emulator can tell whose requests it got. */
const SLEEPER_KEY = 'rk_test_key_of_the_sleeper_Zzzz';

describe('a worker on Event Hubs that stands still', () => {
  let storage: RunningBlobStorage;
  let proxy: BlobFaultProxy;
  const worlds: HubWorld[] = [];
  beforeAll(async () => {
    storage = await startBlobStorage();
    proxy = await startBlobFaultProxy(storage);
  });
  afterAll(async () => {
    for (const world of worlds) await world.close();
    await proxy?.stop();
    await storage?.stop();
  });

  /** It freezes with the confirm of the first of one customer's two events on its way; the second waits behind it. */
  async function frozenInMidCharge(
    ownershipMs: number,
    asking: boolean,
  ): Promise<{ world: HubWorld; sleeper: Worker }> {
    const { connectionString } = storage;
    const world = await hubWorld({ storage: connectionString, partitions: 1 });
    worlds.push(world);
    const sleeper = await world.startWorker({
      STRIPE_API_KEY: SLEEPER_KEY,
      EVENTHUB_OWNERSHIP_MS: String(ownershipMs),
      CHECKPOINT_CONNECTION_STRING: proxy.connectionString,
    });
    await sleeper.ready(30_000);
    const hold = world.stripe.faults.hold({ on: 'confirm', when: 'before-execute' });
    await world.publish([{ customer: 'ada' }, { customer: 'ada', period: '2026-11' }], '0');
    await hold.reached;
    await until('both events are read', async () => (await sleeper.metric('chargeonce_events_total')) === 2);
    const onItsWay = asking ? proxy.inject({ action: { kind: 'hang' } }) : undefined;
    await until('it asks the storage', () => onItsWay === undefined || onItsWay.hits.length > 0);
    process.kill(sleeper.pid, 'SIGSTOP');
    onItsWay?.remove();
    hold.release();
    return { world, sleeper };
  }

  /** Wakes it. Answers what it wrote at Stripe from now on, whenever that is asked for. */
  function wake(world: HubWorld, sleeper: Worker): () => string[] {
    const before = world.stripe.requests.length;
    process.kill(sleeper.pid, 'SIGCONT');
    return () =>
      world.stripe.requests
        .slice(before)
        .filter(({ method, apiKey }) => method === 'POST' && apiKey?.endsWith(SLEEPER_KEY.slice(-4)))
        .map(({ operation }) => operation);
  }

  it.each([
    ['between two requests', false],
    ['with a request to the storage on its way', true],
  ])('for longer than its ownership, %s, stops itself before Stripe', async (_, asking) => {
    const { world, sleeper } = await frozenInMidCharge(OWNERSHIP_MS, asking);
    const successor = await world.startWorker();
    await until('the other worker has it', async () => (await successor.metric('chargeonce_leases_held')) === 1);
    const written = wake(world, sleeper);
    await until('the sleeper knows', async () => (await sleeper.metric('chargeonce_leases_lost_total')) === 1);
    expect(await sleeper.metric('chargeonce_leases_held')).toBe(0);
    expect(await sleeper.metric('chargeonce_checkpoints_total')).toBe(0);
    await world.charged(2);
    expect(written()).toEqual([]);
    expect(world.stripe.books.charges).toHaveLength(2);
    expect(world.stripe.books.doubleCharged()).toEqual([]);
    await until('the checkpoint is at the end', async () => (await world.checkpoints())['0'] === 1);
    expect((await sleeper.stop(30_000)).code).toBe(0);
    expect(written()).toEqual([]);
  });

  it('twin: for as long, but within its ownership, goes on to charge what it had read', async () => {
    const { world, sleeper } = await frozenInMidCharge(60_000, false);
    await systemHost.sleep(1.5 * OWNERSHIP_MS);
    const written = wake(world, sleeper);
    await world.charged(2);
    expect(written()).toEqual(['payment_intents.create', 'payment_intents.confirm']);
    expect(world.stripe.books.doubleCharged()).toEqual([]);
    expect((await sleeper.stop(30_000)).code).toBe(0);
  });
});
