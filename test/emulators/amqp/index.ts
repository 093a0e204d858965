/** A local stand-in for an Event Hubs namespace, driven by Microsoft's own clients. */
export { type AmqpBroker, type AmqpBrokerOptions, startAmqpBroker } from './broker';
export type { PutToken } from './cbs';
export type { EventHub, EventHubOptions } from './event-hub';
export type { AmqpMessage, EventLog, StoredEvent } from './event-log';
export type { AmqpFaults, Place } from './faults';
