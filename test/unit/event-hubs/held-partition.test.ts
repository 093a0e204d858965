import { beforeEach, describe, expect, it, vi } from 'vitest';
import { PartitionState } from '../../../runtime/processor/partition-state';
import type { CheckpointOutcome } from '../../../runtime/sources/event-hubs/blob-store';
import type { EventPlace } from '../../../runtime/sources/event-hubs/checkpoint-metadata';
import { HeldPartition } from '../../../runtime/sources/event-hubs/held-partition';
import { FakeHost } from '../../support/fake-host';
import { KeptLog } from '../../support/quiet';
import { RecordingMetrics } from '../../support/recording-consumer';

const OWNERSHIP_MS = 60_000;
/** A whole second that the storage does not tell, and five that another worker's clock may be ahead. */
const CERTAIN_MS = 54_000;
const EVERY_MS = 3_000;
const group = { fullyQualifiedNamespace: 'n', eventHubName: 'usage', consumerGroup: 'g' };
const place = (sequenceNumber: number): EventPlace => ({ sequenceNumber, offset: `o${sequenceNumber}` });

let host: FakeHost;
let metrics: RecordingMetrics;
let writes: EventPlace[];
let answer: () => Promise<CheckpointOutcome>;
let releases: number;

beforeEach(() => {
  host = new FakeHost();
  metrics = new RecordingMetrics();
  writes = [];
  releases = 0;
  answer = async () => 'written';
});

function hold(start?: EventPlace): HeldPartition {
  const store = {
    writeCheckpoint: (_group: object, _id: string, at: EventPlace) => {
      writes.push(at);
      return answer();
    },
    release: async () => {
      releases += 1;
    },
  };
  const deps = {
    store,
    group,
    namespace: 'n',
    hubCreatedOn: undefined,
    host,
    log: new KeptLog(),
    metrics,
    ownershipMs: OWNERSHIP_MS,
    checkpointEveryMs: EVERY_MS,
  };
  return new HeldPartition(deps, '0', host.monotonic(), start);
}

function deliver(held: HeldPartition, from: number, to: number): void {
  for (let n = from; n <= to; n++) held.delivered(place(n));
}

describe('holding', () => {
  it('is certain for less than an ownership lasts, counted from before the claim was sent', async () => {
    const held = hold();
    expect(held.holdsFor(2_000)).toBe(true);
    await host.advance(CERTAIN_MS - 2_001);
    expect(held.holdsFor(2_000)).toBe(true);
    await host.advance(1);
    expect(held.holdsFor(2_000)).toBe(false);
    held.renewed(host.monotonic());
    expect(held.holdsFor(2_000)).toBe(true);
  });

  it('twin: a worker that stood still is not certain until it has asked again', async () => {
    const held = hold();
    await host.advance(120_000);
    expect(held.holdsFor(0)).toBe(false);
  });

  it('ends with a loss, and nothing revives it', () => {
    const held = hold();
    held.lose('stolen');
    held.renewed(host.monotonic() + 1_000_000);
    expect(held.holdsFor(0)).toBe(false);
    expect(held.signal.aborted).toBe(true);
  });
});

describe('checkpoints', () => {
  it('are written at once, and then with a pause: the newest only', async () => {
    const held = hold();
    deliver(held, 0, 9);
    for (let n = 0; n <= 9; n++) held.checkpoint(String(n));
    await host.advance(EVERY_MS - 1);
    expect(writes.map(({ sequenceNumber }) => sequenceNumber)).toEqual([0]);
    await host.advance(1);
    expect(writes).toEqual([place(0), place(9)]);
    expect(held.checkpointed).toBe(9);
    await host.advance(3_600_000);
    expect(writes).toHaveLength(2);
  });

  it('that fail are counted and tried again, with the position of then', async () => {
    const held = hold();
    deliver(held, 0, 9);
    answer = async () => Promise.reject(new Error('503'));
    held.checkpoint('0');
    await host.settle();
    held.checkpoint('8');
    answer = async () => 'written';
    await host.advance(10_000);
    expect(writes).toEqual([place(0), place(8)]);
    expect(metrics.counted('checkpointFailures')).toBe(1);
    expect(metrics.counted('checkpoints')).toBe(1);
  });

  it('that come in the very turn in which the writing ends are written too', async () => {
    const held = hold();
    deliver(held, 0, 1);
    // After the sleep has ended and the writer has looked for more.
    host.sleep = async () => queueMicrotask(() => queueMicrotask(() => held.checkpoint('1')));
    held.checkpoint('0');
    await host.settle();
    expect(writes).toEqual([place(0), place(1)]);
  });

  it('that are many leave nothing behind in the memory of its signals', async () => {
    const combined = vi.spyOn(AbortSignal, 'any');
    const held = hold();
    deliver(held, 0, 99);
    for (let n = 0; n <= 99; n++) {
      held.checkpoint(String(n));
      await host.advance(EVERY_MS);
    }
    expect(writes).toHaveLength(100);
    expect(combined).not.toHaveBeenCalled();
    combined.mockRestore();
    deliver(held, 100, 100);
    held.checkpoint('100');
    await host.settle();
    expect(host.sleeping).toBe(1);
    held.lose('stolen');
    expect(host.sleeping).toBe(0);
  });

  it('of a mode that never writes keep no place that was passed', () => {
    const held = hold();
    const state = new PartitionState(held, { mode: 'manual', intervalMs: 1, count: 1 }, host, () => undefined);
    for (let n = 0; n < 50_000; n++) {
      deliver(held, n, n);
      state.finish(state.add(String(n), true));
    }
    expect(held.remembered).toBeLessThan(5_000);
    state.flush();
    expect(writes).toEqual([place(49_999)]);
  });

  it('that find another owner end the partition', async () => {
    const held = hold();
    deliver(held, 0, 1);
    answer = async () => 'lost';
    held.checkpoint('1');
    await host.settle();
    expect(held.signal.aborted).toBe(true);
    held.checkpoint('1');
    await host.advance(10_000);
    expect(writes).toHaveLength(1);
  });

  it('of what was never delivered are a mistake; what was passed is passed', () => {
    const held = hold();
    deliver(held, 0, 3);
    held.checkpoint('2');
    held.checkpoint('1');
    expect(() => held.checkpoint('7')).toThrow('never delivered 7');
  });
});

describe('deliveries', () => {
  it('are taken in order and once, and only above the start', () => {
    const held = hold(place(5));
    expect([5, 6, 7, 7, 6, 8].map((n) => held.delivered(place(n)))).toEqual([false, true, true, false, false, true]);
    expect(held.lastDelivered).toBe(8);
    expect(held.checkpointed).toBe(5);
  });
});

describe('giving up', () => {
  it('writes the newest place without waiting for the pause, then releases', async () => {
    const held = hold();
    deliver(held, 0, 9);
    held.checkpoint('0');
    await host.settle();
    held.checkpoint('9');
    const leaving = held.release(5_000);
    expect(held.holdsFor(0)).toBe(false);
    await host.settle();
    await leaving;
    expect(writes).toEqual([place(0), place(9)]);
    expect(releases).toBe(1);
    expect(held.signal.aborted).toBe(true);
  });

  it('ends in its time when the storage never answers', async () => {
    const held = hold();
    deliver(held, 0, 1);
    answer = () => new Promise(() => undefined);
    held.checkpoint('1');
    const leaving = held.release(5_000);
    await host.advance(5_000);
    await leaving;
    expect(releases).toBe(0);
    expect(held.signal.aborted).toBe(true);
  });
});
