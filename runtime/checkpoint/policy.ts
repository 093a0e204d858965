/**
 * Which finished position is eligible to be written, by checkpoint mode. How it is written is the source's affair.
 */
import type { CHOICES } from '../contract/setting-values';
import type { Mark } from './low-water';

export type CheckpointMode = (typeof CHOICES.CHECKPOINT_MODE.choices)[number];

export interface CheckpointOptions {
  /**
   * batch: the end of each finished batch. record: every finished delivery. time: the mark, at most once per
   * interval, and that soon after the last delivery too. count: the mark, after so many deliveries. manual: only at the
   * end of a partition and on drain.
   */
  readonly mode: CheckpointMode;
  /** Milliseconds between checkpoints in mode `time`. */
  readonly intervalMs: number;
  /** Deliveries between checkpoints in mode `count`. */
  readonly count: number;
}

/** One per partition. `now` is monotonic milliseconds. */
export class CheckpointPolicy {
  readonly #options: CheckpointOptions;
  #passed = 0;
  #since: number;
  /** A mark was not eligible yet, and becomes so by time alone. */
  #waits = false;

  constructor(options: CheckpointOptions, now: number) {
    this.#options = options;
    this.#since = now;
  }

  /** The position that is eligible now, if any. */
  eligible(mark: Mark, now: number): string | undefined {
    switch (this.#options.mode) {
      case 'record':
        return mark.position;
      case 'batch':
        return mark.batchEnd;
      case 'manual':
        return undefined;
      case 'count':
        this.#passed += mark.passed;
        if (this.#passed < this.#options.count) return undefined;
        this.#passed = 0;
        return mark.position;
      case 'time':
        this.#waits = now - this.#since < this.#options.intervalMs;
        if (this.#waits) return undefined;
        this.#since = now;
        return mark.position;
    }
  }

  /** In how many milliseconds the mark is to be asked for again, though no delivery may come; undefined: never. */
  askAgainIn(now: number): number | undefined {
    return this.#waits ? Math.max(0, this.#since + this.#options.intervalMs - now) : undefined;
  }
}
