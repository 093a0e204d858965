/**
 * Reported of Microsoft's JavaScript client, and mended in the Java one (azure-sdk-for-java#48192): `close` resolves
 * while a handler still runs, so what that finishes is neither checkpointed nor waited for. Reported of consumers that
 * wait: with the storage or the hub down they never end, until their platform kills them.
 */
import { EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemHost } from '../../runtime/host/host';
import { type RunningBlobStorage, startBlobStorage } from '../emulators/blob-storage';
import { type BlobFaultProxy, startBlobFaultProxy } from '../support/blob-fault-proxy';
import { useHubBilling } from '../support/hub-billing';
import { forgetfulStore, GROUP, HUB } from '../support/hub-source';
import { type HubWorld, hubWorld } from '../support/hub-world';
import { until } from '../support/until';

const HANDLER_MS = 2_000;

describe('a stop during a handler of two seconds', () => {
  const world = useHubBilling();

  it('waits for it: what it finished is charged, checkpointed, and not read again', async () => {
    const { hub, billing, worker, publish, charges } = world();
    const slow = await worker('slow', { source: { drainTimeoutMs: 10 * HANDLER_MS } });
    const hold = billing.emulator.faults.hold({ on: 'confirm', when: 'before-execute' });
    await publish(['ann', 'bea'], '0');
    await hold.reached;
    let stopped = false;
    const stop = slow.stop().then(() => {
      stopped = true;
    });
    await systemHost.sleep(HANDLER_MS);
    expect(stopped).toBe(false);
    expect(await hub.owner('0')).toMatch(/^slow:/);
    hold.release();
    await stop;
    expect(charges(['ann', 'bea'])).toEqual([1, 1]);
    expect(await hub.checkpoints()).toEqual({ 0: 1 });
    expect(await hub.owner('0')).toBe('');
    await publish(['cat'], '0');
    const next = await worker('next');
    await until('the next one reads', () => next.consumer.records.length > 0);
    expect(next.consumer.texts.map((text) => JSON.parse(text).customer_id)).toEqual(['cat']);
  });

  it('twin: the bare client has closed long before its handler ends', async () => {
    const { hub } = world();
    await hub.send(0, 1, '0');
    const client = new EventHubConsumerClient(GROUP, hub.broker.connectionString, HUB, forgetfulStore);
    let [begun, ended] = [false, false];
    let finish = (): void => undefined;
    const work = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const subscription = client.subscribe(
      '0',
      {
        processEvents: async (events) => {
          if (events.length === 0) return;
          begun = true;
          await work;
          ended = true;
        },
        processError: async () => undefined,
      },
      { startPosition: earliestEventPosition, maxWaitTimeInSeconds: 1 },
    );
    await until('its handler runs', () => begun);
    await subscription.close();
    await client.close();
    expect(ended).toBe(false);
    finish();
    await until('its handler has ended', () => ended);
  });
});

describe('a process that is told to stop', () => {
  let storage: RunningBlobStorage;
  let proxy: BlobFaultProxy;
  let world: HubWorld;
  beforeAll(async () => {
    storage = await startBlobStorage();
    proxy = await startBlobFaultProxy(storage);
    world = await hubWorld({
      storage: proxy.connectionString,
      directStorage: storage.connectionString,
      partitions: 1,
    });
  });
  afterAll(async () => {
    await world?.close();
    await proxy?.stop();
    await storage?.stop();
  });

  /** Longer than its drain, which ends it. */
  const PATIENCE_MS = 30_000;
  const DRAIN = { DRAIN_TIMEOUT_MS: '10000' };

  it('ends by itself though the storage answers nothing, and its charge is in the books', async () => {
    const worker = await world.startWorker(DRAIN);
    await worker.ready(30_000);
    const hold = world.stripe.faults.hold({ on: 'confirm', when: 'before-execute' });
    await world.publish([{ customer: 'ann' }], '0');
    await hold.reached;
    const down = proxy.inject({ action: { kind: 'hang' } });
    const exit = worker.stop(PATIENCE_MS);
    hold.release();
    expect(await exit).toEqual({ code: 0, signal: null });
    down.remove();
    expect(await world.checkpoints()).toEqual({});
    expect(world.stripe.books.charges).toHaveLength(1);
  });

  it('ends by itself though the hub is gone, and what was read again was not charged again', async () => {
    const worker = await world.startWorker(DRAIN);
    await worker.ready(30_000);
    await world.publish([{ customer: 'bea' }], '0');
    await until('it has read both', async () => (await world.checkpoints())['0'] === 1);
    expect(await worker.metric('chargeonce_duplicates_total')).toBe(1);
    await world.charged(2);
    await world.broker.close();
    expect(await worker.stop(PATIENCE_MS)).toEqual({ code: 0, signal: null });
    expect(world.stripe.books.charges.map(({ customer }) => customer)).toEqual(['cus_ann', 'cus_bea']);
  });
});
