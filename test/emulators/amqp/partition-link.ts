/** A consumer's link to one partition: where it stands, what it may send, who displaces it. */
import { type AmqpError, type Sender, type Typed, types } from 'rhea';
import type { EventHub } from './event-hub';
import type { StoredEvent } from './event-log';
import type { AmqpFaults } from './faults';
import type { Outlet } from './links';

const RUNTIME_METRIC = 'com.microsoft:enable-receiver-runtime-metric';

export interface PartitionLinkOptions {
  readonly hub: EventHub;
  readonly group: string;
  readonly partition: string;
  /** Sequence number of the first event to send. */
  readonly start: number;
  readonly sender: Sender;
  readonly faults: AmqpFaults;
  readonly now: () => number;
}

export class PartitionLink implements Outlet {
  readonly partition: string;
  readonly group: string;
  /** Undefined: the link has none, and any link with one displaces it. */
  readonly epoch: number | undefined;
  /** Name that the client gave its receiver. */
  readonly receiverName: string | undefined;
  private cursor: number;
  private slowed: NodeJS.Timeout | undefined;
  private readonly wantsMetric: boolean;

  constructor(private readonly options: PartitionLinkOptions) {
    const { sender, start, partition, group } = options;
    this.partition = partition;
    this.group = group.toLowerCase();
    this.cursor = start;
    const { 'com.microsoft:epoch': epoch, 'com.microsoft:receiver-name': name } = sender.properties ?? {};
    this.epoch = epoch === undefined || epoch === null ? undefined : Number(epoch);
    this.receiverName = name === undefined ? undefined : String(name);
    this.wantsMetric = [sender.desired_capabilities].flat().includes(RUNTIME_METRIC);
  }

  pump(): void {
    const { hub, sender, faults, partition } = this.options;
    if (!sender.is_open() || faults.isSilent({ hub: hub.name, partition }) || this.slowed !== undefined) return;
    const log = hub.partitions.get(partition);
    while (log !== undefined && sender.sendable()) {
      const event = log.at(this.cursor);
      if (event === undefined) return;
      this.cursor = event.sequenceNumber + 1;
      this.send(event, log.last ?? event);
      if (faults.delayMs > 0) {
        this.rest(faults.delayMs);
        return;
      }
    }
  }

  drain(): void {
    this.pump();
    this.options.sender.set_drained(true);
  }

  closed(): void {
    clearTimeout(this.slowed);
    this.options.hub.links.delete(this);
  }

  /** Ends the link from the service's side. */
  end(error: AmqpError): void {
    this.closed();
    if (this.options.sender.is_open()) this.options.sender.close(error);
  }

  private rest(milliseconds: number): void {
    this.slowed = setTimeout(() => {
      this.slowed = undefined;
      this.pump();
    }, milliseconds);
  }

  private send(event: StoredEvent, last: StoredEvent): void {
    const annotations: Record<string, Typed | unknown> = {
      ...event.message.message_annotations,
      'x-opt-sequence-number': types.wrap_long(event.sequenceNumber),
      'x-opt-offset': event.offset,
      'x-opt-enqueued-time': types.wrap_timestamp(event.enqueuedAt),
    };
    const message = {
      ...event.message,
      message_annotations: annotations,
      ...(this.wantsMetric ? { delivery_annotations: this.metric(last) } : {}),
    };
    // Settled before it is sent: nobody settles an event, and an open one would stay in the session's window of 2,048.
    this.options.sender.send(message as never).update(true);
  }

  private metric(last: StoredEvent): Record<string, unknown> {
    return {
      last_enqueued_sequence_number: types.wrap_long(last.sequenceNumber),
      last_enqueued_offset: last.offset,
      last_enqueued_time_utc: types.wrap_timestamp(last.enqueuedAt),
      runtime_info_retrieval_time_utc: types.wrap_timestamp(this.options.now()),
    };
  }
}
