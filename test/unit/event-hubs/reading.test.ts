import { beforeEach, describe, expect, it } from 'vitest';
import { HeldPartition } from '../../../runtime/sources/event-hubs/held-partition';
import { Reading } from '../../../runtime/sources/event-hubs/reading';
import { FakeHost } from '../../support/fake-host';
import { silentLog } from '../../support/quiet';
import { RecordingMetrics } from '../../support/recording-consumer';

const SILENCE_MS = 60_000;
const tip = (last: number, first = 0, empty = false) => ({ first, last, empty });

let host: FakeHost;
let held: HeldPartition;
let reading: Reading;

function read(start?: number): void {
  const store = { writeCheckpoint: async () => 'written' as const, release: async () => undefined };
  const group = { fullyQualifiedNamespace: 'n', eventHubName: 'usage', consumerGroup: 'g' };
  const metrics = new RecordingMetrics();
  const hub = { group, namespace: 'n', hubCreatedOn: undefined };
  const deps = { store, ...hub, host, log: silentLog, metrics, ownershipMs: 60_000, checkpointEveryMs: 1 };
  const at = start === undefined ? undefined : { sequenceNumber: start, offset: String(start) };
  held = new HeldPartition(deps, '0', 0, at);
  reading = new Reading(held, host);
}

beforeEach(() => {
  host = new FakeHost();
  read();
});

describe('silence', () => {
  it('is that nothing came for long although the hub has more', async () => {
    expect(reading.isSilent(tip(0), SILENCE_MS)).toBe(false);
    await host.advance(SILENCE_MS + 1);
    expect(reading.isSilent(tip(0), SILENCE_MS)).toBe(true);
    held.delivered({ sequenceNumber: 0, offset: '0' });
    expect(reading.isSilent(tip(0), SILENCE_MS)).toBe(false);
  });

  it('counts from when there was something to come: an idle hour is none', async () => {
    held.delivered({ sequenceNumber: 0, offset: '0' });
    await host.advance(3_600_000);
    expect(reading.isSilent(tip(0), SILENCE_MS)).toBe(false);
    expect(reading.isSilent(tip(1), SILENCE_MS)).toBe(false);
    await host.advance(SILENCE_MS + 1);
    expect(reading.isSilent(tip(1), SILENCE_MS)).toBe(true);
  });

  it('is not the link’s while the consumer has no room', async () => {
    let room = (): void => undefined;
    const taken = reading.handOver(0, () => new Promise<void>((resolve) => (room = resolve)));
    await host.advance(3_600_000);
    expect(reading.isSilent(tip(9), SILENCE_MS)).toBe(false);
    room();
    await taken;
    expect(reading.isSilent(tip(9), SILENCE_MS)).toBe(false);
  });

  it('is none when everything above the checkpoint has expired', async () => {
    read(5);
    await host.advance(SILENCE_MS + 1);
    expect(reading.isSilent(tip(90, 91, true), SILENCE_MS)).toBe(false);
    expect(reading.allExpired(tip(90, 91, true))).toBe(85);
    expect(reading.allExpired(tip(5, 6, true))).toBe(0);
  });
});

describe('lag', () => {
  it('is what the hub keeps above the checkpoint', () => {
    expect(reading.lag(tip(-1, 0, true))).toBe(0);
    expect(reading.lag(tip(9))).toBe(10);
    expect(reading.lag(tip(109, 100))).toBe(10);
    read(105);
    expect(reading.lag(tip(109, 100))).toBe(4);
    expect(reading.lag(tip(109, 108))).toBe(2);
    expect(reading.lag(tip(105, 100))).toBe(0);
  });

  it('in time counts from the last event, or from when there was nothing more', async () => {
    const begun = host.now();
    held.delivered({ sequenceNumber: 0, offset: '0' });
    await reading.handOver(begun, async () => undefined);
    await host.advance(10_000);
    expect(reading.behindMs(tip(0))).toBe(0);
    expect(reading.behindMs(tip(5))).toBe(10_000);
    reading.isSilent(tip(0), SILENCE_MS);
    await host.advance(2_000);
    expect(reading.behindMs(tip(5))).toBe(2_000);
  });
});

describe('numbers that begin again', () => {
  it('are believed when they are seen twice', () => {
    read(5_000);
    expect(reading.isRenumbered(tip(10), 5_000, SILENCE_MS)).toBe(false);
    expect(reading.isRenumbered(tip(10), 5_000, SILENCE_MS)).toBe(true);
  });

  it('are not seen in answers that stay a little behind what is delivered, one look after the other', () => {
    read(100);
    for (let done = 1_000; done < 10_000; done += 1_000) {
      held.delivered({ sequenceNumber: done, offset: String(done) });
      expect(reading.isRenumbered(tip(done - 50), done, SILENCE_MS)).toBe(false);
    }
  });

  it('after events of this reading are believed only when nothing more comes for long', async () => {
    held.delivered({ sequenceNumber: 90, offset: '90' });
    expect(reading.isRenumbered(tip(5), 90, SILENCE_MS)).toBe(false);
    await host.advance(SILENCE_MS);
    expect(reading.isRenumbered(tip(5), 90, SILENCE_MS)).toBe(false);
    await host.advance(1);
    expect(reading.isRenumbered(tip(5), 90, SILENCE_MS)).toBe(true);
  });

  it('are not seen in a hub that always says −1', () => {
    read(5_000);
    for (let look = 0; look < 3; look++) expect(reading.isRenumbered(tip(-1), 5_000, SILENCE_MS)).toBe(false);
  });

  it('are not seen in an answer that is a little old once, nor before the first event', () => {
    read(5_000);
    expect(reading.isRenumbered(tip(4_999), 5_000, SILENCE_MS)).toBe(false);
    expect(reading.isRenumbered(tip(5_001), 5_000, SILENCE_MS)).toBe(false);
    expect(reading.isRenumbered(tip(4_999), 5_000, SILENCE_MS)).toBe(false);
    expect(reading.isRenumbered(tip(-1), undefined, SILENCE_MS)).toBe(false);
  });
});
