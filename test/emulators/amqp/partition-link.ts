/** A consumer's link to one partition: where it stands, what it may send, who displaces it. */
import type { Sender } from 'rhea';
import type { EventHub, HubLink, LinkError } from './event-hub';
import type { StoredEvent } from './event-log';
import type { AmqpFaults, Place } from './faults';
import { Flow } from './flow';
import type { Outlet } from './links';
import { rhea } from './rhea';
import { Room } from './room';

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

export class PartitionLink implements Outlet, HubLink {
  readonly place: Place;
  readonly partition: string;
  readonly group: string;
  readonly epoch: number | undefined;
  readonly receiverName: string | undefined;
  sent = 0;
  private readonly room: Room;
  private readonly flow: Flow;
  private cursor: number;
  private readonly wantsMetric: boolean;

  constructor(private readonly options: PartitionLinkOptions) {
    const { hub, sender, start, partition, group, faults } = options;
    this.room = new Room(sender);
    this.place = { entity: hub.name, partition };
    this.flow = new Flow({ room: this.room, place: this.place, faults, sendNext: () => this.sendNext() });
    this.partition = partition;
    this.group = group.toLowerCase();
    this.cursor = start;
    const { 'com.microsoft:epoch': epoch, 'com.microsoft:receiver-name': name } = sender.properties ?? {};
    this.epoch = epoch === undefined || epoch === null ? undefined : Number(epoch);
    this.receiverName = name === undefined ? undefined : String(name);
    this.wantsMetric = [sender.desired_capabilities].flat().includes(RUNTIME_METRIC);
  }

  pump(): void {
    this.flow.pump();
  }

  drain(): void {
    this.flow.drain();
  }

  stall(): void {
    this.flow.stall();
  }

  closed(): void {
    this.flow.stop();
    this.options.hub.detach(this);
  }

  end(error: LinkError): void {
    this.closed();
    if (this.options.sender.is_open()) this.options.sender.close(error);
  }

  private sendNext(): boolean {
    const log = this.options.hub.partitions.get(this.partition);
    const event = log?.at(this.cursor);
    if (event === undefined) return false;
    this.cursor = event.sequenceNumber + 1;
    this.room.use();
    this.sent += 1;
    this.send(event, log?.last ?? event);
    return true;
  }

  private send(event: StoredEvent, last: StoredEvent): void {
    const { types } = rhea();
    const message = {
      ...event.message,
      message_annotations: {
        ...event.message.message_annotations,
        'x-opt-sequence-number': types.wrap_long(event.sequenceNumber),
        'x-opt-offset': event.offset,
        'x-opt-enqueued-time': types.wrap_timestamp(event.enqueuedAt),
      },
      ...(this.wantsMetric ? { delivery_annotations: this.metric(last) } : {}),
    };
    // Settled before it is sent: nobody settles an event, and an open one would stay in the session's window of 2,048.
    this.options.sender.send(message as never).update(true);
  }

  private metric(last: StoredEvent): Record<string, unknown> {
    const { types } = rhea();
    return {
      last_enqueued_sequence_number: types.wrap_long(last.sequenceNumber),
      last_enqueued_offset: last.offset,
      last_enqueued_time_utc: types.wrap_timestamp(last.enqueuedAt),
      runtime_info_retrieval_time_utc: types.wrap_timestamp(this.options.now()),
    };
  }
}
