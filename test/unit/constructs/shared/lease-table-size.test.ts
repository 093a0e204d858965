import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leaseTableSize, renewalSeconds } from '../../../../constructs/shared/lease-table-size';

describe('the size of the lease table', () => {
  it.each([
    { shards: 1, workers: 1, steady: 0.3, write: 5, index: 5 },
    { shards: 10, workers: 2, steady: 3, write: 5, index: 5 },
    { shards: 100, workers: 10, steady: 30.2, write: 46, index: 15 },
    { shards: 1_000, workers: 50, steady: 302.3, write: 454, index: 150 },
    { shards: 10_000, workers: 200, steady: 3_022.7, write: 4_535, index: 1_500 },
  ])('$shards shards, $workers workers', ({ shards, workers, steady, write, index }) => {
    const size = leaseTableSize({ shards, workers, leaseSeconds: 10 });
    expect(Math.round(size.steadyWrites * 10) / 10).toBe(steady);
    expect(size).toMatchObject({ writeMinimum: write, writeMaximum: 3 * write, indexWrite: index });
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
  ])('scans of $workers workers over $shards leases', ({ shards, workers, scan, read }) => {
    expect(leaseTableSize({ shards, workers, leaseSeconds: 10 })).toMatchObject({
      scanSeconds: scan,
      readMinimum: read,
      readMaximum: 3 * read,
    });
  });

  it('takes one worker for every ten shards when nobody says', () => {
    expect(leaseTableSize({ shards: 1_000, leaseSeconds: 10 })).toEqual(
      leaseTableSize({ shards: 1_000, leaseSeconds: 10, workers: 100 }),
    );
  });

  it('never shrinks when there is more to carry, and always leaves headroom', () => {
    const load = fc.record({
      shards: fc.integer({ min: 1, max: 20_000 }),
      leaseSeconds: fc.integer({ min: 5, max: 60 }),
    });
    fc.assert(
      fc.property(load, ({ shards, leaseSeconds }) => {
        const size = leaseTableSize({ shards, leaseSeconds });
        const more = leaseTableSize({ shards: shards + 1, leaseSeconds });
        expect(size.writeMinimum).toBeGreaterThanOrEqual(1.5 * size.steadyWrites);
        expect(more.writeMinimum).toBeGreaterThanOrEqual(size.writeMinimum);
        expect(more.indexWrite).toBeGreaterThanOrEqual(size.indexWrite);
        expect(size.scanSeconds).toBeLessThanOrEqual(2 * leaseSeconds);
      }),
    );
  });
});
