/** Publishes lines to the local stream with the runtime's own publisher. */

import { systemHost } from '../../runtime/host';
import { createPublisher } from '../../runtime/sources/kinesis/publisher';
import { type Parts, STREAM_NAME } from './parts';

export interface Published {
  /** The lines that the stream accepted, in the order in which they were given. */
  readonly accepted: readonly Uint8Array[];
  /** What it did not take, in words: too large for a record, say. These are no part of the stream. */
  readonly refused: readonly string[];
}

export async function publish(lines: readonly Uint8Array[], parts: Parts): Promise<Published> {
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
