/** A host whose time moves only when a test moves it. */
import type { Host } from '../../runtime/host/host';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

export class FakeHost implements Host {
  private time = 0;
  private readonly sleepers = new Set<Sleeper>();
  private ids = 0;

  now = () => 1_700_000_000_000 + this.time;
  monotonic = () => this.time;
  random = () => 0.5;
  uuid = () => `id-${++this.ids}`;

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper: Sleeper = { at: this.time + Math.max(0, ms), wake };
      this.sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  /** Moves time on, waking sleepers in order; whatever they set off runs before the next one wakes. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    await this.settle();
    while (await this.wakeNext(end));
    this.time = end;
  }

  /** Moves time on from sleeper to sleeper until the condition holds; throws when it does not within that time. */
  async until(condition: () => boolean, withinMs = 3_600_000): Promise<void> {
    const end = this.time + withinMs;
    await this.settle();
    while (!condition()) {
      if (!(await this.wakeNext(end))) {
        throw new Error(`Nobody sleeps any more within ${withinMs} ms, and it does not hold that ${condition}`);
      }
    }
  }

  /** Lets everything run that does not wait for time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** The event loop stands still: time passes, and nobody wakes until `advance`. */
  stall(ms: number): void {
    this.time += ms;
  }

  /** How many sleep now. */
  get sleeping(): number {
    return this.sleepers.size;
  }

  private async wakeNext(end: number): Promise<boolean> {
    const next = [...this.sleepers].filter((sleeper) => sleeper.at <= end).sort((a, b) => a.at - b.at)[0];
    if (!next) return false;
    this.time = Math.max(this.time, next.at);
    next.wake();
    await this.settle();
    return true;
  }
}
