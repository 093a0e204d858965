/** Many histories, one after the other. */
import { Broken } from './invariants';
import type { Twin } from './simulation';
import { World } from './world';

/** The first broken promise of that kind within the seeds; undefined when there is none. */
export async function firstBroken(seeds: readonly number[], twin: Twin = {}, kind = /^/): Promise<Broken | undefined> {
  for (const seed of seeds) {
    try {
      await new World(seed, twin).run();
    } catch (error) {
      if (!(error instanceof Broken)) throw new Error(`SIM_SEED=${seed}: ${error}`, { cause: error });
      if (kind.test(error.rule)) return error;
    }
  }
  return undefined;
}

export const seedsFrom = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => first + index);
