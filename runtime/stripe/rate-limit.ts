/**
 * The worker's share of Stripe's rate limit, kept for each endpoint on its own.
 *
 * A token bucket without a timer of its own: each call takes the next free slot and waits for it, in order of arrival.
 * A quiet endpoint saves up at most a fifth of a second, so any one second sees at most 1.2 × the rate.
 */
import type { Host } from '../host/host';

const SAVED_UP_MS = 200;

/** Resolves when the endpoint may be called. Never rejects. `maxRps` may be a fraction. */
export function createRateLimit(maxRps: number, host: Host): (endpoint: string) => Promise<void> {
  if (!(maxRps > 0) || !Number.isFinite(maxRps)) {
    throw new Error(`maxRps is ${maxRps}; allowed is a number above 0, in requests a second for each endpoint`);
  }
  const gapMs = 1000 / maxRps;
  const nextSlot = new Map<string, number>();
  return async (endpoint) => {
    const now = host.monotonic();
    const slot = Math.max(nextSlot.get(endpoint) ?? 0, now - SAVED_UP_MS);
    nextSlot.set(endpoint, slot + gapMs);
    if (slot > now) await host.sleep(slot - now);
  };
}
