/**
 * The real processor and reconciler through seeded histories of faults. `SIM_SEED=n` replays one history,
 * `SIM_HISTORIES=n` runs that many instead of the default.
 */
import { expect, it } from 'vitest';
import { firstBroken, seedsFrom, simplest } from './run';

const { SIM_SEED, SIM_HISTORIES } = process.env;
const count = Number(SIM_HISTORIES ?? 1_500);
const seeds = SIM_SEED === undefined ? seedsFrom(1, count) : [Number(SIM_SEED)];

/** In words: what broke, and the fewest faults with which it still does. */
async function brokenIn(all: readonly number[]): Promise<string | undefined> {
  const found = await firstBroken(all);
  if (!found) return undefined;
  const { broken, faults } = await simplest(found);
  return `${found.message}\nwith the faults ${faults.join(', ')} alone: ${broken.message}`;
}

it('charges each identity at most once, loses no event and comes to rest, whatever goes wrong', {
  timeout: 60_000 + count * 1_000,
}, async () => {
  expect(await brokenIn(seeds)).toBeUndefined();
});
