/** One message of a queue, and what the service writes onto it when it hands it out. */
import type { AmqpMessage } from './event-log';

export type QueueMessageState = 'active' | 'locked' | 'deferred' | 'scheduled';

export interface QueueMessage {
  readonly sequenceNumber: number;
  readonly message: AmqpMessage;
  /** Milliseconds since the epoch; of a scheduled message when it becomes active. */
  readonly enqueuedAt: number;
  /** Deliveries that ended without a settlement, or in an abandon. */
  readonly deliveryCount: number;
  readonly state: QueueMessageState;
  /** Milliseconds since the epoch; undefined when it is not locked. */
  readonly lockedUntil: number | undefined;
  readonly sessionId: string | undefined;
  /** Milliseconds since the epoch; undefined: never. */
  readonly expiresAt: number | undefined;
  /** The queue that a dead letter comes from. */
  readonly deadLetterSource: string | undefined;
}

/** A message as its queue changes it. */
export interface Entry extends QueueMessage {
  message: AmqpMessage;
  deliveryCount: number;
  state: QueueMessageState;
  lockedUntil: number | undefined;
  /** As clients print it; undefined when it is not locked. */
  token: string | undefined;
}

/** Locked by this token, and not yet too late. */
export interface Lock {
  readonly token: string;
  readonly until: number;
}

export interface DeadLetterReason {
  readonly reason: string | undefined;
  readonly description: string | undefined;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Properties that a client changes while it settles. */
export function withProperties(message: AmqpMessage, properties: Readonly<Record<string, unknown>> = {}): AmqpMessage {
  const { application_properties: own } = message;
  return { ...message, application_properties: { ...(own as object | undefined), ...properties } };
}

export function sessionOf({ group_id: id }: AmqpMessage): string | undefined {
  return id === undefined || id === null ? undefined : String(id);
}

/** When a message that is put in now may be received. */
export function scheduledAt(message: AmqpMessage): number {
  const at = message.message_annotations?.['x-opt-scheduled-enqueue-time'];
  return at instanceof Date || typeof at === 'number' ? Number(at) : 0;
}
