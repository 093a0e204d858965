import { setMaxListeners } from 'node:events';

/** The emulator's time: the real clock plus whatever a test has added. The only file here that touches timers. */
export class EmulatorClock {
  #offsetMs = 0;
  readonly #stopped = new AbortController();

  constructor() {
    // Every request that takes its time listens to it, which is no leak.
    setMaxListeners(0, this.#stopped.signal);
  }

  /** Milliseconds since the epoch, with everything that `advance` has added. */
  now(): number {
    return Date.now() + this.#offsetMs;
  }

  /** Whole seconds, as in Stripe's `created`. */
  seconds(): number {
    return Math.floor(this.now() / 1000);
  }

  /** Moves the clock forward: idempotency keys age, the search index catches up, rate limits refill. */
  advance(ms: number): void {
    if (!Number.isFinite(ms) || ms < 0) {
      throw new RangeError(`clock.advance: ${ms} is not a time to go forward by; give milliseconds, 0 or more`);
    }
    this.#offsetMs += ms;
  }

  /** Waits real time. Resolves at once when the emulator closes. */
  sleep(ms: number): Promise<void> {
    const signal = this.#stopped.signal;
    if (ms <= 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
    });
  }

  /** Ends every wait, now and later. */
  stop(): void {
    this.#stopped.abort();
  }

  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }
}
