/**
 * Reported of every client: after a hub was deleted and made again, or failed over to a namespace without its events, the
 * service refuses the checkpoints' offsets ("The supplied offset … is invalid. The last offset in the system is …"). Each
 * try ends before it reads; the partition is owned, nobody reads it, and the process calls itself ready
 * (github.com/Azure/azure-sdk-for-java/issues/28990). Where the old offset happens to exist, reading begins in the middle.
 */
import { describe, expect, it } from 'vitest';
import { blobName } from '../../runtime/sources/event-hubs/blob-names';
import { useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources(1);
const texts = (count: number) => Array.from({ length: count }, (_, n) => `event-${n}`);

/** What is left of the old hub, and events of the new one. */
async function madeAnew(checkpoint: { sequencenumber: string; offset: string }, events: number): Promise<void> {
  const { container, group, send } = world();
  const blob = container.getBlockBlobClient(blobName(group, 'checkpoint', '0'));
  await blob.upload('', 0, { metadata: checkpoint });
  await send(0, events, '0');
}

describe('a hub that was made anew', () => {
  it('and refuses the old offset is read from its oldest event', async () => {
    await madeAnew({ sequencenumber: '5000', offset: '900000' }, 3);
    const worker = await world().worker('only');
    await until('all are read', () => worker.consumer.texts.length === 3);
    expect(worker.consumer.texts).toEqual(texts(3));
    await until('its own checkpoint is written', async () => (await world().checkpoints())['0'] === 2);
    expect(worker.notReady()).toBeUndefined();
  });

  it('twin: is not while the old checkpoint stays; then it is not ready, and a metric says so', async () => {
    const { proxy } = world();
    await madeAnew({ sequencenumber: '5000', offset: '900000' }, 3);
    const kept = proxy.inject({
      matches: ({ method }) => method === 'DELETE',
      action: { kind: 'refuse', status: 500, code: 'InternalError' },
    });
    const worker = await world().worker('only', { silenceMs: 1_500 });
    await until('it is not ready', () => worker.notReady() === 'partition 0 cannot be opened');
    expect(worker.metrics.counted('silentPartitions')).toBeGreaterThan(0);
    expect(worker.consumer.texts).toEqual([]);
    kept.remove();
    await until('all are read', () => worker.consumer.texts.length === 3);
    await until('it is ready', () => worker.notReady() === undefined);
  });

  it('and has the old offset, and lower numbers behind it, loses none of its events', async () => {
    await madeAnew({ sequencenumber: '2', offset: '1' }, 6);
    const worker = await world().worker('only');
    await until('the last is read', () => worker.consumer.texts.includes('event-5'));
    expect(worker.consumer.texts).toEqual(texts(6));
  });
});
