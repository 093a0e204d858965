import { describe, expect, it } from 'vitest';
import { blobName } from '../../../runtime/sources/event-hubs/blob-names';
import { HUB, useHubSources } from '../../support/hub-source';
import { until } from '../../support/until';

const world = useHubSources(2);
const texts = (count: number) => Array.from({ length: count }, (_, n) => `event-${n}`);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('F2 a hub made anew whose new events are as long as the old ones', () => {
  it('is read from its oldest event, as docs/concepts.md says', async () => {
    const { container, group, send, broker } = world();
    await send(0, 6, '0');
    const log = broker.hubs.get(HUB)!.partitions.get('0')!;
    // The old hub's checkpoint: after its third event, of the same size as those of the new hub; written before the hub was made.
    const blob = container.getBlockBlobClient(blobName(group, 'checkpoint', '0'));
    await blob.upload('', 0, { metadata: { sequencenumber: '2', offset: log.at(2)!.offset } });
    const worker = await world().worker('only', { silenceMs: 1_000 });
    await until('the last is read', () => worker.consumer.texts.includes('event-5'));
    await pause(3_000);
    console.log('F2', worker.consumer.texts, worker.notReady(), JSON.stringify(worker.log));
    expect(worker.consumer.texts).toEqual(texts(6));
  });
});

describe('F3 retention overtakes a reader that has read before', () => {
  it('is said, as it is before the first event', async () => {
    const { broker, send } = world();
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => { go = resolve; });
    const worker = await world().worker('slow', { batchSize: 1, silenceMs: 1_000 });
    worker.consumer.onDeliver = async (_partition, batch) => {
      if (Buffer.from(batch[0]!.body).toString() === 'event-1') await gate;
    };
    await send(0, 1, '0');
    await until('first', () => worker.consumer.texts.includes('event-0'));
    for (let n = 1; n < 10; n++) await send(n, 1, '0');
    await pause(500);
    const log = broker.hubs.get(HUB)!.partitions.get('0')!;
    log.expire();
    await send(10, 2, '0');
    go();
    await until('last', () => worker.consumer.texts.includes('event-11'));
    await pause(3_000);
    console.log('F3', worker.consumer.texts, await world().checkpoints(), JSON.stringify(worker.log));
    expect(worker.log.has(/expired/)).toBe(true);
  });
});

describe('F4 an ownership that cannot be claimed', () => {
  it('a blob without an owner: is read, or the worker is not ready, or it is at least said', async () => {
    const { container, group, send } = world();
    await container.getBlockBlobClient(blobName(group, 'ownership', '0')).upload('', 0, { metadata: { other: 'x' } });
    await send(0, 3, '0');
    const worker = await world().worker('only', { silenceMs: 1_000 });
    await until('ready', () => worker.notReady() === undefined);
    await pause(15_000);
    console.log('F4a', worker.held(), worker.notReady(), worker.consumer.texts, JSON.stringify(worker.log), [...worker.metrics.counters], [...worker.metrics.gauges]);
    const said = worker.notReady() !== undefined || worker.metrics.counted('silentPartitions') > 0 || worker.log.has(/partition/);
    expect(worker.consumer.texts.length === 3 || said).toBe(true);
    expect(worker.consumer.texts).toEqual(texts(3));
  });

  it('a 412 that is no lost race (a lease on the blob)', async () => {
    const { container, group, send, proxy } = world();
    await container.getBlockBlobClient(blobName(group, 'ownership', '0')).upload('', 0, { metadata: { ownerid: 'dead' } });
    const leased = proxy.inject({
      matches: ({ method, path }) => method === 'PUT' && path.endsWith('/ownership/0'),
      action: { kind: 'refuse', status: 412, code: 'LeaseIdMissing' },
    });
    await send(0, 3, '0');
    const worker = await world().worker('only', { silenceMs: 1_000 });
    await until('ready', () => worker.notReady() === undefined);
    await pause(15_000);
    console.log('F4b', leased.hits.length, worker.held(), worker.notReady(), worker.consumer.texts, JSON.stringify(worker.log), [...worker.metrics.counters], [...worker.metrics.gauges]);
    leased.remove();
    expect(worker.notReady()).not.toBeUndefined();
  });
});

describe('F-ready', () => {
  it('a worker that reads nothing for good, because the hub refuses it, is not ready', async () => {
    const { broker, send } = world();
    const worker = await world().worker('only', { silenceMs: 1_000, ownershipMs: 2_000 });
    await until('both', () => worker.held() === 2);
    broker.faults.refuseTokens(3_600_000);
    broker.faults.dropSockets();
    await until('nothing is held', () => worker.held() === 0, 40_000);
    await pause(10_000);
    console.log('F-ready', worker.held(), worker.notReady(), [...worker.metrics.counters], [...worker.metrics.gauges]);
    broker.faults.refuseTokens(0);
    expect(worker.notReady()).not.toBeUndefined();
  });
});
