/** Whether the simulator could notice a broken promise at all: the product without one of its rules, within the default seeds. */
import { describe, expect, it } from 'vitest';
import { firstBroken, seedsFrom, simplest } from './run';
import { TWINS } from './twins';
import { World } from './world';

describe('the simulator notices', () => {
  it.each(TWINS)('$name', { timeout: 60_000 }, async ({ twin, breaks }) => {
    const broken = await firstBroken(seedsFrom(1, 1_000), twin, breaks);
    expect(broken?.rule).toMatch(breaks);
  });
});

it('plays the same history again from the same seed', async () => {
  const run = async (seed: number) => {
    const world = new World(seed);
    await world.run();
    return { steps: world.clock.steps, now: world.clock.now, rows: [...world.ledger.model.rows.values()] };
  };
  expect(await run(7)).toEqual(await run(7));
});

it('leaves out the faults that a broken promise does not need', async () => {
  const { twin, breaks } = TWINS.find(({ name }) => name.startsWith('R9'))!;
  const found = await firstBroken(seedsFrom(1, 1_000), twin, breaks);
  const { broken, faults, without } = await simplest(found!, twin);
  expect(broken.rule).toBe(found!.rule);
  expect(faults.length).toBeLessThan(without.length);
});
