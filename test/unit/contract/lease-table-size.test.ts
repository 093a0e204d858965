import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fitsOneTable,
  kclWrites,
  LEASES_PER_SHARD,
  leaseTableSize,
  mostShards,
  onDemandShards,
  renewalSeconds,
  scanSeconds,
} from '../../../runtime/contract';

const load = fc.record({
  shards: fc.integer({ min: 1, max: 20_000 }),
  leaseSeconds: fc.integer({ min: 5, max: 60 }),
});
const round = (value: number) => Math.round(value * 10) / 10;

describe('the size of the lease table', () => {
  it.each([
    { shards: 1, workers: 1, steady: 0.3, write: 5, kcl: 1.3, index: 5 },
    { shards: 10, workers: 2, steady: 3, write: 5, kcl: 13, index: 5 },
    { shards: 100, workers: 10, steady: 30.2, write: 46, kcl: 130.2, index: 15 },
    { shards: 1_000, workers: 50, steady: 302.3, write: 454, kcl: 1_302.3, index: 150 },
    { shards: 10_000, workers: 200, steady: 3_022.7, write: 4_535, kcl: 13_022.7, index: 1_500 },
  ])('$shards shards, $workers workers', ({ shards, workers, steady, write, kcl, index }) => {
    const size = leaseTableSize({ shards, workers, leaseSeconds: 10 });
    expect(round(size.steadyWrites)).toBe(steady);
    expect(size).toMatchObject({ writeMinimum: write, writeMaximum: 3 * write, indexWrite: index });
    expect(round(kclWrites({ shards, leaseSeconds: 10 }, 1))).toBe(kcl);
  });

  it('renews three times a lease, 25 ms early', () => {
    expect(renewalSeconds(10)).toBeCloseTo(3.308, 3);
  });

  it('writes a unit for each started kilobyte', () => {
    const small = leaseTableSize({ shards: 1_000, leaseSeconds: 10, itemKilobytes: 1 });
    expect(leaseTableSize({ shards: 1_000, leaseSeconds: 10, itemKilobytes: 1.1 }).steadyWrites).toBe(
      2 * small.steadyWrites,
    );
  });

  it.each([
    { shards: 10, workers: 2, scan: 2, read: 5 },
    { shards: 1_000, workers: 50, scan: 20, read: 313 },
    { shards: 10_000, workers: 200, scan: 20, read: 12_500 },
  ])('scans of $workers workers over $shards leases', ({ shards, workers, scan, read }) => {
    expect(leaseTableSize({ shards, workers, leaseSeconds: 10 })).toMatchObject({
      scanSeconds: scan,
      readMinimum: read,
      readMaximum: 3 * read,
    });
  });

  it('is scanned between every 2 s and every two leases, by its size', () => {
    expect(scanSeconds({ shards: 0, workers: 1, leaseSeconds: 10 })).toBe(2);
    expect(scanSeconds({ shards: 4, workers: 2, leaseSeconds: 10 })).toBe(2);
    expect(scanSeconds({ shards: 1_000, workers: 5, leaseSeconds: 10 })).toBe(6.25);
    expect(scanSeconds({ shards: 1_000, workers: 50, leaseSeconds: 10 })).toBe(20);
  });

  it('reads what the budget allows, to the unit: a quotient of a quotient would be one more here and there', () => {
    const reads = new Set<number>();
    for (let shards = 181; shards <= 390; shards++) reads.add(leaseTableSize({ shards, leaseSeconds: 10 }).readMinimum);
    expect([...reads]).toEqual([100]);
  });

  it('takes one worker for every ten shards when nobody says, and never fewer than two', () => {
    const size = (shards: number, workers?: number) =>
      leaseTableSize({ shards, leaseSeconds: 10, ...(workers === undefined ? {} : { workers }) });
    expect(size(1_000)).toEqual(size(1_000, 100));
    expect(size(1)).toEqual(size(1, 2));
  });

  it('never shrinks when there is more to carry, never falls below 5, and always leaves headroom', () => {
    fc.assert(
      fc.property(load, ({ shards, leaseSeconds }) => {
        const size = leaseTableSize({ shards, leaseSeconds });
        const more = leaseTableSize({ shards: shards + 1, leaseSeconds });
        const longer = leaseTableSize({ shards, leaseSeconds: leaseSeconds + 1 });
        for (const units of [size.writeMinimum, size.readMinimum, size.indexWrite]) {
          expect(units).toBeGreaterThanOrEqual(5);
          expect(Number.isInteger(units)).toBe(true);
        }
        expect(size.writeMinimum).toBeGreaterThanOrEqual(1.5 * size.steadyWrites);
        expect(size.indexWrite).toBeGreaterThanOrEqual((1.5 * 2 * shards) / 20);
        expect(more.writeMinimum).toBeGreaterThanOrEqual(size.writeMinimum);
        expect(more.readMinimum).toBeGreaterThanOrEqual(size.readMinimum);
        expect(more.indexWrite).toBeGreaterThanOrEqual(size.indexWrite);
        expect(longer.writeMinimum).toBeLessThanOrEqual(size.writeMinimum);
        expect(size.scanSeconds).toBeGreaterThanOrEqual(2);
        expect(size.scanSeconds).toBeLessThanOrEqual(2 * leaseSeconds);
      }),
    );
  });

  it('costs the same however often an event is checkpointed, unlike two writes apart', () => {
    const here = { shards: 100, leaseSeconds: 10 };
    expect(kclWrites(here, 0)).toBeCloseTo(leaseTableSize(here).steadyWrites, 9);
    expect(kclWrites(here, 5)).toBeGreaterThan(16 * leaseTableSize(here).steadyWrites);
  });
});

describe('what one table can carry', () => {
  it('is 8,822 leases of 10 s on demand, from the first second', () => {
    expect(onDemandShards(10)).toBe(8_822);
    expect(1.5 * leaseTableSize({ shards: 8_822, leaseSeconds: 10 }).steadyWrites).toBeLessThanOrEqual(4_000);
    expect(1.5 * leaseTableSize({ shards: 8_823, leaseSeconds: 10 }).steadyWrites).toBeGreaterThan(4_000);
  });

  it('is bounded by the scans of the fleet when provisioned: fewer leases when they are shorter', () => {
    expect([5, 10, 60].map(mostShards)).toEqual([5_650, 8_000, 19_590]);
  });

  it('bounds what the table may scale to by itself', () => {
    expect(leaseTableSize({ shards: 8_000, leaseSeconds: 10 })).toMatchObject({
      readMinimum: 40_000,
      readMaximum: 40_000,
      writeMaximum: 3 * 3_628,
    });
  });

  it('is the largest number that fits, whatever the lease', () => {
    fc.assert(
      fc.property(load, ({ leaseSeconds }) => {
        const most = mostShards(leaseSeconds);
        expect(fitsOneTable({ shards: most, leaseSeconds })).toBe(true);
        expect(fitsOneTable({ shards: most + 1, leaseSeconds })).toBe(false);
      }),
    );
  });

  it('counts a shard and its two children while a stream doubles', () => {
    expect(LEASES_PER_SHARD).toBe(3);
  });
});
