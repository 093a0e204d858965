/** One event hub: its partitions, and who reads them. */
import { type AmqpMessage, EventLog, type StoredEvent } from './event-log';
import { partitionOfKey } from './partition-key';

export interface EventHubOptions {
  /** 1 to 32. Default: 4. */
  readonly partitions?: number;
  /** Beside `$Default`, which is always there. Default: none. */
  readonly consumerGroups?: readonly string[];
  /** Newest events of each partition that can be read; older ones are gone, as after retention. Default: 10,000. */
  readonly capacity?: number;
}

/** A client's link that reads a partition. */
export interface HubLink {
  readonly partition: string;
  /** In lower case. */
  readonly group: string;
  /** Undefined: none, and any link with one displaces it. */
  readonly epoch: number | undefined;
  /** Name that the client gave its receiver. */
  readonly receiverName: string | undefined;
  /** Events that were sent to it. */
  readonly sent: number;
  /** Sends what there is and what it has credit for. */
  pump(): void;
  /** Closes the link from the service's side. */
  end(error: LinkError): void;
}

export interface LinkError {
  readonly condition: string;
  readonly description: string;
}

const NAME = /^[a-z0-9]([a-z0-9._-]{0,254}[a-z0-9])?$/i;
const MOST_PARTITIONS = 32;

export class EventHub {
  /** By id, `0` to the number of partitions − 1. */
  readonly partitions: ReadonlyMap<string, EventLog>;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  private readonly groups: ReadonlySet<string>;
  private readonly readers = new Set<HubLink>();
  private turn = 0;

  /** @throws when the name, the number of partitions or the capacity is none that a hub can have */
  constructor(
    readonly name: string,
    options: EventHubOptions,
    now: () => number,
  ) {
    const { partitions = 4, consumerGroups = [], capacity = 10_000 } = options;
    if (!NAME.test(name)) {
      throw new Error(`A hub cannot be called '${name}': 1 to 256 letters, digits, '.', '-' or '_', not at the ends.`);
    }
    if (!Number.isInteger(partitions) || partitions < 1 || partitions > MOST_PARTITIONS) {
      throw new Error(`The hub ${name} has ${partitions} partitions; allowed: 1 to ${MOST_PARTITIONS}.`);
    }
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw new Error(`The hub ${name} has the capacity ${capacity}; allowed: whole numbers from 1.`);
    }
    this.createdAt = now();
    this.groups = new Set(['$default', ...consumerGroups.map((group) => group.toLowerCase())]);
    this.partitions = new Map(
      Array.from({ length: partitions }, (_, index) => [String(index), new EventLog(capacity, now)]),
    );
  }

  /** Links that read, oldest first. */
  get links(): ReadonlySet<HubLink> {
    return this.readers;
  }

  hasGroup(group: string): boolean {
    return this.groups.has(group.toLowerCase());
  }

  /** The partition of a key, as the service hashes it; the next one in turn without a key. */
  choose(key: string | undefined): string {
    if (key !== undefined) return String(partitionOfKey(key, this.partitions.size));
    this.turn = (this.turn + 1) % this.partitions.size;
    return String(this.turn);
  }

  /**
   * Puts an event into a partition; `pump` tells the readers.
   * @param bytes of the encoded message: by as much the offset grows
   * @throws when there is no such partition
   */
  append(partition: string, message: AmqpMessage, bytes: number): StoredEvent {
    const log = this.partitions.get(partition);
    if (log === undefined) throw new Error(`The hub ${this.name} has no partition ${partition}.`);
    return log.append(message, bytes);
  }

  pump(partition?: string): void {
    for (const link of this.readers) if (partition === undefined || link.partition === partition) link.pump();
  }

  attach(link: HubLink): void {
    this.readers.add(link);
  }

  detach(link: HubLink): void {
    this.readers.delete(link);
  }
}
