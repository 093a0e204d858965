/**
 * Unowned were counted only partitions with an ownership blob. One whose first claim is refused has none: it was read by
 * nobody, the worker was ready, every figure was zero, and no alert could come.
 */
import { describe, expect, it } from 'vitest';
import { useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources(2);

describe('a partition whose first claim is refused', () => {
  it('is counted as unowned, until it can be claimed', async () => {
    const { proxy, send } = world();
    const refused = proxy.inject({
      matches: ({ method, path }) => method === 'PUT' && path.endsWith('/ownership/1'),
      action: { kind: 'refuse', status: 403, code: 'AuthorizationPermissionMismatch' },
    });
    await send(0, 1, '0');
    await send(100, 1, '1');
    const worker = await world().worker('only', { silenceMs: 600 });
    await until('the other one is read', () => worker.consumer.texts.includes('event-0'));
    await until('it is counted', () => worker.metrics.gauges.get('leasesUnowned') === 1);
    refused.remove();
    await until('it is read', () => worker.consumer.texts.includes('event-100'));
    await until('none is unowned', () => worker.metrics.gauges.get('leasesUnowned') === 0);
    expect(worker.metrics.counted('leaseRenewals{failed}')).toBeGreaterThan(0);
  });
});
