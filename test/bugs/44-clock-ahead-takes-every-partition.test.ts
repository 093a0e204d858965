/**
 * How old an ownership is, Microsoft's client finds by comparing the storage's time with its own clock. Where that is ahead
 * by more than the ownership lasts, every ownership is expired in its eyes: it takes all partitions, its fellows take
 * theirs back, and so on for ever, each time with events that are read again.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemHost } from '../../runtime/host/host';
import type { EventHubsSourceOptions } from '../../runtime/sources/event-hubs';
import { type HubWorker, OWNERSHIP_MS, useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources(2);
const AHEAD_MS = 120_000;
const clock = Date.now;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Two workers whose clocks are ahead of the storage's; answers how often they lost a partition once both had one. */
async function losses(options: Partial<EventHubsSourceOptions> = {}): Promise<number> {
  vi.spyOn(Date, 'now').mockImplementation(() => clock() + AHEAD_MS);
  const left = await world().worker('left', options);
  await until('it has both', () => left.held() === 2);
  const right = await world().worker('right', options);
  await until('each has had one', () => right.held() > 0);
  const lost = ({ metrics }: HubWorker) =>
    [...metrics.counters].reduce((sum, [key, value]) => sum + (key.startsWith('leasesLost') ? value : 0), 0);
  const before = lost(left) + lost(right);
  const begun = systemHost.monotonic();
  await until('an ownership could have ended', () => systemHost.monotonic() - begun > 2 * OWNERSHIP_MS);
  return lost(left) + lost(right) - before;
}

describe('a clock that is ahead of the storage’s', () => {
  it('does not make a worker take what others hold', async () => {
    // The one that gives way to the newcomer may hear of it a little later.
    expect(await losses()).toBeLessThanOrEqual(1);
  });

  it('twin: believed as it is, partitions go to and fro', async () => {
    expect(await losses({ host: { ...systemHost, now: clock } })).toBeGreaterThan(2);
  });
});
