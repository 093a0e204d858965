/** A consumer that finishes everything at once, or hands it on, and remembers what it was given. */
import type { Delivery, Metrics, Partition, PartitionConsumer } from '../../runtime/processor/ports';

export interface Recorded {
  readonly partition: Partition;
  readonly delivery: Delivery;
  readonly text: string;
}

export class RecordingConsumer implements PartitionConsumer {
  readonly records: Recorded[] = [];
  readonly partitions = new Set<Partition>();
  /** Deliveries of which this says no are kept unfinished: nothing at or after them is checkpointed. */
  finishes: (recorded: Recorded) => boolean = () => true;
  /** Called before a batch is taken in. */
  onDeliver: (partition: Partition, batch: readonly Delivery[]) => Promise<void> = async () => undefined;
  private readonly stuck = new Set<Partition>();

  /** @param inner to hand deliveries on to; it decides what is finished and checkpointed */
  constructor(private readonly inner?: PartitionConsumer) {}

  async deliver(partition: Partition, batch: readonly Delivery[]): Promise<void> {
    this.partitions.add(partition);
    await this.onDeliver(partition, batch);
    for (const delivery of batch) {
      const recorded = { partition, delivery, text: Buffer.from(delivery.body).toString() };
      this.records.push(recorded);
      if (this.inner) continue;
      if (!this.finishes(recorded)) this.stuck.add(partition);
      if (!this.stuck.has(partition)) partition.checkpoint(delivery.position);
    }
    await this.inner?.deliver(partition, batch);
  }

  async finished(partition: Partition): Promise<boolean> {
    if (this.inner) return this.inner.finished(partition);
    return !partition.signal.aborted && !this.stuck.has(partition);
  }

  get texts(): string[] {
    return this.records.map((record) => record.text);
  }

  shardsRead(): Set<string> {
    return new Set(this.records.map((record) => record.partition.id));
  }
}

/** Metrics that keep their values; a counter is keyed `name{label values}`. */
export class RecordingMetrics implements Metrics {
  readonly counters = new Map<string, number>();
  readonly gauges = new Map<string, number>();
  /** How often each gauge was set. */
  readonly settings = new Map<string, number>();

  count: Metrics['count'] = (name, labels, by = 1) => {
    const key = labels ? `${name}{${Object.values(labels).join(',')}}` : name;
    this.counters.set(key, (this.counters.get(key) ?? 0) + by);
  };

  gauge: Metrics['gauge'] = (name, value) => {
    this.gauges.set(name, value);
    this.settings.set(name, (this.settings.get(name) ?? 0) + 1);
  };

  counted(key: string): number {
    return this.counters.get(key) ?? 0;
  }
}
