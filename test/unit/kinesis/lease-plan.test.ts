import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../runtime/sources/kinesis/lease-item';
import {
  type Memory,
  type PlanInput,
  planTakes,
  remember,
  unownedLeases,
} from '../../../runtime/sources/kinesis/lease-plan';

const L = 10_000;
const lease = (key: number | string, owner?: string, counter = 1n): Lease => ({
  key: `shardId-${key}`,
  counter,
  checkpoint: { sequence: 'TRIM_HORIZON', sub: 0 },
  parents: [],
  children: [],
  ...(owner ? { owner } : {}),
});
const keys = (takes: ReturnType<typeof planTakes>) => takes.map((take) => take.lease.key).sort();

function plan(leases: readonly Lease[], overrides: Partial<PlanInput> = {}): ReturnType<typeof planTakes> {
  const memory = overrides.memory ?? remember(new Map(), leases, 0);
  const held = new Set(leases.filter((one) => one.owner === 'me').map((one) => one.key));
  return planTakes({
    leases,
    memory,
    now: 0,
    leaseDurationMs: L,
    me: 'me',
    held,
    maxLeases: Number.POSITIVE_INFINITY,
    maxSteal: 1,
    random: () => 0.3,
    ...overrides,
  });
}

describe('leases that nobody holds', () => {
  const unowned = (leases: readonly Lease[], now = 0, memory: Memory = remember(new Map(), leases, 0)) =>
    unownedLeases({ leases, memory, now, leaseDurationMs: L, me: 'me', held: new Set(['shardId-1']) }).map(
      (l) => l.key,
    );

  it('are those without an owner, and those that were not renewed; not mine, and not those of living workers', () => {
    const leases = [lease(1, 'me'), lease(2, 'alive'), lease(3), lease(4, 'dead')];
    expect(unowned(leases)).toEqual(['shardId-3']);
    const memory = remember(
      remember(new Map(), leases, 0),
      [lease(1, 'me'), lease(2, 'alive', 2n), lease(4, 'dead')],
      L,
    );
    expect(unowned(leases, L + 1, memory)).toEqual(['shardId-3', 'shardId-4']);
  });

  it('are not those of shards that were read to their end', () => {
    expect(unowned([{ ...lease(3), checkpoint: { sequence: 'SHARD_END', sub: 0 } }])).toEqual([]);
  });
});

