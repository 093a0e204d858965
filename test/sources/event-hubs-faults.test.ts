/** What the source does when storage or the hub fail, with Microsoft's client on the local broker and Azurite. */
import { EventHubConsumerClient } from '@azure/event-hubs';
import { describe, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host/host';
import type { EventHubsSourceOptions } from '../../runtime/sources/event-hubs';
import { blobName } from '../../runtime/sources/event-hubs/blob-names';
import { GROUP, HUB, useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources();
const isCheckpointWrite = ({ method, path }: { method: string; path: string }) =>
  method === 'PUT' && path.includes('/checkpoint/');

describe('storage that fails', () => {
  it.each([
    ['answers 503', 'busy'],
    ['does not answer', 'hang'],
  ] as const)(
    'and %s for longer than an ownership lasts stops nothing; the write made then carries the newest position',
    async (_, kind) => {
      const { proxy } = world();
      const worker = await world().worker('steadfast', { ownershipMs: 2_000 });
      await until('both are held', () => worker.held() === 2);
      await world().send(0, 1, '0');
      await until('the first checkpoint is written', async () => (await world().checkpoints())['0'] === 0);
      const outage = proxy.inject({ action: { kind } });
      const written: (string | undefined)[] = [];
      proxy.onAnswered(({ status, headers, ...request }) => {
        if (status !== undefined && status < 300 && isCheckpointWrite(request)) {
          written.push(String(headers['x-ms-meta-sequencenumber']));
        }
      });
      await world().send(1, 1, '0');
      await until('a checkpoint has failed', () => worker.metrics.counted('checkpointFailures') > 0);
      const begun = systemHost.monotonic();
      const renewed = worker.metrics.counted('leaseRenewals{written}');
      await until('an ownership would have ended', () => systemHost.monotonic() - begun > 2_000);
      expect(worker.metrics.counted('leaseRenewals{written}')).toBe(renewed);
      await world().send(2, 1, '0');
      await until('it reads on', () => worker.consumer.texts.includes('event-2'));
      const [partition] = [...worker.consumer.partitions];
      expect(partition?.holdsFor(100)).toBe(true);
      expect(worker.notReady()).toBeUndefined();
      outage.remove();
      await until('the checkpoint is written', async () => (await world().checkpoints())['0'] === 2);
      // Of what was held back storage may still see the old one, which the newer one follows.
      expect(written.at(-1)).toBe('2');
      if (kind === 'busy') expect(written).toEqual(['2']);
      expect(worker.consumer.texts).toEqual(['event-0', 'event-1', 'event-2']);
      expect(worker.metrics.counted('checkpointFailures')).toBeGreaterThan(0);
    },
  );

  it('for every second write of a checkpoint: whoever comes after a death loses nothing', async () => {
    const { proxy } = world();
    let writes = 0;
    const fault = proxy.inject({
      matches: (request) => isCheckpointWrite(request) && ++writes % 2 === 1,
      action: { kind: 'refuse', status: 500, code: 'InternalError' },
    });
    const worker = await world().worker('unlucky');
    for (let n = 0; n < 5; n++) {
      await world().send(n * 2, 2, '0');
      await until('they are read', () => worker.consumer.records.length === n * 2 + 2);
    }
    await until('the checkpoint is written', async () => (await world().checkpoints())['0'] === 9);
    fault.remove();
    expect(worker.consumer.texts).toHaveLength(10);
  });

  it('and does not answer: a stop ends in time all the same, and says what it left', async () => {
    const { proxy } = world();
    const worker = await world().worker('leaving', { drainTimeoutMs: 2_000 });
    await until('both are held', () => worker.held() === 2);
    const fault = proxy.inject({ action: { kind: 'hang' } });
    await world().send(0, 1, '0');
    await until('it is read', () => worker.consumer.records.length === 1);
    await worker.stop();
    fault.remove();
    expect(await world().owner('0')).not.toBe('');
  });
});

describe('a link that is silent', () => {
  it('is made anew without a restart; it counts, and until it is heard the worker is not ready', async () => {
    const worker = await world().worker('patient', { silenceMs: 600 });
    await until('both are held', () => worker.held() === 2);
    await world().send(0, 1, '0');
    await until('it is read', () => worker.consumer.records.length === 1);
    expect(world().broker.faults.stall({ entity: HUB, partition: '0' })).toBeGreaterThan(0);
    const reasons = new Set<string | undefined>();
    await world().send(1, 2, '0');
    await until('they are read all the same', () => {
      reasons.add(worker.notReady());
      return worker.consumer.texts.includes('event-2');
    });
    expect([...reasons]).toContain('partition 0 is silent although the hub has more');
    await until('it is ready again', () => worker.notReady() === undefined);
    expect(worker.metrics.counted('silentPartitions')).toBe(1);
    await until('nothing lags', () => worker.metrics.gauges.get('consumerLag') === 0);
  });

  it('twin: without the watchdog it stays silent while another partition is read on', async () => {
    const worker = await world().worker('blind', { silenceMs: 3_600_000 });
    await until('both are held', () => worker.held() === 2);
    world().broker.faults.stall({ entity: HUB, partition: '0' });
    await world().send(0, 1, '0');
    for (let n = 10; n < 13; n++) {
      await world().send(n, 1, '1');
      await until('the other is read', () => worker.consumer.texts.includes(`event-${n}`));
    }
    expect(worker.consumer.texts).not.toContain('event-0');
  });
});

describe('a start', () => {
  it('waits for roles that are not known yet, at the hub and at the container, and says which', async () => {
    const { proxy, broker } = world();
    const refused = proxy.inject({
      action: { kind: 'refuse', status: 403, code: 'AuthorizationPermissionMismatch' },
      times: 1,
    });
    broker.faults.refuseTokens(1_500);
    const worker = await world().worker('newcomer');
    await until('both are held', () => worker.held() === 2);
    expect(refused.hits).toHaveLength(1);
    expect(worker.log.has(/refuses this identity.*Storage Blob Data Contributor/)).toBe(true);
    expect(worker.notReady()).toBeUndefined();
  });

  it('ends when they do not come', async () => {
    const refused = world().proxy.inject({ action: { kind: 'refuse', status: 403, code: 'AuthorizationFailure' } });
    const worker = await world().worker('stranger', { patienceMs: 0 });
    await expect(worker.running).rejects.toThrow(/has refused this identity.*Azure Event Hubs Data Receiver/);
    refused.remove();
  });

  it('without its container ends at once', async () => {
    await world().container.delete();
    const worker = await world().worker('lost');
    await expect(worker.running).rejects.toThrow(/the container group-\d+ does not exist/);
  });

  it('without its hub ends at once', async () => {
    const worker = await world().worker('lost', { connect: connectTo(world().broker.connectionString, 'nowhere') });
    await expect(worker.running).rejects.toThrow(/the hub usage does not exist/);
  });

  it('without its consumer group ends at once', async () => {
    const worker = await world().worker('lost', { connect: connectTo(world().broker.connectionString, HUB, 'nobody') });
    await expect(worker.running).rejects.toThrow(/its consumer group chargeonce does not exist/);
  });
});

function connectTo(connectionString: string, hub: string, group = GROUP): EventHubsSourceOptions['connect'] {
  return (store) => new EventHubConsumerClient(group, connectionString, hub, store, { identifier: store.owner });
}

describe('a hub that was made anew under the same name', () => {
  it('is read from its oldest event: the checkpoint of the old one lies beyond its last', async () => {
    const { container, group } = world();
    const blob = container.getBlockBlobClient(blobName(group, 'checkpoint', '0'));
    await blob.upload('', 0, { metadata: { sequencenumber: '5000', offset: '5000' } });
    await world().send(0, 3, '0');
    const worker = await world().worker('archivist', { silenceMs: 500 });
    await until('all are read', () => worker.consumer.texts.includes('event-2'));
    expect(worker.consumer.texts).toEqual(['event-0', 'event-1', 'event-2']);
    expect(worker.log.has(/beyond the last event of the hub/)).toBe(true);
    await until('its own checkpoint is written', async () => (await world().checkpoints())['0'] === 2);
  });
});
