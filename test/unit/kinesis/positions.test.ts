import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Checkpoint,
  compareCheckpoints,
  formatPosition,
  initialCheckpoint,
  initialTimestamp,
  parsePosition,
} from '../../../runtime/sources/kinesis/positions';

const numeric = fc.record({ sequence: fc.bigInt({ min: 0n, max: 2n ** 190n }).map(String), sub: fc.nat(1_000) });
const anywhere = fc.oneof(
  numeric,
  fc.constantFrom('AT_TIMESTAMP', 'TRIM_HORIZON', 'LATEST', 'SHARD_END').map((sequence) => ({ sequence, sub: 0 })),
);
const at = (sequence: string, sub = 0): Checkpoint => ({ sequence, sub });

describe('the order of checkpoints', () => {
  it('is total: antisymmetric and transitive', () => {
    fc.assert(
      fc.property(anywhere, anywhere, anywhere, (a, b, c) => {
        expect(Math.sign(compareCheckpoints(a, b))).toBe(-Math.sign(compareCheckpoints(b, a)) + 0);
        if (compareCheckpoints(a, b) <= 0 && compareCheckpoints(b, c) <= 0) {
          expect(compareCheckpoints(a, c)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });

  it('puts sentinels before every number and the end of the shard after it', () => {
    const ordered = ['AT_TIMESTAMP', 'TRIM_HORIZON', 'LATEST', '0', '9', '10', `${2n ** 186n}`, 'SHARD_END'].map((s) =>
      at(s),
    );
    for (let i = 1; i < ordered.length; i++) {
      expect(compareCheckpoints(ordered[i - 1] as Checkpoint, ordered[i] as Checkpoint)).toBeLessThan(0);
    }
  });

  it('tells sequence numbers apart that are equal as doubles, which text or Number order would not', () => {
    const low = '49590338271490256608559692538361571095921575989136588898';
    const high = '49590338271490256608559692538361571095921575989136588899';
    expect(compareCheckpoints(at(low), at(high))).toBeLessThan(0);
    expect(Number(low) < Number(high)).toBe(false);
    expect(compareCheckpoints(at('9'), at('10'))).toBeLessThan(0);
    expect('9' < '10').toBe(false);
  });

  it('orders the records of one aggregate', () => {
    expect(compareCheckpoints(at('5', 1), at('5', 2))).toBeLessThan(0);
    expect(compareCheckpoints(at('5', 9), at('6', 0))).toBeLessThan(0);
  });
});

describe('positions', () => {
  it('are read back as they were written', () => {
    fc.assert(
      fc.property(numeric, fc.boolean(), ({ sequence, sub }, plain) => {
        const expected = { sequence, sub: plain ? 0 : sub };
        expect(parsePosition(formatPosition(sequence, plain ? undefined : sub))).toEqual(expected);
      }),
    );
  });

  it.each(['', 'x', '12/', '/1', '1/2/3', '-1', '1.5', 'SHARD_END', '1/9999999999'])('refuses %j', (text) => {
    expect(() => parsePosition(text)).toThrow(JSON.stringify(text));
  });
});

describe('initial positions', () => {
  it('become the sentinel of the lease and the instant of the iterator', () => {
    expect(initialCheckpoint('LATEST')).toEqual(at('LATEST'));
    expect(initialCheckpoint('AT_TIMESTAMP:2026-01-31T00:00:00Z')).toEqual(at('AT_TIMESTAMP'));
    expect(initialTimestamp('AT_TIMESTAMP:2026-01-31T00:00:00Z')).toBe(1_769_817_600_000);
    expect(initialTimestamp('TRIM_HORIZON')).toBeUndefined();
    expect(() => initialTimestamp('AT_TIMESTAMP:yesterday')).toThrow('ISO 8601');
  });
});
