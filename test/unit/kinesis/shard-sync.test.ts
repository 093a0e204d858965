import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HashRange, Lease } from '../../../runtime/sources/kinesis/lease-item';
import { initialCheckpoint, SHARD_END, TRIM_HORIZON } from '../../../runtime/sources/kinesis/positions';
import {
  firstLeases,
  holes,
  mayDelete,
  missingLeases,
  uncovered,
  unstarted,
} from '../../../runtime/sources/kinesis/shard-sync';
import type { ShardView } from '../../../runtime/sources/kinesis/shards';

const MAX = 2n ** 128n - 1n;
const HALF = 2n ** 127n;
const LATEST = initialCheckpoint('LATEST');
const WHOLE: HashRange = { start: 0n, end: MAX };
const LOW: HashRange = { start: 0n, end: HALF - 1n };
const HIGH: HashRange = { start: HALF, end: MAX };

const shard = (id: string, hashRange: HashRange, parents: string[] = [], open = true): ShardView => ({
  id,
  hashRange,
  parents,
  open,
});
const lease = (key: string, checkpoint = TRIM_HORIZON, more: Partial<Lease> = {}): Lease => ({
  key,
  counter: 1n,
  checkpoint,
  parents: [],
  children: [],
  ...more,
});
const at = (sequence: string) => ({ sequence, sub: 0 });
const made = (leases: ReturnType<typeof missingLeases>) =>
  Object.fromEntries(leases.map((one) => [one.key, one.checkpoint.sequence]));

/** P was split into A and B, which were merged into C. */
const FAMILY = [
  shard('P', WHOLE, [], false),
  shard('A', LOW, ['P'], false),
  shard('B', HIGH, ['P'], false),
  shard('C', WHOLE, ['A', 'B']),
];

describe('the first leases', () => {
  it('are the oldest generation, and the open one for LATEST', () => {
    expect(made(firstLeases(FAMILY, TRIM_HORIZON))).toEqual({ P: 'TRIM_HORIZON' });
    expect(made(firstLeases(FAMILY, LATEST))).toEqual({ C: 'LATEST' });
  });

  it('are all that is listed when the oldest generation has a hole', () => {
    const listed = [shard('B', HIGH, ['P'], false), shard('C', WHOLE, ['A', 'B'])];
    expect(made(firstLeases(listed, TRIM_HORIZON))).toEqual({ B: 'TRIM_HORIZON', C: 'TRIM_HORIZON' });
  });
});

describe('missing leases', () => {
  it('of children wait while a parent is being read, and begin at their first record afterwards', () => {
    const split = FAMILY.slice(0, 3).map((one) => ({ ...one, open: one.id !== 'P' }));
    expect(made(missingLeases(split, [lease('P', at('5'))], LATEST))).toEqual({});
    expect(made(missingLeases(split, [lease('P', SHARD_END)], LATEST))).toEqual({
      A: 'TRIM_HORIZON',
      B: 'TRIM_HORIZON',
    });
    expect(made(missingLeases(split, [lease('P', SHARD_END), lease('B', at('9'))], LATEST))).toEqual({
      A: 'TRIM_HORIZON',
    });
  });

  it('of a merge child wait for both parents', () => {
    expect(made(missingLeases(FAMILY, [lease('A', SHARD_END), lease('B', at('3'))], LATEST))).toEqual({});
    expect(made(missingLeases(FAMILY, [lease('A', SHARD_END), lease('B', SHARD_END)], LATEST))).toEqual({
      C: 'TRIM_HORIZON',
    });
  });

  it('of a parent in the middle of a line are created before its child’s', () => {
    expect(made(missingLeases(FAMILY, [lease('A', SHARD_END)], TRIM_HORIZON))).toEqual({ B: 'TRIM_HORIZON' });
    expect(made(missingLeases(FAMILY, [lease('P', SHARD_END)], LATEST))).toEqual({
      A: 'TRIM_HORIZON',
      B: 'TRIM_HORIZON',
    });
  });

  it('are none of parents that a child has a lease of: they were read to their end', () => {
    const split = FAMILY.slice(0, 3).map((one) => ({ ...one, open: one.id !== 'P' }));
    expect(made(missingLeases(split, [lease('A', at('4'))], TRIM_HORIZON))).toEqual({ B: 'TRIM_HORIZON' });
    expect(made(missingLeases(FAMILY, [lease('C', at('4'))], TRIM_HORIZON))).toEqual({});
  });

  it('of a line that the table does not know begin where the initial position says', () => {
    const strangers = [...FAMILY, shard('Q', LOW)];
    expect(made(missingLeases(strangers, [lease('Q', at('1'))], LATEST))).toEqual({ C: 'LATEST' });
    expect(made(missingLeases(strangers, [lease('Q', at('1'))], TRIM_HORIZON))).toEqual({ P: 'TRIM_HORIZON' });
  });

  it('are none while the parent that the stream forgot stands in the table unread', () => {
    expect(made(missingLeases([shard('A', LOW, ['P'])], [lease('P', at('1'))], LATEST))).toEqual({ A: 'LATEST' });
  });
});

