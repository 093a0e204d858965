/** A partition that a test owns: it keeps the checkpoints it is given, and can be lost. */
import type { Delivery, Partition } from '../../runtime/processor/ports';

export class FakePartition implements Partition {
  readonly checkpoints: string[] = [];
  readonly #lost = new AbortController();
  /** What `holdsFor` answers. */
  holds = true;

  constructor(readonly id = 'test/stream/0') {}

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  holdsFor(): boolean {
    return this.holds && !this.signal.aborted;
  }

  checkpoint(position: string): void {
    if (this.signal.aborted) throw new Error(`A checkpoint of ${this.id} after it was lost`);
    this.checkpoints.push(position);
  }

  lose(): void {
    this.#lost.abort();
  }

  get position(): string | undefined {
    return this.checkpoints.at(-1);
  }
}

/** Deliveries whose bodies are JSON of the given values, at the positions from `first` on. */
export function deliveries(bodies: readonly unknown[], first = 1): Delivery[] {
  return bodies.map((body, index) => ({
    body: new TextEncoder().encode(JSON.stringify(body)),
    position: String(first + index),
    partitionKey: 'k',
  }));
}
