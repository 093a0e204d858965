import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Host, systemHost } from '../../../runtime/host/host';
import { createRateLimit } from '../../../runtime/stripe/rate-limit';
import { json, startScriptedServer } from '../../support/scripted-http';
import { intent, row, stripeFor } from './fixtures';

/** A clock that only moves when it is told to; sleepers wake in order of time. */
function fakeHost(): Host & { advance(ms: number): Promise<void>; readonly slept: number[] } {
  let now = 1000;
  const sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  const slept: number[] = [];
  return {
    now: () => now,
    monotonic: () => now,
    random: () => 0.5,
    uuid: () => 'uuid',
    slept,
    sleep: (ms) => {
      slept.push(ms);
      return new Promise((wake) => {
        sleepers.push({ at: now + ms, wake });
      });
    },
    async advance(ms) {
      now += ms;
      for (const { at, wake } of [...sleepers]) if (at <= now) wake();
      for (let i = 0; i < 20; i++) await Promise.resolve();
    },
  };
}

/** Times at which calls were let through, when `count` ask at once and nobody is late. */
async function timesOf(maxRps: number, count: number, endpoint = 'create') {
  const host = fakeHost();
  const mayCall = createRateLimit(maxRps, host);
  const times: number[] = [];
  for (let i = 0; i < count; i++) void mayCall(endpoint).then(() => times.push(host.monotonic()));
  for (let ms = 0; ms < (count / maxRps) * 1000 + 2000; ms++) await host.advance(1);
  return times;
}

it('lets a saved-up fifth of a second through at once, then keeps the rate', async () => {
  const times = await timesOf(10, 13);
  expect(times).toHaveLength(13);
  expect(times.filter((at) => at <= 1001)).toHaveLength(3);
  // Asked at 1000; the first of them took the slot of 800.
  expect(times[12]).toBe(800 + 12 * 100);
});

it('never lets more than 1.2 × the rate and one through in any second', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 60 }), async (maxRps, count) => {
      const times = await timesOf(maxRps, count);
      expect(times).toHaveLength(count);
      for (const from of times) {
        const within = times.filter((at) => at >= from && at < from + 1000).length;
        expect(within).toBeLessThanOrEqual(maxRps * 1.2 + 1);
      }
    }),
    { numRuns: 8 },
  );
});

it('keeps the order of arrival', async () => {
  const host = fakeHost();
  const mayCall = createRateLimit(2, host);
  const order: number[] = [];
  for (let i = 0; i < 5; i++) void mayCall('create').then(() => order.push(i));
  for (let i = 0; i < 30; i++) await host.advance(100);
  expect(order).toEqual([0, 1, 2, 3, 4]);
});

it('counts each endpoint on its own', async () => {
  const host = fakeHost();
  const mayCall = createRateLimit(1, host);
  await mayCall('create');
  await mayCall('confirm');
  expect(host.slept).toEqual([]);
  void mayCall('create');
  expect(host.slept).toHaveLength(1);
});

it('a rate below one a second waits as long as it says', async () => {
  const host = fakeHost();
  const mayCall = createRateLimit(0.5, host);
  await mayCall('create');
  void mayCall('create');
  expect(host.slept[0]).toBe(1800);
});

it('is asked before every request, under the endpoint’s name', async () => {
  const server = await startScriptedServer();
  try {
    const host = fakeHost();
    server.script(json(200, intent()), json(200, intent()));
    const stripe = stripeFor(server, { host, maxRps: 1 });
    await stripe.createIntent(row());
    const second = stripe.createIntent(row());
    expect(host.slept).toEqual([800]);
    expect(server.seen).toHaveLength(1);
    // Another endpoint does not wait behind it.
    await stripe.retrieveIntent(row());
    expect(server.seen).toHaveLength(2);
    server.script(json(200, intent()));
    await host.advance(800);
    expect(await second).toMatchObject({ kind: 'intent' });
    expect(server.seen).toHaveLength(3);
  } finally {
    await server.stop();
  }
});

describe('what was true before the wait', () => {
  it('is asked once more right before the request: nothing is sent when it is not any more', async () => {
    const server = await startScriptedServer();
    try {
      let mine = true;
      const host = {
        ...systemHost,
        sleep: async () => {
          mine = false;
        },
      };
      const stripe = stripeFor(server, { host, maxRps: 0.5 });
      server.script(json(200, intent()));
      const first = await stripe.confirmIntent(row(), () => mine);
      expect(first).toMatchObject({ kind: 'intent' });
      // The second has to wait for its turn, and the lease is lost meanwhile.
      expect(await stripe.confirmIntent(row(), () => mine)).toBe('not_sent');
      expect(server.seen).toHaveLength(1);
    } finally {
      await server.stop();
    }
  });
});