/** A stream with a history of random splits and merges. */
const history = fc.array(fc.record({ merge: fc.boolean(), pick: fc.nat() }), { maxLength: 12 }).map((steps) => {
  let shards: ShardView[] = [shard('s0', LOW), shard('s1', HIGH)];
  let next = 2;
  const close = (ids: string[]) => shards.map((one) => (ids.includes(one.id) ? { ...one, open: false } : one));
  for (const { merge, pick } of steps) {
    const open = shards.filter((one) => one.open).sort((a, b) => (a.hashRange.start < b.hashRange.start ? -1 : 1));
    const left = open[pick % open.length] as ShardView;
    const right = open[(pick % open.length) + 1];
    if (merge && right) {
      const range = { start: left.hashRange.start, end: right.hashRange.end };
      shards = [...close([left.id, right.id]), shard(`s${next++}`, range, [left.id, right.id])];
    } else {
      const middle = (left.hashRange.start + left.hashRange.end) / 2n;
      shards = [
        ...close([left.id]),
        shard(`s${next++}`, { start: left.hashRange.start, end: middle }, [left.id]),
        shard(`s${next++}`, { start: middle + 1n, end: left.hashRange.end }, [left.id]),
      ];
    }
  }
  return shards;
});

/** Runs a fleet that reads shards to their end in some order; with accidents, leases vanish meanwhile. */
function runFleet(shards: ShardView[], accidents: boolean, picks: readonly number[]): Map<string, number> {
  const initial = TRIM_HORIZON;
  const reads = new Map<string, number>();
  let leases = new Map(firstLeases(shards, initial).map((one) => [one.key, lease(one.key, one.checkpoint, one)]));
  for (let round = 0; round < 200; round++) {
    for (const one of missingLeases(shards, [...leases.values()], initial)) {
      leases.set(one.key, lease(one.key, one.checkpoint, one));
    }
    const began = (id: string) => !unstarted(leases.get(id) ?? lease(id));
    const finished = (id: string, child: Lease) => {
      const parent = leases.get(id);
      if (parent) return parent.checkpoint.sequence === 'SHARD_END';
      return !unstarted(child) || shards.some((one) => one.parents.includes(id) && began(one.id));
    };
    const ready = [...leases.values()].filter(
      (one) => one.checkpoint.sequence !== 'SHARD_END' && one.parents.every((id) => finished(id, one)),
    );
    const waitsForParent = (one: Lease) =>
      shards.some(
        (child) =>
          child.parents.includes(one.key) && !leases.has(child.id) && child.parents.some((id) => !leases.has(id)),
      );
    const unread = ready.filter((one) => !reads.has(one.key) && !waitsForParent(one));
    if (unread.length === 0) break;
    const now = unread[(picks[round % picks.length] ?? 0) % unread.length] as Lease;
    reads.set(now.key, round);
    const self = shards.find((one) => one.id === now.key) as ShardView;
    if (self.open) leases.set(now.key, { ...now, checkpoint: at('5') });
    else {
      for (const child of shards.filter((one) => one.parents.includes(now.key))) {
        if (!leases.has(child.id)) leases.set(child.id, lease(child.id, TRIM_HORIZON, child));
      }
      leases.set(now.key, { ...now, checkpoint: SHARD_END });
    }
    const vanishable = [...leases.keys()].filter((key) => !reads.has(key));
    if (accidents && round % 3 === 0 && vanishable.length > 0) {
      leases = new Map([...leases].filter(([key]) => key !== vanishable[(picks[0] ?? 0) % vanishable.length]));
    }
  }
  return reads;
}

