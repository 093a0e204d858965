/**
 * The publisher halves a batch that the hub refuses, to find the one event that is to blame. Each half counted as an
 * attempt, so that a single busy answer afterwards gave up all the events behind it.
 */
import { describe, expect, it } from 'vitest';
import { createHubPublisher, type HubProducer } from '../../runtime/sources/event-hubs/publisher';
import { FakeHost } from '../support/fake-host';

const EVENTS = 2_000;
const event = (n: number) => JSON.stringify({ customer_id: 'acme', n });
const busy = Object.assign(new Error('slow down'), { code: 'ServerBusyError' });
const refused = Object.assign(new Error('no'), { code: 'ArgumentError' });

/** A hub that refuses these events, and whose good sends fail as often as this before each success. */
async function publish(culprits: readonly number[], busyTimes: number) {
  const bad = new Set(culprits.map(event));
  const sent: string[] = [];
  let left = busyTimes;
  const producer = {
    createBatch: async () => {
      const bodies: string[] = [];
      return { bodies, maxSizeInBytes: 1e6, tryAdd: ({ body }: { body: Buffer }) => bodies.push(body.toString()) > 0 };
    },
    sendBatch: async ({ bodies }: { bodies: string[] }) => {
      if (bodies.some((body) => bad.has(body))) throw refused;
      if (left > 0) {
        left -= 1;
        throw busy;
      }
      left = busyTimes;
      sent.push(...bodies);
    },
  } as unknown as HubProducer;
  async function* lines() {
    for (let n = 0; n < EVENTS; n++) yield Buffer.from(event(n));
  }
  const undelivered: { line: number; reason: string }[] = [];
  const host = new FakeHost();
  const publisher = createHubPublisher({
    producer,
    host,
    onUndelivered: ({ line, reason }) => undelivered.push({ line, reason }),
  });
  let done = false;
  const result = publisher.publish(lines()).finally(() => {
    done = true;
  });
  while (!done) await host.advance(1_000);
  return { result: await result, sent, undelivered };
}

describe('a refused event', () => {
  it.each([1, 9])('costs nothing of the attempts: those behind it arrive after %i busy answers', async (busyTimes) => {
    const { result, sent, undelivered } = await publish([0, 700, 1_999], busyTimes);
    expect(undelivered.map(({ line }) => line)).toEqual([1, 701, 2_000]);
    expect(result).toMatchObject({ sent: EVENTS - 3, undelivered: 3 });
    expect(new Set(sent).size).toBe(EVENTS - 3);
  });

  it('twin: ten busy answers in a row are the end of the patience', async () => {
    const { result, undelivered } = await publish([], 10);
    expect(result).toMatchObject({ sent: 0, undelivered: EVENTS });
    expect(undelivered[0]?.reason).toContain('10 attempts');
  });
});
