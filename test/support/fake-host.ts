/** A Host whose clock moves only when the test says so, and whose random numbers are the same in every run. */
import type { Host } from '../../runtime/host/host';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Far in the past, so that nobody mistakes it for the real clock. */
const EPOCH_MS = Date.UTC(2020, 0, 1);

export class FakeHost implements Host {
  #elapsed = 0;
  #seed: number;
  #ids = 0;
  #sleepers: Sleeper[] = [];

  constructor(seed = 1) {
    this.#seed = seed;
  }

  now(): number {
    return EPOCH_MS + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  /** Numerical Recipes' linear congruential generator: good enough for jitter. */
  random(): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#seed / 2 ** 32;
  }

  uuid(): string {
    return `00000000-0000-4000-8000-${String(++this.#ids).padStart(12, '0')}`;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const sleeper: Sleeper = { at: this.#elapsed + Math.max(0, ms), wake: done };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  /** How many sleep now. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  /** Lets everything run that does not wait for the clock. */
  async settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves the clock, waking sleepers at their time and in their order. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await this.settle();
    while (await this.#wakeNext(end));
    this.#elapsed = end;
    await this.settle();
  }

  /** Moves the clock from sleeper to sleeper until the condition holds; throws after `withinMs` of the fake clock. */
  async until(condition: () => boolean, withinMs = 3_600_000): Promise<void> {
    const end = this.#elapsed + withinMs;
    await this.settle();
    while (!condition()) {
      if (!(await this.#wakeNext(end))) {
        throw new Error(`The condition did not hold within ${withinMs} ms of the fake clock: ${condition}`);
      }
    }
  }

  async #wakeNext(end: number): Promise<boolean> {
    const first = this.#sleepers.reduce<Sleeper | undefined>(
      (earliest, sleeper) => (earliest === undefined || sleeper.at < earliest.at ? sleeper : earliest),
      undefined,
    );
    if (first === undefined || first.at > end) return false;
    this.#elapsed = Math.max(this.#elapsed, first.at);
    first.wake();
    await this.settle();
    return true;
  }
}
