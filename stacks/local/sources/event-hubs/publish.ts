/** Publishes lines to the local hub with the runtime's own publisher, over Microsoft's producer. */
import { systemHost } from '../../../../runtime/host';
import { createHubPublisher } from '../../../../runtime/sources/event-hubs/publisher';
import type { Published } from '../parts';
import type { EventHubsParts } from './parts';

export async function publish(lines: readonly Uint8Array[], { producer }: EventHubsParts): Promise<Published> {
  const refused = new Map<Uint8Array, string>();
  const publisher = createHubPublisher({
    producer,
    host: systemHost,
    onUndelivered: ({ line, reason, data }) => refused.set(lines[line - 1] ?? data, `line ${line}: ${reason}`),
  });
  await publisher.publish(each(lines));
  return { accepted: lines.filter((line) => !refused.has(line)), refused: [...refused.values()] };
}

async function* each(lines: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* lines;
}
