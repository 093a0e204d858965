/**
 * A process that stands still cannot tell its own silence from the storage's: a request that was on its way when it froze
 * looks like one that was not answered. While the storage fails, nobody can claim, and a partition stays held; while the
 * process stood still, somebody could.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host/host';
import type { InjectedBlobFault } from '../support/blob-fault-proxy';
import { useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources(1);
const OWNERSHIP_MS = 4_000;
let silent: InjectedBlobFault | undefined;
afterEach(() => silent?.remove());

/** A worker that holds a partition, with the storage silent from now on and a request to it on its way. */
async function askingInVain(stall: { forMs: number }) {
  const host = { ...systemHost, monotonic: () => systemHost.monotonic() + stall.forMs };
  const worker = await world().worker('sleeper', { ownershipMs: OWNERSHIP_MS, host });
  await world().send(0, 1, '0');
  await until('the checkpoint is written', async () => (await world().checkpoints())['0'] === 0);
  silent = world().proxy.inject({ action: { kind: 'hang' } });
  await until('a request is on its way', () => (silent?.hits.length ?? 0) > 0);
  const failed = worker.metrics.counted('leaseRenewals{failed}');
  const partition = [...worker.consumer.partitions][0];
  const told = () =>
    until('it is taken for unanswered', () => worker.metrics.counted('leaseRenewals{failed}') > failed);
  return { partition, told };
}

describe('a request that was on its way when the process froze', () => {
  it('renews nothing: others could claim meanwhile', async () => {
    const stall = { forMs: 0 };
    const { partition, told } = await askingInVain(stall);
    expect(partition?.holdsFor(0)).toBe(true);
    stall.forMs = 1.5 * OWNERSHIP_MS;
    await told();
    expect(partition?.holdsFor(0)).toBe(false);
  });

  it('twin: renews it when the process was awake, as nobody could claim', async () => {
    const { partition, told } = await askingInVain({ forMs: 0 });
    await told();
    expect(partition?.holdsFor(0)).toBe(true);
  });
});
