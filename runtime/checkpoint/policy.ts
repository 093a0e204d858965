/**
 * Which finished position is eligible to be written, by checkpoint mode. How it is written is the source's affair.
 */
import type { Mark } from './low-water';

export const CHECKPOINT_MODES = ['batch', 'record', 'time', 'count', 'manual'] as const;
export type CheckpointMode = (typeof CHECKPOINT_MODES)[number];

export interface CheckpointOptions {
  /**
   * batch: the end of each finished batch. record: every finished delivery. time: the mark, at most once per
   * interval. count: the mark, after so many deliveries. manual: only at the end of a partition and on drain.
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
        if (now - this.#since < this.#options.intervalMs) return undefined;
        this.#since = now;
        return mark.position;
    }
  }
}
