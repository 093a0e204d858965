import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LowWater, type LowWaterEntry } from '../../../runtime/checkpoint/low-water';

/** The mark by definition: the longest finished prefix, counted from the start each time. */
class Naive {
  readonly all: { position: string; endsBatch: boolean; finished: boolean }[] = [];
  passed = 0;

  advance(): { position: string; passed: number; batchEnd: string | undefined } | undefined {
    const firstOpen = this.all.findIndex((entry) => !entry.finished);
    const end = firstOpen === -1 ? this.all.length : firstOpen;
    if (end === this.passed) return undefined;
    const moved = this.all.slice(this.passed, end);
    this.passed = end;
    return {
      position: moved.at(-1)!.position,
      passed: moved.length,
      batchEnd: moved.filter((entry) => entry.endsBatch).at(-1)?.position,
    };
  }
}

type Step = { readonly add: boolean } | { readonly finish: number };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ finish: fc.nat() }) },
  ),
  { maxLength: 300 },
);

function agrees(run: readonly Step[], make: () => Pick<LowWater, 'add' | 'advance' | 'open' | 'position'>): boolean {
  const water = make();
  const naive = new Naive();
  const entries: LowWaterEntry[] = [];
  let last: string | undefined;
  for (const step of run) {
    if ('add' in step) {
      const position = String(entries.length);
      entries.push(water.add(position, step.add));
      naive.all.push({ position, endsBatch: step.add, finished: false });
      continue;
    }
    if (entries.length === 0) continue;
    const index = step.finish % entries.length;
    entries[index]!.finished = true;
    naive.all[index]!.finished = true;
    const mark = water.advance();
    const expected = naive.advance();
    if (JSON.stringify(mark) !== JSON.stringify(expected)) return false;
    last = expected?.position ?? last;
    if (water.open !== naive.all.length - naive.passed || water.position !== last) return false;
  }
  return true;
}

describe('the low-water mark', () => {
  it('is the longest finished prefix, in whatever order deliveries finish', () => {
    fc.assert(
      fc.property(steps, (run) => agrees(run, () => new LowWater())),
      { numRuns: 500 },
    );
  });

  it('the comparison finds a mark that runs ahead', () => {
    class RunsAhead extends LowWater {
      override add(position: string, endsBatch: boolean): LowWaterEntry {
        const entry = super.add(position, endsBatch);
        if (position === '3') entry.finished = true;
        return entry;
      }
    }
    const found = fc.check(
      fc.property(steps, (run) => agrees(run, () => new RunsAhead())),
      { numRuns: 500 },
    );
    expect(found.failed).toBe(true);
  });

  it('does not keep what it passed: a million deliveries later it is as small as at first', () => {
    const water = new LowWater();
    let open: LowWaterEntry[] = [];
    for (let index = 0; index < 1_000_000; index++) {
      open.push(water.add(String(index), false));
      if (open.length < 100) continue;
      for (const entry of open) entry.finished = true;
      open = [];
      water.advance();
    }
    expect(water.open).toBe(0);
    expect(water.position).toBe('999999');
  });

  it('one unfinished delivery holds the mark, however many finish behind it', () => {
    const water = new LowWater();
    const slow = water.add('0', false);
    for (let index = 1; index <= 5_000; index++) {
      water.add(String(index), index === 5_000).finished = true;
      expect(water.advance()).toBeUndefined();
    }
    slow.finished = true;
    expect(water.advance()).toEqual({ position: '5000', passed: 5_001, batchEnd: '5000' });
  });
});
