/**
 * A worker that was ready once stayed so: when the hub let it in no longer, it lost every partition, connected anew again
 * and again, and said ready all the while, with a lag of zero.
 */
import { describe, expect, it } from 'vitest';
import { useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources(2);
const HOUR_MS = 3_600_000;

describe('a worker that the hub lets in no longer', () => {
  it('is not ready, and is again when it is let in', async () => {
    const { broker, send } = world();
    const worker = await world().worker('only', { silenceMs: 1_500 });
    await until('both are held', () => worker.held() === 2);
    await until('it is ready', () => worker.notReady() === undefined);
    broker.faults.refuseTokens(HOUR_MS);
    broker.faults.dropSockets();
    await until('it is not', () => worker.notReady() !== undefined);
    await until('its client was replaced', () => worker.log.matching('connecting to the hub anew').length >= 2);
    expect(worker.held()).toBe(0);
    expect(worker.notReady()).toBeDefined();
    broker.faults.refuseTokens(0);
    await send(0, 1, '0');
    await until('it reads on', () => worker.consumer.texts.includes('event-0'));
    await until('it is ready', () => worker.notReady() === undefined);
  });

  it('twin: a short outage, in which what it holds stays its own, leaves it ready', async () => {
    const { broker, send } = world();
    const worker = await world().worker('only', { silenceMs: 30_000 });
    await until('both are held', () => worker.held() === 2);
    await until('it is ready', () => worker.notReady() === undefined);
    broker.faults.dropSockets();
    await send(0, 1, '0');
    await until('it reads on', () => worker.consumer.texts.includes('event-0'));
    expect(worker.notReady()).toBeUndefined();
  });
});
