import { beforeEach, describe, expect, it } from 'vitest';
import { HeldLease, type LeaseEnd } from '../../../runtime/sources/kinesis/held-lease';
import type { Lease } from '../../../runtime/sources/kinesis/lease-item';
import type { WriteOutcome } from '../../../runtime/sources/kinesis/lease-store';
import { type Checkpoint, TRIM_HORIZON } from '../../../runtime/sources/kinesis/positions';
import { FakeHost } from '../../support/fake-host';
import { KeptLog } from '../../support/quiet';
import { RecordingMetrics } from '../../support/recording-consumer';

const L = 9_000;
const FRESH: Lease = {
  key: 'shardId-1',
  owner: 'me',
  counter: 1n,
  checkpoint: TRIM_HORIZON,
  parents: [],
  children: [],
};

type Answer = (lease: Lease, checkpoint: Checkpoint | undefined, unsure: boolean) => Promise<WriteOutcome>;

const written: Answer = async (lease, checkpoint) => ({
  kind: 'written',
  recovered: false,
  lease: { ...lease, counter: lease.counter + 1n, checkpoint: checkpoint ?? lease.checkpoint },
});
const throttled: Answer = async () => ({ kind: 'retry', unsure: false, why: 'throttled', error: 'too much' });
const silent: Answer = async () => ({ kind: 'retry', unsure: true, why: 'unknown', error: 'no answer' });

let host: FakeHost;
let answer: Answer;
let calls: { checkpoint: Checkpoint | undefined; unsure: boolean; at: number }[];
let ends: LeaseEnd[];
let metrics: RecordingMetrics;

function hold(takenAt = host.monotonic()): HeldLease {
  const send: Answer = (lease, checkpoint, unsure) => {
    calls.push({ checkpoint, unsure, at: host.monotonic() });
    return answer(lease, checkpoint, unsure);
  };
  const store = {
    renew: (lease: Lease, checkpoint: Checkpoint | undefined, unsure = false) => send(lease, checkpoint, unsure),
    release: (lease: Lease, checkpoint: Checkpoint | undefined, unsure = false) => send(lease, checkpoint, unsure),
    remove: async () => true,
  };
  const onEnd = (_held: HeldLease, reason: LeaseEnd) => void ends.push(reason);
  const log = new KeptLog();
  const held = new HeldLease({ store, host, log, metrics, streamName: 's', leaseDurationMs: L, onEnd }, FRESH, takenAt);
  void held.keep();
  return held;
}

beforeEach(() => {
  host = new FakeHost();
  answer = written;
  calls = [];
  ends = [];
  metrics = new RecordingMetrics();
});

