/** A local stand-in for an Event Hubs or a Service Bus namespace, driven by Microsoft's own clients. */
export type { PutToken, VerifyToken } from './access';
export { type AmqpBroker, type AmqpBrokerOptions, startAmqpBroker } from './broker';
export type { EventHub, EventHubOptions, HubLink, LinkError } from './event-hub';
export type { AmqpMessage, EventLog, StartPosition, StoredEvent } from './event-log';
export type { AmqpFaults, Place } from './faults';
export type { Queue, QueueOptions } from './queue';
export type { DeadLetterReason, QueueMessage, QueueMessageState } from './queue-entry';