describe('expiry', () => {
  it('needs two looks that are further apart than the lease lasts', () => {
    const leases = [lease(1, 'dead')];
    expect(plan(leases, { now: 1_000_000, memory: remember(new Map(), leases, 1_000_000) })).toEqual([]);
    const memory = remember(remember(new Map(), leases, 0), leases, L);
    expect(plan(leases, { memory, now: L })).toEqual([]);
    expect(plan(leases, { memory, now: L + 1 })).toMatchObject([{ how: 'expired' }]);
  });

  it('starts again at each change of the counter or the owner', () => {
    let memory: Memory = remember(new Map(), [lease(1, 'a', 1n)], 0);
    memory = remember(memory, [lease(1, 'a', 2n)], 9_000);
    expect(plan([lease(1, 'a', 2n)], { memory, now: 18_000 })).toEqual([]);
    memory = remember(memory, [lease(1, 'b', 2n)], 18_500);
    expect(plan([lease(1, 'b', 2n)], { memory, now: 28_000 })).toEqual([]);
    expect(plan([lease(1, 'b', 2n)], { memory, now: 28_501 })).toHaveLength(1);
  });

  it('never takes a lease whose owner renewed within its duration, whatever the history', () => {
    const renewals = fc.array(fc.integer({ min: 1, max: L - 1 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(renewals, fc.integer({ min: 2_000, max: 20_000 }), (gaps, period) => {
        let now = 0;
        let next = gaps[0] as number;
        let counter = 1n;
        let memory: Memory = new Map();
        for (let look = 1; look <= 20; look++) {
          for (; now < look * period; now++) {
            if (now === next) {
              counter++;
              next += gaps[Number(counter) % gaps.length] as number;
            }
          }
          const leases = [lease(1, 'alive', counter), lease(2, 'me'), lease(3, 'me')];
          memory = remember(memory, leases, now);
          expect(plan(leases, { memory, now, maxSteal: 0 })).toEqual([]);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('a lease that bears my name but that I do not hold is taken again', () => {
    expect(plan([lease(1, 'me')], { held: new Set() })).toMatchObject([{ how: 'expired' }]);
    expect(plan([lease(1, 'me')])).toEqual([]);
  });
});

describe('the fair share', () => {
  it('of unowned leases is rounded up over the workers that live, me included', () => {
    const leases = [lease(1, 'a'), lease(2, 'a'), lease(3), lease(4), lease(5)];
    expect(plan(leases)).toHaveLength(3);
    expect(plan([lease(1), lease(2)])).toHaveLength(2);
    expect(plan([lease(1, 'a'), lease(2, 'b'), lease(3), lease(4), lease(5)])).toHaveLength(2);
  });

  it('is passed for leases that nobody took for three durations, but never the limit of this worker', () => {
    const view = (counter: bigint) => [lease(1, 'me'), lease(2, 'me'), lease(3, 'a', counter), lease(4)];
    const first = remember(new Map(), view(1n), 0);
    const later = (now: number) => ({ memory: remember(first, view(2n), now), now });
    expect(plan(view(2n), later(3 * L))).toEqual([]);
    expect(plan(view(2n), later(3 * L + 1))).toMatchObject([{ how: 'unowned', lease: { key: 'shardId-4' } }]);
    expect(plan(view(2n), { ...later(3 * L + 1), maxLeases: 2 })).toEqual([]);
  });

  it('is restored by stealing one at a time from the busiest, and only when nothing is free', () => {
    const leases = [lease(1, 'a'), lease(2, 'a'), lease(3, 'a'), lease(4, 'a'), lease(5, 'b')];
    const takes = plan(leases);
    expect(takes).toMatchObject([{ how: 'stolen', lease: { owner: 'a' } }]);
    expect(plan(leases, { maxSteal: 5 })).toHaveLength(2);
    expect(plan([...leases, lease(6)])).toMatchObject([{ how: 'unowned' }]);
    expect(plan([lease(1, 'a'), lease(2, 'me')])).toEqual([]);
  });

  it('ends level: workers that act on the plan in turn come to rest with shares that differ by at most one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 6 }), (count, workers) => {
        const names = Array.from({ length: workers }, (_, i) => `w${i}`);
        let leases = Array.from({ length: count }, (_, i) => lease(i, 'w0'));
        for (let round = 0; round < count * 2 + 4; round++) {
          for (const me of names) {
            const held = new Set(leases.filter((one) => one.owner === me).map((one) => one.key));
            const taken = new Set(keys(plan(leases, { me, held })));
            leases = leases.map((one) => (taken.has(one.key) ? { ...one, owner: me } : one));
          }
        }
        const shares = names.map((name) => leases.filter((one) => one.owner === name).length);
        const target = Math.ceil(count / workers);
        expect(Math.max(...shares)).toBeLessThanOrEqual(target);
        for (const me of names) {
          const held = new Set(leases.filter((one) => one.owner === me).map((one) => one.key));
          expect(plan(leases, { me, held })).toEqual([]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('takes no lease twice and none that I hold', () => {
    const arbitrary = fc.array(fc.constantFrom('me', 'a', 'b', undefined), { maxLength: 40 });
    fc.assert(
      fc.property(arbitrary, fc.nat(100_000), fc.nat(5), (owners, now, maxSteal) => {
        const leases = owners.map((owner, i) => lease(i, owner));
        const takes = keys(plan(leases, { now, maxSteal }));
        expect(new Set(takes).size).toBe(takes.length);
        for (const key of takes) expect(leases.find((one) => one.key === key)?.owner).not.toBe('me');
      }),
    );
  });
});
