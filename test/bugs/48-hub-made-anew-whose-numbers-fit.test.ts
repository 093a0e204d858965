/**
 * A hub that is deleted and made again, or a namespace that another one took over from, counts from 0 once more. Where the
 * old checkpoint's place exists in it too, reading began there: the events before it were never read, without a word. And
 * a malformed event at a place at which the old hub had one too was thrown away: the ledger took it for the same one.
 */
import { EventHubProducerClient } from '@azure/event-hubs';
import { describe, expect, it } from 'vitest';
import { blobName } from '../../runtime/sources/event-hubs/blob-names';
import type { AmqpBroker } from '../emulators/amqp';
import { useHubBilling } from '../support/hub-billing';
import { GROUP, HUB, useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const HOUR_MS = 3_600_000;

/** The hub is another one from now on, created when `createdAt` says. */
function makeAnew(broker: AmqpBroker, createdAt: number): void {
  (broker.hubs as Map<string, unknown>).delete(HUB);
  Object.assign(broker.createHub(HUB, { partitions: 1, consumerGroups: [GROUP] }), { createdAt });
}

describe('a hub that was made anew, in which the old place exists', () => {
  const world = useHubSources(1);
  const checkpoint = (metadata: Record<string, string>) =>
    world()
      .container.getBlockBlobClient(blobName(world().group, 'checkpoint', '0'))
      .upload('', 0, { metadata });
  const placeOf = (sequenceNumber: number) => ({
    sequencenumber: String(sequenceNumber),
    offset: world().broker.hubs.get(HUB)?.partitions.get('0')?.at(sequenceNumber)?.offset ?? '',
  });

  it.each([
    ['that another client wrote before it was created', {}],
    ['that was written for the hub before', { hubcreatedon: '2026-01-01T00:00:00.000Z' }],
  ])('is read from its oldest event: a checkpoint %s says nothing of it', async (_, marker) => {
    const { broker, send } = world();
    makeAnew(broker, Date.now() + HOUR_MS);
    await send(0, 6, '0');
    await checkpoint({ ...placeOf(2), ...marker });
    const worker = await world().worker('only');
    await until('the last is read', () => worker.consumer.texts.includes('event-5'));
    expect(worker.consumer.texts).toEqual(Array.from({ length: 6 }, (_each, n) => `event-${n}`));
    expect(worker.log.has(/the checkpoint is of a hub that had this name before/)).toBe(true);
    await until('its own is written', async () => (await world().checkpoints())['0'] === 5);
  });

  it('is noticed by a worker that is reading the old one', async () => {
    const { broker, send } = world();
    const worker = await world().worker('only', { silenceMs: 1_000 });
    await send(0, 5, '0');
    await until('it is read', async () => (await world().checkpoints())['0'] === 4);
    makeAnew(broker, Date.now() + HOUR_MS);
    await send(100, 10, '0');
    broker.faults.dropSockets();
    await until('all of the new one is read', () =>
      Array.from({ length: 10 }, (_, n) => `event-${100 + n}`).every((text) => worker.consumer.texts.includes(text)),
    );
    await until('its checkpoint is written', async () => (await world().checkpoints())['0'] === 9);
  });

  it('is not seen in a hub that stayed: reading goes on behind the checkpoint', async () => {
    const { broker, send } = world();
    await send(0, 6, '0');
    const createdAt = broker.hubs.get(HUB)?.createdAt ?? 0;
    await checkpoint({ ...placeOf(2), hubcreatedon: new Date(createdAt).toISOString() });
    const worker = await world().worker('only');
    await until('the last is read', () => worker.consumer.texts.includes('event-5'));
    expect(worker.consumer.texts).toEqual(['event-3', 'event-4', 'event-5']);
  });

  it('twin: of a hub that does not say when it was created, the first events are never read', async () => {
    const { broker, send } = world();
    makeAnew(broker, Number.NaN);
    await send(0, 6, '0');
    await checkpoint(placeOf(2));
    const worker = await world().worker('only');
    await until('the last is read', () => worker.consumer.texts.includes('event-5'));
    expect(worker.consumer.texts).toEqual(['event-3', 'event-4', 'event-5']);
  });
});

describe('a malformed event at the place of another hub’s', () => {
  const world = useHubBilling(1);
  const malformed = (text: string) => `{"customer_id":"acme","amount_cents":"${text}"}`;

  async function send(text: string): Promise<void> {
    const producer = new EventHubProducerClient(world().hub.broker.connectionString, HUB);
    await producer.sendBatch([{ body: Buffer.from(text) }], { partitionId: '0' });
    await producer.close();
  }
  const bodies = async () =>
    (await world().billing.db.query<{ body: Buffer }>('SELECT body FROM dead_letters ORDER BY source')).map(
      ({ body }) => body.toString(),
    );

  it('is kept beside it', async () => {
    const { hub, worker } = world();
    await send(malformed('of the old hub'));
    const first = await worker('first');
    await until('it is kept', async () => (await bodies()).length === 1);
    await until('it is passed', async () => (await hub.checkpoints())['0'] === 0);
    await first.stop();
    makeAnew(hub.broker, Date.now() + HOUR_MS);
    await send(malformed('1O000'));
    await worker('second');
    await until('both are kept', async () => (await bodies()).length === 2);
    expect(await bodies()).toEqual([malformed('of the old hub'), malformed('1O000')]);
  });

  it('twin: under the same source it is taken for the one that is kept', async () => {
    const { billing } = world();
    for (const text of ['of the old hub', '1O000']) {
      await billing.db.query(
        `INSERT INTO dead_letters (source, source_position, partition_key, body, reason)
         VALUES ('event-hubs/usage/0', '0', '', $1, 'malformed') ON CONFLICT (source, source_position) DO NOTHING`,
        [Buffer.from(text)],
      );
    }
    expect(await bodies()).toEqual(['of the old hub']);
  });
});
