import { expect, test } from 'vitest';
import type { LedgerCounts } from '../../../runtime/ledger';
import { watchWork } from '../../../runtime/ops/watch-work';
import { FakeHost } from '../../support/fake-host';
import { KeptMetrics, silentLog } from '../../support/quiet';

function watched(counts: (unresolvedAfterMs?: number) => Promise<LedgerCounts>, stalledMs = () => 0) {
  const host = new FakeHost();
  const metrics = new KeptMetrics();
  const stop = new AbortController();
  const work = {
    ledger: { counts },
    processor: { stalledMs },
    unresolvedAfterMs: 7_000,
    everyMs: 30_000,
    host,
    log: silentLog,
    metrics,
  };
  return { host, metrics, stop, done: watchWork(work, stop.signal) };
}

const withUnresolved = (unresolved: number): LedgerCounts => ({ pending: 9, expired: 9, waiting: 9, unresolved });

test('what stands still and what is unresolved is looked at from the start, then about twice a minute', async () => {
  let [looks, stalled] = [0, 4_000.4];
  const world = watched(
    async (after) => withUnresolved(after === 7_000 ? ++looks : -1),
    () => stalled,
  );
  await world.host.settle();
  expect([world.metrics.gauged('unresolvedRows'), world.metrics.gauged('checkpointStall')]).toEqual([1, 4_000]);
  stalled = 0;
  await world.host.advance(600_000);
  expect(looks).toBeGreaterThanOrEqual(19);
  expect(looks).toBeLessThanOrEqual(23);
  expect([world.metrics.gauged('unresolvedRows'), world.metrics.gauged('checkpointStall')]).toEqual([looks, 0]);
  world.stop.abort();
  await world.done;
});

test('a ledger that does not answer is asked again, and the figure stands', async () => {
  let looks = 0;
  const world = watched(async () => {
    looks += 1;
    if (looks === 2) throw new Error('away');
    return withUnresolved(looks);
  });
  await world.host.settle();
  await world.host.advance(31_000);
  expect([looks, world.metrics.gauged('unresolvedRows')]).toEqual([2, 1]);
  await world.host.advance(31_000);
  expect(world.metrics.gauged('unresolvedRows')).toBe(3);
  world.stop.abort();
  await world.done;
});
