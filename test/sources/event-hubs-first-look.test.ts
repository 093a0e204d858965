/** What happens between a claim and the first event, when the storage does not tell the checkpoints. */
import { describe, expect, it } from 'vitest';
import type { BlobRequest } from '../support/blob-fault-proxy';
import { useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources(1);
const isCheckpointList = ({ query }: BlobRequest) =>
  query.get('comp') === 'list' && (query.get('prefix') ?? '').includes('/checkpoint/');
const FAILS = { kind: 'refuse', status: 500, code: 'InternalError' } as const;

describe('a partition that is claimed while the checkpoints cannot be listed', () => {
  it('does not make the worker ready; it is read when they can', async () => {
    const fault = world().proxy.inject({ matches: isCheckpointList, action: FAILS });
    await world().send(0, 1, '0');
    const worker = await world().worker('early');
    await until('it was claimed', () => worker.metrics.counted('leaseRenewals{written}') > 0);
    await until('listing has failed', () => fault.hits.length > 0);
    expect(worker.notReady()).toBeDefined();
    await until('it was tried again', () => worker.metrics.counted('leaseRenewals{written}') > 2);
    expect(worker.notReady()).toMatch(/InternalError/);
    fault.remove();
    await until('it is read', () => worker.consumer.texts.includes('event-0'));
    await until('it is ready', () => worker.notReady() === undefined);
  });

  it('is given up at once, not left owned and unread until the ownership ends', async () => {
    const fault = world().proxy.inject({ matches: isCheckpointList, action: FAILS });
    await world().send(0, 1, '0');
    const worker = await world().worker('early', { ownershipMs: 90_000 });
    await until('listing has failed', () => worker.metrics.counted('leaseRenewals{failed}') > 0);
    fault.remove();
    expect(await world().owner('0')).toBe('');
  });
});
