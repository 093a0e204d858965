/**
 * The low-water mark of one partition: the highest position below which everything is finished. Pure.
 * Deliveries are added in partition order and finish in any order.
 */
export interface LowWaterEntry {
  readonly position: string;
  /** The last delivery of a batch. */
  readonly endsBatch: boolean;
  finished: boolean;
}

export interface Mark {
  readonly position: string;
  /** Deliveries the mark passed since the last call. */
  readonly passed: number;
  /** The last position passed that ends a batch, if any was passed. */
  readonly batchEnd: string | undefined;
}

export class LowWater {
  #entries: LowWaterEntry[] = [];
  #head = 0;
  #last: string | undefined;

  add(position: string, endsBatch: boolean): LowWaterEntry {
    const entry: LowWaterEntry = { position, endsBatch, finished: false };
    this.#entries.push(entry);
    return entry;
  }

  /** Deliveries that the mark has not passed. */
  get open(): number {
    return this.#entries.length - this.#head;
  }

  /** The highest position passed so far. */
  get position(): string | undefined {
    return this.#last;
  }

  /** Moves the mark over everything finished. Undefined when it did not move. */
  advance(): Mark | undefined {
    let passed = 0;
    let batchEnd: string | undefined;
    for (let entry = this.#entries[this.#head]; entry?.finished; entry = this.#entries[this.#head]) {
      this.#head++;
      passed++;
      this.#last = entry.position;
      if (entry.endsBatch) batchEnd = entry.position;
    }
    if (passed === 0 || this.#last === undefined) return undefined;
    this.#compact();
    return { position: this.#last, passed, batchEnd };
  }

  /** Forgets what was passed, now and then, so that the list does not grow with the stream. */
  #compact(): void {
    if (this.#head < 1024 || this.#head * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }
}
