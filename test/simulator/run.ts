/** Many histories, one after the other. */
import { Broken } from './invariants';
import type { Twin } from './simulation';
import { World } from './world';

/** The first broken promise of that kind within the seeds; undefined when there is none. */
export async function firstBroken(seeds: readonly number[], twin: Twin = {}, kind = /^/): Promise<Broken | undefined> {
  for (const seed of seeds) {
    const broken = await brokenIn(new World(seed, twin)).catch((error: unknown) => {
      throw new Error(`SIM_SEED=${seed}: ${error}`, { cause: error });
    });
    if (broken && kind.test(broken.rule)) return broken;
  }
  return undefined;
}

async function brokenIn(world: World): Promise<Broken | undefined> {
  try {
    await world.run();
    return undefined;
  } catch (error) {
    if (error instanceof Broken) return error;
    throw error;
  }
}

/** The same broken promise with as few kinds of faults as it takes: what is still broken, and what was left out. */
export async function simplest(
  broken: Broken,
  twin: Twin = {},
): Promise<{ readonly broken: Broken; readonly without: readonly string[]; readonly faults: readonly string[] }> {
  const without: string[] = [];
  let least = broken;
  for (const kind of new World(broken.seed, twin).faults.present) {
    const found = await brokenIn(new World(broken.seed, twin, [...without, kind]));
    if (found?.rule !== broken.rule) continue;
    without.push(kind);
    least = found;
  }
  return { broken: least, without, faults: new World(broken.seed, twin, without).faults.present };
}

export const seedsFrom = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => first + index);
