/**
 * The real processor and reconciler through seeded histories of faults. `SIM_SEED=n` replays one history,
 * `SIM_HISTORIES=n` runs more of them.
 */
import { expect, it } from 'vitest';
import { firstBroken, seedsFrom } from './run';

const { SIM_SEED, SIM_HISTORIES } = process.env;
const count = Number(SIM_HISTORIES ?? 1_500);
const seeds = SIM_SEED === undefined ? seedsFrom(1, count) : [Number(SIM_SEED)];

it('charges each identity at most once, loses no event and comes to rest, whatever goes wrong', {
  timeout: 60_000 + count * 1_000,
}, async () => {
  expect((await firstBroken(seeds))?.message).toBeUndefined();
});
