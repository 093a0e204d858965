import { seededRandom } from '../../stacks/local/random';

/** Numbers that follow from a seed alone. */
export class Random {
  /** In [0, 1). */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seededRandom((seed * 2_654_435_761) >>> 0);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Whole, from low to high, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)] as T;
  }

  /** Mostly short, now and then very long. */
  delay(shortMs: number, longMs: number, longOnes: number): number {
    return this.chance(longOnes) ? this.between(shortMs, longMs) : this.between(1, shortMs);
  }
}