describe('the heartbeat', () => {
  it('comes at least every third of the lease, and keeps the lease for ever', async () => {
    const held = hold();
    await host.advance(20 * L);
    expect(held.signal.aborted).toBe(false);
    const gaps = calls.slice(1).map((call, i) => call.at - (calls[i]?.at ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(L / 3);
    // Not more often than the table was sized for, but for the jitter.
    expect(calls.length).toBeLessThanOrEqual((20 * L) / ((L / 3 - 25) * 0.95) + 1);
  });

  it('says how long each renewal took, with all its repeats', async () => {
    hold();
    await host.advance(L);
    expect(metrics.gauges.get('leaseRenewalTime')).toBe(0);
    let tries = 0;
    answer = async (...sent) => {
      await host.sleep(300);
      return ++tries % 3 === 0 ? written(...sent) : throttled(...sent);
    };
    await host.advance(L);
    expect(metrics.gauges.get('leaseRenewalTime')).toBeGreaterThan(900);
  });

  it('carries the newest checkpoint, and only when there is a newer one: no write of its own', async () => {
    const held = hold();
    held.checkpoint('10');
    held.checkpoint('30/2');
    held.checkpoint('20');
    expect(calls).toHaveLength(0);
    await host.advance(3 * L);
    const carried = calls.map((call) => call.checkpoint).filter((checkpoint) => checkpoint !== undefined);
    expect(carried).toEqual([{ sequence: '30', sub: 2 }]);
    expect(metrics.counted('checkpoints')).toBe(1);
  });
});

describe('a throttled renewal', () => {
  it('is tried again until the holder’s own deadline, and one that succeeds in time loses nothing', async () => {
    answer = throttled;
    const held = hold();
    await host.advance(L - 1_000);
    expect(calls.length).toBeGreaterThan(5);
    expect(held.signal.aborted).toBe(false);
    answer = written;
    await host.advance(10 * L);
    expect(ends).toEqual([]);
  });

  it('that never succeeds ends the lease at the deadline, and holdsFor says no before that', async () => {
    answer = throttled;
    const held = hold();
    await host.advance(L - 2_000);
    expect(held.holdsFor(1_000)).toBe(true);
    expect(held.holdsFor(2_000)).toBe(false);
    await host.advance(1_999);
    expect(held.signal.aborted).toBe(false);
    await host.advance(1);
    expect(held.signal.reason).toBe('expired');
    const tried = calls.length;
    await host.advance(10 * L);
    expect(calls).toHaveLength(tried);
  });
});

describe('the deadline', () => {
  it('counts from before the request was sent, however late its answer comes', async () => {
    const held = hold();
    answer = async (lease, checkpoint, unsure) => {
      await host.sleep(2_000);
      return written(lease, checkpoint, unsure);
    };
    await host.advance(4_000);
    const first = calls[0]?.at ?? Number.NaN;
    expect(held.holdsFor(first + L - host.monotonic() - 1)).toBe(true);
    expect(held.holdsFor(first + L - host.monotonic() + 1)).toBe(false);
  });

  it('counts from the write that had no answer when a later look finds it applied', async () => {
    const held = hold();
    answer = async (lease, checkpoint, unsure) => {
      if (!unsure) return silent(lease, checkpoint, unsure);
      await host.sleep(3_000);
      const done = await written(lease, checkpoint, unsure);
      return { ...done, recovered: true } as WriteOutcome;
    };
    await host.advance(5_500);
    const first = calls[0]?.at ?? Number.NaN;
    expect(calls[1]?.unsure).toBe(true);
    expect(held.holdsFor(first + L - host.monotonic() + 1)).toBe(false);
    expect(held.holdsFor(first + L - host.monotonic() - 1)).toBe(true);
  });

  it('passes while the event loop stands still: not held from then on, before any timer has run', async () => {
    const held = hold();
    await host.advance(L);
    expect(held.holdsFor(0)).toBe(true);
    host.stall(1.5 * L);
    expect(held.holdsFor(0)).toBe(false);
    await host.advance(0);
    expect(held.signal.reason).toBe('expired');
  });
});

describe('an ended lease', () => {
  it('that another worker took says stolen, and refuses late checkpoints', async () => {
    const held = hold();
    answer = async () => ({ kind: 'lost', now: { ...FRESH, owner: 'other', counter: 5n } });
    await host.advance(L);
    expect(held.signal.reason).toBe('stolen');
    held.checkpoint('99');
    expect(held.progress).toEqual(TRIM_HORIZON);
    expect(held.holdsFor(0)).toBe(false);
    await host.advance(5 * L);
    expect(calls).toHaveLength(1);
    expect(ends).toEqual(['stolen']);
  });

  it('whose item is gone says deleted', async () => {
    const held = hold();
    answer = async () => ({ kind: 'lost', now: undefined });
    await host.advance(L);
    expect(held.signal.reason).toBe('deleted');
  });
});

describe('giving up', () => {
  it('writes the last checkpoint in the same write, and no renewal follows it', async () => {
    const held = hold();
    held.checkpoint('7');
    expect(await held.release()).toBe(true);
    expect(calls).toMatchObject([{ checkpoint: { sequence: '7', sub: 0 } }]);
    expect(held.signal.reason).toBe('released');
    await host.advance(5 * L);
    expect(calls).toHaveLength(1);
  });

  it('starts no new charge while the write is under way', async () => {
    const held = hold();
    answer = async (lease, checkpoint, unsure) => {
      await host.sleep(500);
      return written(lease, checkpoint, unsure);
    };
    const released = held.release();
    expect(held.holdsFor(0)).toBe(false);
    await host.advance(500);
    expect(await released).toBe(true);
  });

  it('writes again when what turned out to have landed was an older write with an older checkpoint', async () => {
    const held = hold();
    const older: Checkpoint = { sequence: '3', sub: 0 };
    answer = async (lease) => {
      answer = written;
      return { kind: 'written', recovered: true, lease: { ...lease, counter: lease.counter + 1n, checkpoint: older } };
    };
    const finished = held.finish();
    await host.advance(1_000);
    expect(await finished).toBe(true);
    expect(calls.map((call) => call.checkpoint?.sequence)).toEqual(['SHARD_END', 'SHARD_END']);
    expect(held.current.checkpoint.sequence).toBe('SHARD_END');
  });

  it('at the end of a shard does not wait for the next renewal', async () => {
    const held = hold();
    expect(await held.finish()).toBe(true);
    expect(calls).toMatchObject([{ checkpoint: { sequence: 'SHARD_END' }, at: 0 }]);
  });
});
