/** Publishes lines to the local hub with Microsoft's own producer: one event a line, in order within a customer. */
import type { EventHubProducerClient } from '@azure/event-hubs';
import { partitionKeyOf } from '../../../../runtime/sources/kinesis/publisher-entries';
import type { Published } from '../parts';
import type { EventHubsParts } from './parts';

/** Batches on their way at a time. */
const CONCURRENCY = 16;

export async function publish(lines: readonly Uint8Array[], { producer }: EventHubsParts): Promise<Published> {
  const byKey = new Map<string, Uint8Array[]>();
  for (const line of lines) {
    const key = partitionKeyOf(line);
    const known = byKey.get(key);
    if (known) known.push(line);
    else byKey.set(key, [line]);
  }
  const refused = new Map<Uint8Array, string>();
  const waiting = byKey.entries();
  const sendNext = async () => {
    // One iterator, of which each of these takes the next key.
    for (const [key, own] of waiting) await sendAll(producer, key, own, refused);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sendNext));
  return { accepted: lines.filter((line) => !refused.has(line)), refused: [...refused.values()] };
}

async function sendAll(
  producer: EventHubProducerClient,
  partitionKey: string,
  lines: readonly Uint8Array[],
  refused: Map<Uint8Array, string>,
): Promise<void> {
  let batch = await producer.createBatch({ partitionKey });
  for (const line of lines) {
    const event = { body: Buffer.from(line) };
    if (batch.tryAdd(event)) continue;
    if (batch.count > 0) {
      await producer.sendBatch(batch);
      batch = await producer.createBatch({ partitionKey });
      if (batch.tryAdd(event)) continue;
    }
    refused.set(line, `a line of ${line.byteLength} bytes: more than the hub takes at once`);
  }
  if (batch.count > 0) await producer.sendBatch(batch);
}
