/**
 * Calls that arrive together share one statement. One is under way at a time; what arrives meanwhile waits for the next.
 * Under load it lingers a few milliseconds so that batches form; a lone call is sent at once.
 */
import type { Host } from '../host/host';
import { blamesValues } from './faults';

export interface GroupCommitOptions<Item, Answer> {
  readonly host: Host;
  /** One statement for all; answers in the order of the items. Must be safe to repeat for some of them. */
  readonly run: (items: readonly Item[]) => Promise<Answer[]>;
  /** No two calls that touch the same identity share a statement. */
  readonly identity: (item: Item) => string;
  /** Most items of one statement, unless one call brings more. Default: 500. */
  readonly maxBatch?: number;
  /** Longest wait for company under load, in milliseconds. Default: 40. */
  readonly maxLingerMs?: number;
}

interface Call<Item, Answer> {
  readonly items: readonly Item[];
  readonly identities: ReadonlySet<string>;
  readonly resolve: (answers: Answer[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The time over which arrivals are averaged. */
const RATE_WINDOW_MS = 250;
/** Arrivals that are expected during the longest wait before it is worth waiting. */
const WORTH_WAITING_FOR = 2;
/** Calls that are enough to be sent without waiting for more. */
const ENOUGH = 24;
/** No arrival for this long ends the wait: the burst is over. */
const QUIET_MS = 8;

export class GroupCommit<Item, Answer> {
  private queue: Call<Item, Answer>[] = [];
  private running = false;
  private arrivals = 0;
  /** Arrivals of the last RATE_WINDOW_MS, fading. */
  private recent = 0;
  private recentAt = 0;
  /** Ends a wait. */
  private wake: AbortController | undefined;
  /** Waits in a row that brought no company, and how many of the next ones are left out: a lone caller is not slowed. */
  private lonely = 0;
  private skips = 0;

  constructor(private readonly options: GroupCommitOptions<Item, Answer>) {}

  submit(items: readonly Item[]): Promise<Answer[]> {
    if (items.length === 0) return Promise.resolve([]);
    this.arrivals += 1;
    this.recent = this.fade() + 1;
    return new Promise((resolve, reject) => {
      const identities = new Set(items.map(this.options.identity));
      this.queue.push({ items, identities, resolve, reject });
      if (this.queue.length >= ENOUGH) this.wake?.abort();
      if (!this.running) {
        this.running = true;
        void this.drain();
      }
    });
  }

  private async drain(): Promise<void> {
    // Calls of the same turn of the event loop come first, then those of the linger.
    await Promise.resolve();
    while (this.queue.length > 0) {
      await this.linger();
      await this.send(this.take());
    }
    this.running = false;
  }

  private fade(): number {
    const now = this.options.host.monotonic();
    const faded = this.recent * Math.exp((this.recentAt - now) / RATE_WINDOW_MS);
    this.recentAt = now;
    return faded;
  }

  private async linger(): Promise<void> {
    const { host, maxLingerMs = 40 } = this.options;
    this.recent = this.fade();
    if ((this.recent / RATE_WINDOW_MS) * maxLingerMs < WORTH_WAITING_FOR) return;
    if (this.skips > 0) {
      this.skips -= 1;
      return;
    }
    const started = host.monotonic();
    const first = this.arrivals;
    for (let before = -1; before !== this.arrivals && this.queue.length < ENOUGH; ) {
      if (host.monotonic() - started >= maxLingerMs) break;
      before = this.arrivals;
      this.wake = new AbortController();
      await host.sleep(QUIET_MS, this.wake.signal);
      this.wake = undefined;
    }
    this.lonely = this.arrivals === first ? Math.min(this.lonely + 1, 4) : 0;
    this.skips = 2 ** this.lonely - 1;
  }

  /** As many calls as fit, in order of arrival; a call that touches an identity of an earlier one waits. */
  private take(): Call<Item, Answer>[] {
    const { maxBatch = 500 } = this.options;
    const taken: Call<Item, Answer>[] = [];
    const left: Call<Item, Answer>[] = [];
    const seen = new Set<string>();
    let size = 0;
    for (const call of this.queue) {
      const fits = size === 0 || size + call.items.length <= maxBatch;
      const apart = [...call.identities].every((identity) => !seen.has(identity));
      // What waits also holds back later calls of its identities, so that none is overtaken.
      for (const identity of call.identities) seen.add(identity);
      if (!fits || !apart) {
        left.push(call);
        continue;
      }
      taken.push(call);
      size += call.items.length;
    }
    this.queue = left;
    return taken;
  }

  private async send(calls: readonly Call<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.options.run(calls.flatMap((call) => call.items));
      let from = 0;
      for (const call of calls) {
        call.resolve(answers.slice(from, from + call.items.length));
        from += call.items.length;
      }
    } catch (error) {
      // One bad value must not fail its neighbours: each call is sent alone, and fails alone.
      if (calls.length > 1 && blamesValues(error)) for (const call of calls) await this.send([call]);
      else for (const call of calls) call.reject(error);
    }
  }
}
