/**
 * Every source of nondeterminism behind one interface: only this room touches the clock, timers, randomness
 * and signals, so that a simulator can own them.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

export interface Host {
  /** Milliseconds since the epoch. For people and logs, never for deadlines. */
  now(): number;
  /** Milliseconds on a clock that never goes back. */
  monotonic(): number;
  /** Resolves after the time, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A number in [0, 1). */
  random(): number;
  uuid(): string;
}

export const systemHost: Host = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    if (signal?.aborted) return;
    await delay(Math.max(0, ms), undefined, signal ? { signal } : {}).catch(() => undefined);
  },
  random: () => Math.random(),
  uuid: () => randomUUID(),
};
