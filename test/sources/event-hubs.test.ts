/** The Event Hubs source with Microsoft's client, on the local broker and Azurite: reading, sharing and stopping. */
import { describe, expect, it } from 'vitest';
import { useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources();

describe('one worker', () => {
  it('reads every partition from the oldest event and checkpoints what is finished', async () => {
    await world().send(0, 5, '0');
    await world().send(5, 5, '1');
    const only = await world().worker('only');
    await until('all are read', () => only.consumer.records.length === 10);
    await until('the checkpoints are written', async () => {
      const written = await world().checkpoints();
      return written['0'] === 4 && written['1'] === 4;
    });
    expect(only.notReady()).toBeUndefined();
    expect(only.consumer.texts.toSorted()).toEqual(Array.from({ length: 10 }, (_, n) => `event-${n}`));
    expect(only.consumer.records[0]?.delivery).toMatchObject({ position: '0' });
  });

  it('that is replaced goes on after the checkpoint, and its partitions are free at once', async () => {
    await world().send(0, 3, '0');
    // So long that nobody could wait for it here.
    const first = await world().worker('first', { ownershipMs: 300_000 });
    await until('all are read', () => first.consumer.records.length === 3);
    await until('both are held', () => first.held() === 2);
    await first.stop();
    expect([await world().owner('0'), await world().owner('1')]).toEqual(['', '']);
    await world().send(3, 2, '0');
    const second = await world().worker('second', { ownershipMs: 300_000 });
    await until('the rest is read', () => second.consumer.records.length === 2);
    expect(second.consumer.texts).toEqual(['event-3', 'event-4']);
  });

  it('waits for work in flight at a stop, and writes what it finished', async () => {
    const slow = await world().worker('slow');
    let finish = (): void => undefined;
    const inFlight = new Promise<void>((resolve) => {
      finish = resolve;
    });
    slow.consumer.finished = async (partition) => {
      await inFlight;
      if (partition.id.endsWith('/0')) partition.checkpoint('1');
      return true;
    };
    slow.consumer.finishes = () => false;
    await world().send(0, 2, '0');
    await until('both are read', () => slow.consumer.records.length === 2);
    const stopped = slow.stop();
    await world().send(2, 1, '0');
    expect(await Promise.race([stopped.then(() => 'stopped'), world().checkpoints()])).toEqual({});
    finish();
    await stopped;
    expect(await world().checkpoints()).toEqual({ 0: 1 });
    // What came after the stop was held back, not skipped.
    const next = await world().worker('next');
    await until('the rest is read', () => next.consumer.texts.includes('event-2'));
  });

  it('never checkpoints above what is not finished', async () => {
    await world().send(0, 6, '0');
    const slow = await world().worker('slow');
    slow.consumer.finishes = ({ text }) => text !== 'event-3';
    await until('all are read', () => slow.consumer.records.length === 6);
    await slow.stop();
    expect((await world().checkpoints())['0']).toBe(2);
  });

  it('reads on after an error that calls itself retryable: the client would skip the batch', async () => {
    const only = await world().worker('only');
    let refused = 0;
    only.consumer.onDeliver = async () => {
      if (refused++ === 0) throw Object.assign(new Error('transient, says the SDK'), { retryable: true });
    };
    await world().send(0, 4, '0');
    await until('all are read', () => only.consumer.records.length === 4);
    expect(only.consumer.texts).toEqual(['event-0', 'event-1', 'event-2', 'event-3']);
    expect(refused).toBeGreaterThan(1);
  });
});

describe('two workers', () => {
  it('that start on an empty container together share it; what one gives up the other takes over', async () => {
    const [first, second] = await Promise.all([world().worker('first'), world().worker('second')]);
    await until('each holds one', () => first.held() === 1 && second.held() === 1);
    await world().send(0, 4, '0');
    await world().send(4, 4, '1');
    const read = () => new Set([...first.consumer.texts, ...second.consumer.texts]);
    await until('all are read', () => read().size === 8);
    await first.stop();
    await until('the other holds both', () => second.held() === 2);
    await world().send(8, 2, '0');
    await world().send(10, 2, '1');
    await until('the rest is read', () => read().size === 12);
  });
});
