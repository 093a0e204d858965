/** Publishes lines to the local stream with the runtime's own publisher. */
import { systemHost } from '../../../../runtime/host';
import { createPublisher } from '../../../../runtime/sources/kinesis/publisher';
import type { Published } from '../parts';
import { type KinesisParts, STREAM_NAME } from './parts';

export async function publish(lines: readonly Uint8Array[], parts: KinesisParts): Promise<Published> {
  const refused = new Map<Uint8Array, string>();
  const publisher = createPublisher({
    client: parts.kinesis,
    streamName: STREAM_NAME,
    host: systemHost,
    onUndelivered: ({ line, reason, data }) => refused.set(lines[line - 1] ?? data, `line ${line}: ${reason}`),
  });
  await publisher.publish(each(lines));
  return { accepted: lines.filter((line) => !refused.has(line)), refused: [...refused.values()] };
}

async function* each(lines: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* lines;
}
