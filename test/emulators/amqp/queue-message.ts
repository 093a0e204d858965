/** A message of a queue as it goes over the wire. */
import type { AmqpMessage } from './event-log';
import type { QueueMessage } from './queue-entry';
import { rhea } from './rhea';

const STATES = { active: 0, locked: 0, deferred: 1, scheduled: 2 };

/** With what the service says of it. */
export function annotated(entry: QueueMessage): AmqpMessage {
  const { types } = rhea();
  const { message, sequenceNumber, enqueuedAt, lockedUntil, deadLetterSource, state, deliveryCount } = entry;
  return {
    ...message,
    delivery_count: deliveryCount,
    message_annotations: {
      ...message.message_annotations,
      'x-opt-sequence-number': types.wrap_long(sequenceNumber),
      'x-opt-enqueued-time': types.wrap_timestamp(enqueuedAt),
      'x-opt-message-state': types.wrap_int(STATES[state]),
      ...(lockedUntil === undefined ? {} : { 'x-opt-locked-until': types.wrap_timestamp(lockedUntil) }),
      ...(deadLetterSource === undefined ? {} : { 'x-opt-deadletter-source': deadLetterSource }),
    },
  };
}

/** For answers of `$management`, which carry whole messages as bytes. */
export const encoded = (entry: QueueMessage): Buffer => rhea().message.encode(annotated(entry) as never);

export const decoded = (bytes: Buffer): AmqpMessage =>
  rhea().message.decode(Buffer.from(bytes)) as unknown as AmqpMessage;
