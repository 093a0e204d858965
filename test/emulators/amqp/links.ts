/** What a link of the broker leads to, and how entities are found by their address. */
import type { Connection, Delivery, EventContext, Receiver, Sender } from 'rhea';
import type { AmqpMessage } from './event-log';

/** A message that a client sent. */
export interface Incoming {
  readonly connection: Connection;
  readonly delivery: Delivery;
  /** Decoded, except for batches. */
  readonly message: AmqpMessage;
  /** The bytes of a batch (message format 0x80013700); undefined for a single message. */
  readonly batch: Buffer | undefined;
}

/** The broker's end of a link on which a client sends. */
export type Inlet = (incoming: Incoming) => void;

/** The broker's end of a link on which a client receives. */
export interface Outlet {
  /** There is credit, or there may be something to send. */
  pump(): void;
  /** The client wants its credit used up or given back now. */
  drain(): void;
  /** The link or its connection is gone. */
  closed(): void;
}

/** One kind of entity: `$cbs`, `$management`, event hubs; queues are another. */
export interface Route {
  /** Undefined: the address is somebody else's. */
  inlet(address: string, link: Receiver): Inlet | undefined;
  /** Attaches the link and answers its end; `closed` when it was refused in the entity's own words. */
  outlet(address: string, link: Sender): Outlet | 'closed' | undefined;
}

/** Links of requests and answers (`$cbs`, `$management`) send only when they are asked. */
export const SILENT_OUTLET: Outlet = { pump: () => undefined, drain: () => undefined, closed: () => undefined };

/** Message format of a batch: one outer message whose data sections are encoded messages. */
export const BATCH_FORMAT = 0x80013700;

export function incomingOf({ message, delivery, connection }: EventContext): Incoming {
  if (message === undefined || delivery === undefined) throw new Error('A message event without a message');
  const batch = Buffer.isBuffer(message) ? message : undefined;
  return { connection, delivery, message: batch === undefined ? (message as unknown as AmqpMessage) : {}, batch };
}
