/** One process's hold on time: nothing reaches it while it is paused, and nothing ever again when it is dead. */
import type { Host } from '../../runtime/host/host';
import type { Clock } from './clock';
import type { Random } from './random';

export class Life implements Host {
  dead = false;
  /** Called before an answer of the ledger or of Stripe reaches the process: it may die or stall just then. */
  onAnswer: () => void = () => undefined;
  #pausedUntil = 0;
  #ids = 0;

  constructor(
    readonly name: string,
    readonly clock: Clock,
    readonly chaos: Random,
  ) {}

  /** Runs it in this process after the time, or when the pause is over. */
  after(ms: number, run: () => void): void {
    this.clock.after(ms, () => {
      if (this.dead) return;
      if (this.#pausedUntil > this.clock.now) this.after(this.#pausedUntil - this.clock.now, run);
      else run();
    });
  }

  answer(ms: number, run: () => void): void {
    this.clock.after(ms, () => {
      if (!this.dead) this.onAnswer();
      this.after(0, run);
    });
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.clock.now + ms);
  }

  now = () => 1_700_000_000_000 + this.clock.now;
  monotonic = () => this.clock.now;
  random = () => this.chaos.next();
  uuid = () => `${this.name}-${++this.#ids}`;

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      signal?.addEventListener('abort', wake, { once: true });
      this.after(ms, wake);
    });
  }
}
