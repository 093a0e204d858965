import { describe, expect, it } from 'vitest';
import { type CheckpointMode, CheckpointPolicy } from '../../../runtime/checkpoint/policy';
import { CHOICES } from '../../../runtime/contract/setting-values';

/** Ten deliveries, one a second, finished in order; batches end at the fourth and the eighth. */
function written(mode: CheckpointMode, options: { intervalMs?: number; count?: number } = {}): string[] {
  const policy = new CheckpointPolicy({ mode, intervalMs: options.intervalMs ?? 3_000, count: options.count ?? 3 }, 0);
  const positions: string[] = [];
  for (let index = 1; index <= 10; index++) {
    const batchEnd = index % 4 === 0 ? String(index) : undefined;
    const position = policy.eligible({ position: String(index), passed: 1, batchEnd }, index * 1_000);
    if (position !== undefined) positions.push(position);
  }
  return positions;
}

describe('which finished position is eligible', () => {
  it('record: each', () => {
    expect(written('record')).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
  });

  it('batch: the end of each finished batch', () => {
    expect(written('batch')).toEqual(['4', '8']);
  });

  it('time: the mark, once an interval', () => {
    expect(written('time', { intervalMs: 3_000 })).toEqual(['3', '6', '9']);
    expect(written('time', { intervalMs: 60_000 })).toEqual([]);
  });

  it('time: says when to ask again, so that a partition that falls quiet is not left behind', () => {
    const policy = new CheckpointPolicy({ mode: 'time', intervalMs: 3_000, count: 1 }, 0);
    const mark = { position: '1', passed: 1, batchEnd: undefined };
    expect(policy.askAgainIn(0)).toBeUndefined();
    expect(policy.eligible(mark, 1_000)).toBeUndefined();
    expect(policy.askAgainIn(1_000)).toBe(2_000);
    expect(policy.eligible({ ...mark, passed: 0 }, 3_000)).toBe('1');
    expect(policy.askAgainIn(3_000)).toBeUndefined();
  });

  it.each(['record', 'batch', 'count', 'manual'] as const)('%s: no time makes a mark eligible', (mode) => {
    const policy = new CheckpointPolicy({ mode, intervalMs: 1, count: 10 }, 0);
    policy.eligible({ position: '1', passed: 1, batchEnd: undefined }, 5_000);
    expect(policy.askAgainIn(5_000)).toBeUndefined();
  });

  it('count: the mark, after so many deliveries', () => {
    expect(written('count', { count: 3 })).toEqual(['3', '6', '9']);
    expect(written('count', { count: 4 })).toEqual(['4', '8']);
  });

  it('count: a mark that jumps counts all that it passed, once', () => {
    const policy = new CheckpointPolicy({ mode: 'count', intervalMs: 0, count: 10 }, 0);
    expect(policy.eligible({ position: '9', passed: 9, batchEnd: undefined }, 0)).toBeUndefined();
    expect(policy.eligible({ position: '40', passed: 31, batchEnd: undefined }, 0)).toBe('40');
    expect(policy.eligible({ position: '49', passed: 9, batchEnd: undefined }, 0)).toBeUndefined();
  });

  it('batch: a mark that passes two batches and stops inside a third gives the second', () => {
    const policy = new CheckpointPolicy({ mode: 'batch', intervalMs: 0, count: 1 }, 0);
    expect(policy.eligible({ position: '10', passed: 10, batchEnd: '8' }, 0)).toBe('8');
  });

  it('manual: none', () => {
    expect(written('manual')).toEqual([]);
  });

  it('has an answer for every mode', () => {
    for (const mode of CHOICES.CHECKPOINT_MODE.choices) expect(Array.isArray(written(mode))).toBe(true);
  });
});
