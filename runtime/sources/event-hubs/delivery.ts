/** From the client's event to a delivery. */
import type { ReceivedEventData } from '@azure/event-hubs';
import type { Delivery } from '../../processor/ports';

export function deliveryOf(event: ReceivedEventData): Delivery {
  return {
    body: bytesOf(event.body),
    position: String(event.sequenceNumber),
    partitionKey: event.partitionKey ?? '',
    enqueuedAt: event.enqueuedTimeUtc.getTime(),
  };
}

/** As it was sent: bodies are not parsed by the client. A body that is no data section is written as JSON, to be judged. */
function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''));
}
