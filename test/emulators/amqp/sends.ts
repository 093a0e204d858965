/** What comes in on a link on which a client sends: the messages of it, and the answer to it. */
import type { LinkError } from './event-hub';
import type { AmqpMessage } from './event-log';
import type { AmqpFaults, Place } from './faults';
import type { Incoming } from './links';
import { rhea } from './rhea';

const BUSY: LinkError = {
  condition: 'com.microsoft:server-busy',
  description: 'The request was terminated because the entity is being throttled. Please wait 4 seconds and try again.',
};

function tooLarge(bytes: number): LinkError {
  const description = `The received message (size:${bytes}) exceeds the limit (${MAX_MESSAGE_BYTES}) currently allowed on the link.`;
  return { condition: 'amqp:link:message-size-exceeded', description };
}

/** What createBatch() of the clients takes as the limit. */
export const MAX_MESSAGE_BYTES = 1_048_576;

export interface ReceivedMessage {
  readonly message: AmqpMessage;
  /** Of the encoded message. */
  readonly bytes: number;
}

/** What one send brings. */
export interface Received {
  readonly messages: readonly ReceivedMessage[];
  /** Annotations of the whole: of the batch's envelope, or of the only message. */
  readonly annotations: Readonly<Record<string, unknown>>;
  /** Of the whole, encoded. */
  readonly bytes: number;
}

export function receivedOf({ batch, message }: Incoming): Received {
  const { message: codec } = rhea();
  if (batch === undefined) {
    const bytes = codec.encode(message as never).length;
    return { messages: [{ message, bytes }], annotations: message.message_annotations ?? {}, bytes };
  }
  const envelope = codec.decode(batch) as unknown as AmqpMessage;
  const body = envelope.body as { multiple?: boolean; content: Buffer | Buffer[] };
  const parts = (body.multiple ? body.content : [body.content]) as Buffer[];
  // A copy: a part is a window onto the bytes of the whole frame, which it would keep alive.
  const messages = parts.map((part) => ({
    message: codec.decode(Buffer.from(part)) as unknown as AmqpMessage,
    bytes: part.length,
  }));
  return { messages, annotations: envelope.message_annotations ?? {}, bytes: batch.length };
}

export interface Send {
  readonly incoming: Incoming;
  readonly received: Received;
  readonly place: Place;
  readonly faults: AmqpFaults;
  /** Cuts the connection without a word. */
  cut(incoming: Incoming): void;
  /** Keeps the messages. */
  keep(): void;
}

/** Keeps the messages and says so, unless a fault wants it otherwise. */
export function take({ incoming, received, place, faults, cut, keep }: Send): void {
  const { delivery } = incoming;
  if (received.bytes > MAX_MESSAGE_BYTES) {
    delivery.reject(tooLarge(received.bytes));
    return;
  }
  const fault = faults.takeSend(place);
  if (fault === 'busy') {
    delivery.reject(BUSY);
    return;
  }
  keep();
  if (fault === 'lose-ack') cut(incoming);
  else if (faults.delayMs > 0) setTimeout(() => delivery.accept(), faults.delayMs).unref();
  else delivery.accept();
}
