/** What a link of the broker leads to, and how entities are found by their address. */
import type { Connection, Delivery, EventContext, Receiver, Sender } from 'rhea';
import type { LinkError } from './event-hub';
import type { AmqpMessage } from './event-log';
import type { Place } from './faults';

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
  /** What it reads; undefined for links of answers, which no fault strikes. */
  readonly place: Place | undefined;
  /** There is credit, or there may be something to send. */
  pump(): void;
  /** The client wants its credit used up or given back now. */
  drain(): void;
  /** From now on it sends nothing, and stays open. */
  stall(): void;
  /** The link or its connection is gone. */
  closed(): void;
  /** Closes the link from the service's side. */
  end(error: LinkError): void;
  /** The client said what became of a message; absent where messages are settled when they are sent. */
  settle?(delivery: Delivery, outcome: OutcomeName): void;
}

/** What a client says of a message that it received. */
export const OUTCOMES = ['accepted', 'rejected', 'released', 'modified'] as const;
export type OutcomeName = (typeof OUTCOMES)[number];

/** One kind of entity: `$cbs`, `$management`, event hubs, queues. */
export interface Route {
  /** Undefined: the address is somebody else's. */
  inlet(address: string, link: Receiver): Inlet | 'closed' | undefined;
  /** Attaches the link and answers its end; `closed` when it was refused in the entity's own words. */
  outlet(address: string, link: Sender): Outlet | 'closed' | undefined;
}

/** Links of requests and answers (`$cbs`, `$management`) send only when they are asked. */
export const SILENT_OUTLET: Outlet = {
  place: undefined,
  pump: () => undefined,
  drain: () => undefined,
  stall: () => undefined,
  closed: () => undefined,
  end: () => undefined,
};

/** Refuses a link that a client opens. */
export function refuse(link: Receiver | Sender, error: LinkError): 'closed' {
  link.close(error);
  return 'closed';
}

export function incomingOf({ message, delivery, connection }: EventContext): Incoming {
  if (message === undefined || delivery === undefined) throw new Error('A message event without a message');
  const batch = Buffer.isBuffer(message) ? message : undefined;
  return { connection, delivery, message: batch === undefined ? (message as unknown as AmqpMessage) : {}, batch };
}
