/** Exactly as many bytes as are asked for, from chunks of any size; never holds more than that and one chunk. */
export class CaptureBytes {
  private readonly chunks: AsyncIterator<Uint8Array>;
  private held: Buffer = Buffer.alloc(0);
  private used = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.chunks = chunks[Symbol.asyncIterator]();
  }

  /** How many bytes were taken. */
  get position(): number {
    return this.used;
  }

  /** How many bytes have come. After `take` answered nothing: the size of the whole. */
  get end(): number {
    return this.used + this.held.length;
  }

  async atEnd(): Promise<boolean> {
    await this.hold(1);
    return this.held.length === 0;
  }

  /** The next bytes, or nothing when fewer are left; then none is taken. */
  async take(size: number): Promise<Buffer | undefined> {
    await this.hold(size);
    if (this.held.length < size) return undefined;
    const taken = this.held.subarray(0, size);
    this.held = this.held.subarray(size);
    this.used += size;
    return taken;
  }

  private async hold(size: number): Promise<void> {
    if (this.held.length >= size) return;
    const parts: Buffer[] = [this.held];
    let length = this.held.length;
    while (length < size) {
      const { done, value } = await this.chunks.next();
      if (done) break;
      parts.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      length += value.byteLength;
    }
    this.held = Buffer.concat(parts, length);
  }

  /** Lets go of where the chunks come from. */
  async close(): Promise<void> {
    await this.chunks.return?.();
  }
}
