/** The events of one partition: appended, numbered, read from a position, dropped by count when there are too many. */

/** A decoded AMQP message; its sections are kept as they came. */
export type AmqpMessage = Record<string, unknown> & { readonly message_annotations?: Record<string, unknown> };

export interface StoredEvent {
  readonly sequenceNumber: number;
  /** Opaque to clients; here the byte position, as the service's used to be. */
  readonly offset: string;
  /** Milliseconds since the epoch. */
  readonly enqueuedAt: number;
  readonly message: AmqpMessage;
}

/** Where a consumer starts: `field > value`, or `>=` when inclusive. */
export interface StartPosition {
  readonly field: 'offset' | 'sequence-number' | 'enqueued-time';
  readonly inclusive: boolean;
  /** `@latest` only for an offset. */
  readonly value: number | '@latest';
}

export class EventLog {
  private events: StoredEvent[] = [];
  /** Dropped by retention: the sequence number of the oldest that is kept. */
  private first = 0;
  private nextOffset = 0;
  private lastEnqueued: StoredEvent | undefined;

  constructor(
    /** Events kept at most; older ones are dropped, as retention does. */
    private readonly capacity: number,
    private readonly now: () => number,
  ) {}

  append(message: AmqpMessage, bytes: number): StoredEvent {
    const sequenceNumber = this.first + this.events.length;
    const event = { sequenceNumber, offset: String(this.nextOffset), enqueuedAt: this.now(), message };
    this.nextOffset += bytes;
    this.lastEnqueued = event;
    this.events.push(event);
    // In pieces, so that a long run does not copy the array at every event.
    if (this.events.length >= 2 * this.capacity) this.dropTo(this.capacity);
    return event;
  }

  /** Sequence number of the oldest event that can still be read; of the next one when there is none. */
  get begin(): number {
    return Math.max(this.first, this.end - this.capacity);
  }

  /** Sequence number that the next event gets. */
  get end(): number {
    return this.first + this.events.length;
  }

  /** The newest event, also when it can no longer be read. */
  get last(): StoredEvent | undefined {
    return this.lastEnqueued;
  }

  /** The event with the number, or the oldest after it; undefined behind the end. */
  at(sequenceNumber: number): StoredEvent | undefined {
    return this.events[Math.max(sequenceNumber, this.begin) - this.first];
  }

  /** Forgets all that is stored, as the end of the retention period does. */
  expire(): void {
    this.first = this.end;
    this.events = [];
  }

  /** Sequence number of the first event at or after the position. */
  find({ field, inclusive, value }: StartPosition): number {
    if (value === '@latest') return this.end;
    const of = (event: StoredEvent): number => {
      if (field === 'offset') return Number(event.offset);
      return field === 'sequence-number' ? event.sequenceNumber : event.enqueuedAt;
    };
    let low = this.begin - this.first;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = of(this.events[middle]!);
      if (inclusive ? found >= value : found > value) high = middle;
      else low = middle + 1;
    }
    return this.first + low;
  }

  private dropTo(count: number): void {
    const dropped = this.events.length - count;
    this.events = this.events.slice(dropped);
    this.first += dropped;
  }
}
