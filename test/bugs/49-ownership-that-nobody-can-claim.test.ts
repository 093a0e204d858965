/**
 * An ownership blob without an owner's name (AzCopy had changed the case of its metadata; or it was written by hand) was
 * left out of the list. A first claim asks that there is no blob, so it was refused for ever, as if somebody had been
 * faster each time: the partition was read by nobody while the worker said ready. The same silence hid every other refusal
 * with the same status, such as that of a blob with a lease on it.
 */
import { describe, expect, it } from 'vitest';
import { blobName } from '../../runtime/sources/event-hubs/blob-names';
import { useHubSources } from '../support/hub-source';
import type { LogLine } from '../support/quiet';
import { until } from '../support/until';

const world = useHubSources(2);
const ownershipBlob = () => world().container.getBlockBlobClient(blobName(world().group, 'ownership', '0'));
const both = ['event-0', 'event-100'];

async function sendBoth(): Promise<void> {
  await world().send(0, 1, '0');
  await world().send(100, 1, '1');
}

describe('an ownership blob', () => {
  it.each<[string, Record<string, string>]>([
    ['without metadata', {}],
    ['with an empty owner', { ownerid: '' }],
    ['of another kind', { note: 'mine' }],
    ['with capitals, of an owner that is gone', { Ownerid: 'consumer-of-last-year' }],
  ])('%s is claimed, and its partition is read', async (_, metadata) => {
    await ownershipBlob().upload('', 0, { metadata });
    await sendBoth();
    const worker = await world().worker('only');
    await until('both are read', () => worker.consumer.texts.length === 2);
    expect(worker.consumer.texts.toSorted()).toEqual(both);
  });

  it('that is refused although nobody was faster is complained of', async () => {
    const { proxy } = world();
    const leased = proxy.inject({
      matches: ({ method, path }) => method === 'PUT' && path.endsWith('/ownership/0'),
      action: { kind: 'refuse', status: 412, code: 'LeaseIdMissing' },
    });
    await sendBoth();
    const worker = await world().worker('only');
    await until('the other one is read', () => worker.consumer.texts.includes('event-100'));
    const complained = ({ fields }: LogLine) => 'error' in fields && String(fields.error).startsWith('LeaseIdMissing');
    await until('it is in the log', () => worker.log.lines.some(complained));
    expect(worker.metrics.counted('leaseRenewals{failed}')).toBeGreaterThan(0);
    leased.remove();
    await until('both are read', () => worker.consumer.texts.length === 2);
  });

  it('twin: a first claim of one that is there is refused, whoever asks', async () => {
    await ownershipBlob().upload('', 0);
    const claim = () => ownershipBlob().upload('', 0, { metadata: { ownerid: 'a' }, conditions: { ifNoneMatch: '*' } });
    for (let tries = 0; tries < 3; tries++) await expect(claim()).rejects.toMatchObject({ statusCode: 409 });
  });
});
