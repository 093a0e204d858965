/** One event hub: its partitions, and who reads them. */
import { EventLog, type StoredEvent } from './event-log';
import { partitionOfKey } from './partition-key';
import type { PartitionLink } from './partition-link';

export interface EventHubOptions {
  /** Default: 4. */
  readonly partitions?: number;
  /** Beside `$Default`, which is always there. Default: none. */
  readonly consumerGroups?: readonly string[];
  /** Events that each partition keeps; older ones are dropped. Default: 10,000. */
  readonly capacity?: number;
}

export class EventHub {
  readonly partitions: ReadonlyMap<string, EventLog>;
  readonly createdAt: number;
  /** Links by group and partition, newest last. */
  readonly links = new Set<PartitionLink>();
  private readonly groups: ReadonlySet<string>;
  private turn = 0;

  constructor(
    readonly name: string,
    options: EventHubOptions,
    now: () => number,
  ) {
    const { partitions = 4, consumerGroups = [], capacity = 10_000 } = options;
    if (!Number.isInteger(partitions) || partitions < 1 || partitions > 32) {
      throw new Error(`The hub ${name} has ${partitions} partitions; allowed: 1 to 32.`);
    }
    this.createdAt = now();
    this.groups = new Set(['$default', ...consumerGroups.map((group) => group.toLowerCase())]);
    this.partitions = new Map(
      Array.from({ length: partitions }, (_, index) => [String(index), new EventLog(capacity, now)]),
    );
  }

  hasGroup(group: string): boolean {
    return this.groups.has(group.toLowerCase());
  }

  /** The partition of a key, or the next one in turn without a key. */
  choose(key: string | undefined): string {
    if (key !== undefined) return String(partitionOfKey(key, this.partitions.size));
    this.turn = (this.turn + 1) % this.partitions.size;
    return String(this.turn);
  }

  append(partition: string, message: StoredEvent['message'], bytes: number): StoredEvent {
    const log = this.partitions.get(partition);
    if (log === undefined) throw new Error(`The hub ${this.name} has no partition ${partition}.`);
    return log.append(message, bytes);
  }

  pump(partition?: string): void {
    for (const link of this.links) if (partition === undefined || link.partition === partition) link.pump();
  }
}
