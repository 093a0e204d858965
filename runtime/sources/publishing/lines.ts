/** Cuts a byte stream into lines without ever holding more than one line and one chunk. */

const NEWLINE = 0x0a;

/**
 * The lines of a byte stream as they are, without their newline. A line longer than `maxBytes` is cut off
 * after `maxBytes + 1` bytes, so that whoever checks its size refuses it.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let held = 0;
  const keep = (part: Uint8Array) => {
    const room = Math.max(0, maxBytes + 1 - held);
    const kept = part.byteLength > room ? part.subarray(0, room) : part;
    if (kept.byteLength > 0) parts.push(kept);
    held += kept.byteLength;
  };
  const take = (): Uint8Array => {
    const line = parts.length === 1 ? Buffer.from(parts[0]!) : Buffer.concat(parts);
    parts = [];
    held = 0;
    return line;
  };
  let open = false;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    if (start < chunk.byteLength) keep(chunk.subarray(start));
    open = start < chunk.byteLength || (open && start === 0);
  }
  if (open) yield take();
}
