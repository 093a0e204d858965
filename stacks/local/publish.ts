/** Publishes lines to the local stream with the runtime's own publisher. */

import { systemHost } from '../../runtime/host';
import { createPublisher } from '../../runtime/sources/kinesis/publisher';
import { type Parts, STREAM_NAME } from './parts';

/** Lines that the stream did not take cannot be judged. */
export class PublishError extends Error {
  override readonly name = 'PublishError';
}

/** Answers how many lines the stream accepted. */
export async function publish(lines: readonly Uint8Array[], parts: Parts): Promise<number> {
  const refused: string[] = [];
  const publisher = createPublisher({
    client: parts.kinesis,
    streamName: STREAM_NAME,
    host: systemHost,
    onUndelivered: ({ line, reason }) => refused.push(`line ${line}: ${reason}`),
  });
  const progress = await publisher.publish(each(lines));
  if (refused.length > 0) throw new PublishError(`The stream refused ${refused.length} lines; ${refused[0]}`);
  return progress.sent;
}

async function* each(lines: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* lines;
}
