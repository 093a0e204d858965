/**
 * The container that Event Hubs Capture writes: an Avro object container file (avro.apache.org/docs, "Object Container
 * Files"): `Obj` 1, metadata, a marker of 16 bytes, then blocks of records, each closed by the marker. Read as it comes,
 * one block at a time, so that a cut or damaged file is told by the byte where it begins.
 */
import { inflateRaw } from 'node:zlib';
import { CaptureBytes } from './capture-bytes';

/** A file that is not what Capture writes, or is not whole. */
export class CaptureFileError extends Error {
  override readonly name = 'CaptureFileError';

  constructor(
    readonly path: string,
    /** Where what cannot be read begins. */
    readonly byte: number,
    what: string,
    options: ErrorOptions = {},
  ) {
    super(`${path}, byte ${byte}: ${what}`, options);
  }
}

export interface CaptureHeader {
  /** JSON, as it was written. */
  readonly schema: unknown;
  readonly codec: 'null' | 'deflate';
}

export interface CaptureBlock {
  /** Where it begins in the file. */
  readonly byte: number;
  readonly records: number;
  /** The records, one after another, no longer compressed. */
  readonly data: Buffer;
}

const MAGIC = Buffer.from('Obj\u0001', 'latin1');
const MARKER_BYTES = 16;
/** A length beyond it is damage. Capture's largest file, 500 MB, has many blocks. */
const LARGEST_BLOCK = 256 * 1024 * 1024;
const LARGEST_META = 1024 * 1024;

export class CaptureContainer {
  private readonly bytes: CaptureBytes;
  private marker: Buffer = Buffer.alloc(0);
  private codec: CaptureHeader['codec'] = 'null';

  constructor(
    private readonly path: string,
    chunks: AsyncIterable<Uint8Array>,
  ) {
    this.bytes = new CaptureBytes(chunks);
  }

  async header(): Promise<CaptureHeader> {
    const magic = await this.bytes.take(MAGIC.length);
    if (!magic?.equals(MAGIC)) {
      const what = this.bytes.position === 0 ? 'the file is empty or shorter than 4 bytes' : 'it is no Avro file';
      throw this.fault(0, `${what}; Event Hubs Capture writes Avro container files`);
    }
    const meta = await this.meta();
    this.marker = await this.whole(MARKER_BYTES, 0, 'the header');
    const codec = meta.get('avro.codec')?.toString('utf8') ?? 'null';
    if (codec !== 'null' && codec !== 'deflate') {
      throw this.fault(0, `its records are packed with ${JSON.stringify(codec)}; null and deflate can be read`);
    }
    this.codec = codec;
    return { codec, schema: this.parsed(meta.get('avro.schema')) };
  }

  /** The next block; nothing at the end of a whole file. */
  async block(): Promise<CaptureBlock | undefined> {
    const byte = this.bytes.position;
    if (await this.bytes.atEnd()) return undefined;
    const records = await this.long(byte);
    const size = await this.long(byte);
    if (records < 0 || size < 0 || size > LARGEST_BLOCK) {
      throw this.fault(byte, `damaged: a block of ${records} records and ${size} bytes`);
    }
    const data = await this.whole(size, byte, `a block of ${size} bytes`);
    const marker = await this.whole(MARKER_BYTES, byte, `a block of ${size} bytes`);
    if (!marker.equals(this.marker)) throw this.fault(byte, 'damaged: a block does not end where it says');
    return { byte, records, data: this.codec === 'null' ? data : await this.inflated(data, byte) };
  }

  /** Lets go of where the chunks come from. */
  close(): Promise<void> {
    return this.bytes.close();
  }

  fault(byte: number, what: string, cause?: unknown): CaptureFileError {
    return new CaptureFileError(this.path, byte, what, cause === undefined ? {} : { cause });
  }

  /** A map of texts to bytes: groups with their count before them, the last of them empty. */
  private async meta(): Promise<Map<string, Buffer>> {
    const meta = new Map<string, Buffer>();
    for (;;) {
      let count = await this.long(0);
      if (count === 0) return meta;
      // A negative count is followed by the size of the group.
      if (count < 0) await this.long(0);
      for (count = Math.abs(count); count > 0; count -= 1) {
        const key = await this.text();
        meta.set(key.toString('utf8'), await this.text());
      }
    }
  }

  private async text(): Promise<Buffer> {
    const size = await this.long(0);
    if (size < 0 || size > LARGEST_META) throw this.fault(0, `damaged: ${size} bytes of metadata`);
    return this.whole(size, 0, 'the header');
  }

  /** A number of Avro: seven bits a byte, the lowest first, folded so that small negative ones are short. */
  private async long(begin: number): Promise<number> {
    let folded = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const [byte = 0] = await this.whole(1, begin, begin === 0 ? 'the header' : 'a block');
      folded |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
      if (shift >= 63n) throw this.fault(begin, 'damaged: a number without an end');
    }
    return Number(BigInt.asIntN(64, (folded >> 1n) ^ -(folded & 1n)));
  }

  private async whole(size: number, begin: number, what: string): Promise<Buffer> {
    const taken = await this.bytes.take(size);
    if (taken !== undefined) return taken;
    throw this.fault(begin, `cut off: ${what} begins here and the file ends at byte ${this.bytes.end}`);
  }

  private parsed(schema: Buffer | undefined): unknown {
    try {
      return JSON.parse(schema?.toString('utf8') ?? '');
    } catch (cause) {
      throw this.fault(0, 'its header has no schema', cause);
    }
  }

  private inflated(data: Buffer, byte: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      inflateRaw(data, { maxOutputLength: LARGEST_BLOCK }, (cause, result) => {
        if (cause) reject(this.fault(byte, `damaged: a block cannot be unpacked (${cause.message})`, cause));
        else resolve(result);
      });
    });
  }
}
