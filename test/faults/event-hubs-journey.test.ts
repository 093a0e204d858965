/** The bundle that is deployed, as a process of its own, from the hub to the books. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningBlobStorage, startBlobStorage } from '../emulators/blob-storage';
import { type HubWorld, hubWorld } from '../support/hub-world';
import { until } from '../support/until';

describe('a worker on Event Hubs', () => {
  let storage: RunningBlobStorage;
  let world: HubWorld;
  beforeAll(async () => {
    storage = await startBlobStorage();
    world = await hubWorld({ storage: storage.connectionString });
  });
  afterAll(async () => {
    await world?.close();
    await storage?.stop();
  });

  it('charges each customer and period once, whatever is sent twice, and ends when it is told to', async () => {
    await world.publish([{ customer: 'ada' }, { customer: 'bob', amount: 700 }, { customer: 'ada' }]);
    const worker = await world.startWorker();
    await worker.ready(30_000);
    await world.charged(2);
    await world.publish([
      { customer: 'ada', period: '2026-11' },
      { customer: 'bob', amount: 700 },
    ]);
    await world.charged(3);
    await until('every event is below a checkpoint', async () => {
      const done = Object.values(await world.checkpoints()).map((sequence) => sequence + 1);
      return done.reduce((sum, each) => sum + each, 0) === 5;
    });
    expect(await worker.stop(20_000)).toEqual({ code: 0, signal: null });
    expect(world.stripe.books.doubleCharged()).toEqual([]);
    expect(world.stripe.books.charges.map(({ amount }) => amount).sort()).toEqual([500, 500, 700]);
  });
});
