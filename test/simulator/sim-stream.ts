/** Partitions of a stream: what was published, how far it is checkpointed in the lease table, and who owns it there. */
import type { Delivery, Partition } from '../../runtime/processor/ports';
import type { Life } from './life';

export interface Published {
  readonly delivery: Delivery;
  readonly availableAt: number;
}

export class SimShard {
  readonly published: Published[] = [];
  /** Position of the last finished delivery; 0: none. */
  checkpoint = 0;
  owner: SimPartition | undefined;

  constructor(readonly id: string) {}

  publish(body: unknown, availableAt: number): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const position = String(this.published.length + 1);
    const delivery = { body: new TextEncoder().encode(text), position, partitionKey: 'k' };
    const after = this.published.at(-1)?.availableAt ?? 0;
    this.published.push({ delivery, availableAt: Math.max(after, availableAt) });
  }

  get finished(): boolean {
    return this.checkpoint === this.published.length;
  }
}

/** A shard as one process owns it, or believes to. */
export class SimPartition implements Partition {
  readonly id: string;
  readonly #ending = new AbortController();

  constructor(
    readonly shard: SimShard,
    private readonly life: Life,
    private readonly onCheckpoint: (shard: SimShard, position: number) => void,
  ) {
    this.id = `sim/${shard.id}`;
    shard.owner = this;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** It lies to a holder that was robbed unawares, as the clock of a stalled one does: ownership guards no money. */
  holdsFor(): boolean {
    return !this.signal.aborted;
  }

  lose(): void {
    this.#ending.abort();
  }

  /** As with a renewal: written a little later, and only by the owner of that moment. */
  checkpoint(position: string): void {
    if (this.life.dead || this.signal.aborted) return;
    const reached = Number(position);
    this.onCheckpoint(this.shard, reached);
    this.life.after(this.life.chaos.between(0, 3_300), () => this.write(reached));
  }

  write(reached: number): void {
    if (this.shard.owner === this) this.shard.checkpoint = Math.max(this.shard.checkpoint, reached);
  }
}
