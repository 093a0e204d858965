/**
 * Reported of the checkpoint store that Microsoft publishes: for a partition without an ownership blob it uploads one
 * without If-None-Match. Of two workers that start together on an empty container both are told that they own it.
 */
import { describe, expect, it } from 'vitest';
import type { EventHubsSourceOptions } from '../../runtime/sources/event-hubs';
import type { BlobRequest } from '../support/blob-fault-proxy';
import { throughProxy, unconditional, useHubBilling } from '../support/hub-billing';
import { until } from '../support/until';

const world = useHubBilling();
/** A held upload is given up after a quarter of it. */
const OWNERSHIP_MS = 16_000;

const isFirstClaim = ({ method, path, query }: BlobRequest) =>
  method === 'PUT' && path.includes('/ownership/') && !query.has('comp');

/** Two workers whose first uploads are both on their way before either arrives. Answers what each was told. */
async function startTogether(source: Partial<EventHubsSourceOptions> = {}) {
  const { hub, worker } = world();
  const told: (number | undefined)[] = [];
  const both = hub.proxy.inject({ matches: isFirstClaim, action: { kind: 'hang' } });
  hub.proxy.onAnswered((request) => {
    if (isFirstClaim(request) && request.path.includes(hub.container.containerName)) told.push(request.status);
  });
  const options = { source: { ownershipMs: OWNERSHIP_MS, ...source } };
  const workers = await Promise.all([worker('left', options), worker('right', options)]);
  await until('both uploads are on their way', () => both.hits.length === 2);
  both.remove();
  await until('both are answered', () => told.length === 2);
  const taken = () => workers.map(({ metrics }) => metrics.counted('leasesTaken{claimed}'));
  return { told, taken, workers };
}

describe('two workers that claim at the same moment on an empty container', () => {
  it('are told that one has won; that one reads, and each customer is charged once', async () => {
    const { hub, publish, charges, charged } = world();
    await publish(['ann', 'bea', 'ann'], '0');
    const { told, taken, workers } = await startTogether();
    expect(told.toSorted()).toEqual([201, 409]);
    await charged(['ann', 'bea']);
    await until('the checkpoint is written', async () => (await hub.checkpoints())['0'] === 2);
    expect(taken().toSorted()).toEqual([0, 1]);
    const winner = taken()[0] === 1 ? 'left' : 'right';
    expect((await hub.owner('0')).startsWith(`${winner}:`)).toBe(true);
    expect(workers.flatMap(({ consumer }) => consumer.records)).toHaveLength(3);
    expect(charges(['ann', 'bea'])).toEqual([1, 1]);
  });

  it('twin: without the condition both are told so, and both begin to read', async () => {
    const { proxy, container } = world().hub;
    const { told, taken } = await startTogether({ container: unconditional(throughProxy(proxy, container)) });
    expect(told).toEqual([201, 201]);
    await until('both read', () => taken().every((count) => count === 1));
  });
});
