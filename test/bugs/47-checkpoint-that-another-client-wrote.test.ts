/**
 * A consumer of another language is replaced in place. .NET writes checkpoints without an offset (older versions with the
 * words `no offset`; github.com/Azure/azure-sdk-for-net, BlobCheckpointStoreInternal), and AzCopy changes the case of
 * metadata (github.com/Azure/azure-storage-azcopy/issues/113). Taken for none, such a checkpoint means to begin at the
 * oldest event: everything that the former consumer charged would be charged again, since the ledger knows nothing of it.
 */
import { describe, expect, it } from 'vitest';
import { blobName } from '../../runtime/sources/event-hubs/blob-names';
import { HUB, useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources(2);
const NUMBER = 2;

const checkpointBlob = (partition: string) =>
  world().container.getBlockBlobClient(blobName(world().group, 'checkpoint', partition));

/** Five events in partition 0, and a checkpoint behind the third. */
async function former(metadata: (offset: string) => Record<string, string>): Promise<void> {
  await world().send(0, 5, '0');
  const offset = world().broker.hubs.get(HUB)?.partitions.get('0')?.at(NUMBER)?.offset ?? '';
  await checkpointBlob('0').upload('', 0, { metadata: metadata(offset) });
}

describe('a checkpoint that another client wrote', () => {
  it.each<[string, (offset: string) => Record<string, string>]>([
    ['with capitals', (offset) => ({ Sequencenumber: `${NUMBER}`, Offset: offset })],
    ['without an offset', () => ({ sequencenumber: `${NUMBER}` })],
    ['with an empty offset', () => ({ sequencenumber: `${NUMBER}`, offset: '' })],
    ['with the words “no offset”', () => ({ sequencenumber: `${NUMBER}`, offset: 'no offset' })],
    ['with an offset that would break the filter', () => ({ sequencenumber: `${NUMBER}`, offset: "1' OR '1" })],
  ])('%s is gone on from', async (_, metadata) => {
    await former(metadata);
    const worker = await world().worker('only');
    await until('the rest is read', () => worker.consumer.texts.includes('event-4'));
    expect(worker.consumer.texts).toEqual(['event-3', 'event-4']);
    await until('its own is written', async () => (await world().checkpoints())['0'] === 4);
    expect(worker.log.has(/a partition is not read/)).toBe(false);
  });

  it.each([
    ['of no number', { offset: '100' }, 'its metadata have no sequencenumber'],
    ['of a number before all', { sequencenumber: '-9223372036854775808', offset: '1' }, '"-9223372036854775808"'],
    ['of words', { sequencenumber: 'null', offset: 'null' }, 'its metadata have the sequencenumber "null"'],
    ['of nothing', {}, 'its metadata have no sequencenumber'],
  ])('%s stops that partition alone, loudly, until somebody repairs it', async (_, metadata, why) => {
    await former(() => metadata as Record<string, string>);
    await world().send(100, 1, '1');
    const worker = await world().worker('only');
    await until('the other one is read', () => worker.consumer.texts.includes('event-100'));
    await until('it is not ready', () => worker.notReady()?.startsWith('partition 0 is not read: ') === true);
    expect(worker.notReady()).toContain(why);
    expect(worker.notReady()).toContain(blobName(world().group, 'checkpoint', '0'));
    expect(worker.metrics.counted('silentPartitions')).toBeGreaterThan(0);
    expect(worker.log.has(/a partition is not read: .* or delete the blob/)).toBe(true);
    await checkpointBlob('0').setMetadata({ sequencenumber: `${NUMBER}` });
    await until('the rest is read', () => worker.consumer.texts.includes('event-4'));
    expect(worker.consumer.texts).toEqual(['event-100', 'event-3', 'event-4']);
    await until('it is ready', () => worker.notReady() === undefined);
  });

  it('twin: taken for none, it lets everything be read again', async () => {
    await former(() => ({ sequencenumber: `${NUMBER}` }));
    await checkpointBlob('0').delete();
    const worker = await world().worker('only');
    await until('the last is read', () => worker.consumer.texts.includes('event-4'));
    expect(worker.consumer.texts).toContain('event-0');
  });
});
