/** Files as Event Hubs Capture writes them, by `avsc`, in the schema that Microsoft's documentation prints. */
import { streams, Type } from 'avsc';

export const SCHEMA = {
  type: 'record',
  name: 'EventData',
  namespace: 'Microsoft.ServiceBus.Messaging',
  fields: [
    { name: 'SequenceNumber', type: 'long' },
    { name: 'Offset', type: 'string' },
    { name: 'EnqueuedTimeUtc', type: 'string' },
    { name: 'SystemProperties', type: { type: 'map', values: ['long', 'double', 'string', 'bytes'] } },
    { name: 'Properties', type: { type: 'map', values: ['long', 'double', 'string', 'bytes'] } },
    { name: 'Body', type: ['null', 'bytes'] },
  ],
};

export interface Captured {
  readonly SequenceNumber: number;
  readonly Body: Buffer | { readonly bytes: Buffer } | null;
  readonly [field: string]: unknown;
}

export function captured(number: number, more: Partial<Captured> = {}): Captured {
  return {
    SequenceNumber: number,
    Offset: String(number * 100),
    EnqueuedTimeUtc: '11/30/2026 8:05:45 PM',
    SystemProperties: { 'x-opt-enqueued-time': { long: 1 }, 'x-opt-partition-key': { string: `c${number % 3}` } },
    Properties: { size: { double: 0.5 }, raw: { bytes: Buffer.from([1]) } },
    Body: Buffer.from(JSON.stringify({ customer_id: `c${number % 3}`, billing_period: `p${number}` })),
    ...more,
  };
}

export interface FileOptions {
  readonly codec?: string;
  readonly schema?: object;
  /** Bytes of records in a block, about. */
  readonly blockSize?: number;
  /** In place of numbers, which hold 53 bits; values of unions then stand in objects that name their kind. */
  readonly long?: Type;
}

export async function fileOf(events: readonly object[], options: FileOptions = {}): Promise<Buffer> {
  const { codec = 'null', schema = SCHEMA, blockSize = 2_000, long } = options;
  const type = Type.forSchema(schema as never, long === undefined ? {} : { registry: { long }, wrapUnions: 'always' });
  const encoder = new streams.BlockEncoder(type, { codec: codec as never, blockSize, writeHeader: true });
  const parts: Buffer[] = [];
  const done = new Promise<void>((resolve, reject) => {
    encoder.on('data', (part: Buffer) => parts.push(part)).on('end', resolve);
    encoder.on('error', reject);
  });
  for (const event of events) encoder.write(event);
  encoder.end();
  await done;
  return Buffer.concat(parts);
}

export interface Block {
  readonly byte: number;
  readonly end: number;
  readonly records: number;
}

const LONG = Type.forSchema('long');
const HEADER = Type.forSchema({
  type: 'record',
  name: 'Header',
  fields: [
    { name: 'magic', type: { type: 'fixed', name: 'Magic', size: 4 } },
    { name: 'meta', type: { type: 'map', values: 'bytes' } },
    { name: 'sync', type: { type: 'fixed', name: 'Sync', size: 16 } },
  ],
} as never);

/** Where the blocks of a whole file are: count and size, the records, and a marker of 16 bytes. */
export function blocksOf(file: Buffer): Block[] {
  const blocks: Block[] = [];
  let byte = HEADER.decode(file, 0).offset;
  while (byte < file.length) {
    const { value: records, offset } = LONG.decode(file, byte) as { value: number; offset: number };
    const size = LONG.decode(file, offset) as { value: number; offset: number };
    const end = size.offset + size.value + 16;
    blocks.push({ byte, end, records });
    byte = end;
  }
  return blocks;
}