describe('over any history of splits and merges', () => {
  it('every shard is read, parents before children', () => {
    fc.assert(
      fc.property(history, fc.array(fc.nat(), { minLength: 1, maxLength: 10 }), (shards, picks) => {
        const reads = runFleet(shards, false, picks);
        expect([...reads.keys()].sort()).toEqual(shards.map((one) => one.id).sort());
        for (const one of shards) {
          for (const parent of one.parents) {
            expect(reads.get(parent) as number).toBeLessThan(reads.get(one.id) as number);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('every shard is read though leases of unread shards vanish again and again', () => {
    fc.assert(
      fc.property(history, fc.array(fc.nat(), { minLength: 1, maxLength: 10 }), (shards, picks) => {
        expect([...runFleet(shards, true, picks).keys()].sort()).toEqual(shards.map((one) => one.id).sort());
      }),
      { numRuns: 300 },
    );
  });

  it('the unfinished leases cover every hash key again once what is missing was created', () => {
    fc.assert(
      fc.property(history, fc.infiniteStream(fc.boolean()), (shards, coin) => {
        const flip = coin[Symbol.iterator]();
        const leases = shards
          .filter((one) => one.open && flip.next().value)
          .map((one) => lease(one.id, at('1'), { hashRange: one.hashRange }));
        const created = missingLeases(shards, leases, LATEST).map((one) => lease(one.key, one.checkpoint, one));
        expect(holes([...leases, ...created], shards)).toEqual([]);
        expect(holes(leases, shards).length === 0).toBe(created.length === 0);
      }),
    );
  });
});

describe('holes', () => {
  it('are what no range covers; overlaps do not matter', () => {
    expect(uncovered([HIGH, LOW])).toEqual([]);
    expect(uncovered([])).toEqual([WHOLE]);
    expect(
      uncovered(
        [
          { start: 5n, end: 9n },
          { start: 3n, end: 20n },
        ],
        { start: 0n, end: 30n },
      ),
    ).toEqual([
      { start: 0n, end: 2n },
      { start: 21n, end: 30n },
    ]);
  });

  it('count a finished lease as absent and find a missing range in the list of shards', () => {
    const shards = [shard('A', LOW), shard('B', HIGH)];
    expect(holes([lease('A'), lease('B')], shards)).toEqual([]);
    expect(holes([lease('A'), lease('B', SHARD_END)], shards)).toEqual([HIGH]);
  });
});

describe('the lease of a finished shard', () => {
  const family = (child: string, parents: string[] = []) => {
    const parent = lease('P', SHARD_END, { children: ['A', 'B'], parents });
    return { parent, all: new Map([parent, lease('A', at('1')), lease('B', at(child))].map((one) => [one.key, one])) };
  };
  const deletable = ({ parent, all }: ReturnType<typeof family>) => mayDelete(parent, all, parent.children);

  it('may go when every child has begun and its own parents are gone', () => {
    expect(deletable(family('7'))).toBe(true);
    expect(deletable(family('SHARD_END'))).toBe(true);
    expect(deletable(family('TRIM_HORIZON'))).toBe(false);
    expect(deletable(family('AT_TIMESTAMP'))).toBe(false);
    expect(deletable(family('7', ['A']))).toBe(false);
    expect(mayDelete(lease('P', at('3'), { children: ['A'] }), family('7').all, ['A'])).toBe(false);
    expect(mayDelete(lease('P', SHARD_END), family('7').all, [])).toBe(false);
    expect(mayDelete(lease('P', SHARD_END), family('7').all, ['A', 'Z'])).toBe(false);
  });
});
