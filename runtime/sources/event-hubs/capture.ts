/**
 * Files that Event Hubs Capture has written, as deliveries: for a replay of what the hub no longer keeps. The layout is
 * Microsoft's record `EventData` (learn.microsoft.com/azure/event-hubs/event-hubs-capture-overview, "Exploring the captured
 * files"), read with `avsc`.
 */
import type { Type, types } from 'avsc';
import { parseInstant } from '../../host/instant';
import type { Delivery } from '../../processor/ports';
import { CaptureContainer } from './capture-container';
import { type CapturePlace, capturePlace } from './capture-place';

export interface CaptureFile {
  /** Name of the blob, which says the hub and the partition. */
  readonly path: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** How the names are made, if not as Capture does by default: its `archiveNameFormat`, without `.avro`. */
  readonly nameFormat?: string;
}

/** An event as it was captured; its position is the sequence number, as of a delivery from the hub. */
export interface CapturedDelivery extends Delivery {
  readonly partitionId: string;
  /** Opaque; what the hub would have called it. */
  readonly offset: string;
}

/** Fields that are needed; others may be there, and are skipped. */
const SCHEMA = {
  type: 'record',
  name: 'EventData',
  namespace: 'Microsoft.ServiceBus.Messaging',
  fields: [
    { name: 'SequenceNumber', type: 'long' },
    { name: 'Offset', type: 'string' },
    { name: 'EnqueuedTimeUtc', type: 'string' },
    { name: 'SystemProperties', type: { type: 'map', values: ['null', 'long', 'double', 'string', 'bytes'] } },
    { name: 'Body', type: ['null', 'bytes'] },
  ],
} as const;
const PARTITION_KEY = 'x-opt-partition-key';

interface EventData {
  readonly SequenceNumber: bigint;
  readonly Offset: string;
  readonly EnqueuedTimeUtc: string;
  /** As every value of a union it stands in an object that names its kind. */
  readonly SystemProperties: Readonly<Record<string, { readonly string?: string } | null>>;
  readonly Body: { readonly bytes: Buffer } | null;
}

/**
 * The events of a file in order. Memory: one block of the file. Rejects when the path is none of Capture's, and with a
 * CaptureFileError, which names the file and the byte, when the file is no Capture file, or is damaged or cut off: what
 * came whole before that has been delivered. Needs the package `avsc`.
 */
export async function* readCapture(file: CaptureFile): AsyncGenerator<CapturedDelivery> {
  const place = capturePlace(file.path, file.nameFormat);
  const container = new CaptureContainer(file.path, file.chunks);
  try {
    const { schema } = await container.header();
    const read = await reader(container, schema);
    for (let block = await container.block(); block; block = await container.block()) {
      let at = 0;
      for (let index = 1; index <= block.records; index += 1) {
        const { value, next } = read(block.data, at, `record ${index} of ${block.records} in this block`, block.byte);
        at = next;
        yield delivery(value, place);
      }
      if (at !== block.data.length) {
        throw container.fault(
          block.byte,
          `damaged: ${block.data.length - at} bytes behind the last record of this block`,
        );
      }
    }
  } finally {
    await container.close();
  }
}

type ReadRecord = (data: Buffer, at: number, what: string, byte: number) => { value: EventData; next: number };

/** Of the schema that the file was written with, what is needed here. */
async function reader(container: CaptureContainer, schema: unknown): Promise<ReadRecord> {
  // Loaded only by who reads such a file.
  const { Type, types } = await import('avsc');
  const options = () => ({ registry: { long: wideLong(types) }, wrapUnions: 'always' as const });
  let wanted: Type;
  let resolver: ReturnType<Type['createResolver']>;
  try {
    wanted = Type.forSchema(SCHEMA as never, options());
    resolver = wanted.createResolver(Type.forSchema(schema as never, options()));
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    throw container.fault(0, `its records are none of Event Hubs Capture (${words})`, cause);
  }
  return (data, at, what, byte) => {
    try {
      const { value, offset } = wanted.decode(data, at, resolver) as { value: EventData; offset: number };
      if (offset >= 0) return { value, next: offset };
    } catch (cause) {
      throw container.fault(byte, `damaged: ${what} cannot be read`, cause);
    }
    throw container.fault(byte, `damaged: ${what} is cut off`);
  };
}

/** All 64 bits: a property that somebody set may need them, and may not stop a replay. */
function wideLong(avro: typeof types): Type {
  return avro.LongType.__with({
    fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
    toBuffer: (value: bigint) => {
      const buffer = Buffer.alloc(8);
      buffer.writeBigInt64LE(value);
      return buffer;
    },
    fromJSON: BigInt,
    toJSON: String,
    isValid: (value: unknown) => typeof value === 'bigint',
    compare: (one: bigint, other: bigint) => (one === other ? 0 : one < other ? -1 : 1),
  } as never);
}

function delivery(event: EventData, { partitionId }: CapturePlace): CapturedDelivery {
  const enqueuedAt = timeOf(event.EnqueuedTimeUtc);
  return {
    // A copy: a view would keep the whole block for as long as one event is kept.
    body: Buffer.from(event.Body?.bytes ?? []),
    position: String(event.SequenceNumber),
    offset: event.Offset,
    partitionKey: event.SystemProperties[PARTITION_KEY]?.string ?? '',
    ...(enqueuedAt === undefined ? {} : { enqueuedAt }),
    partitionId,
  };
}

const AMERICAN = /^(\d{1,2})\/(\d{1,2})\/(\d{4}) (\d{1,2}):(\d{2}):(\d{2}) ([AP])M$/;
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

/** Milliseconds since the epoch; nothing for a way of writing that is not known. Capture writes `8/31/2017 7:12:14 PM`. */
function timeOf(text: string): number | undefined {
  const [, month = '', day = '', year, hour, minute, second, half] = AMERICAN.exec(text) ?? [];
  if (year === undefined) return ISO.test(text) ? parseInstant(text) : undefined;
  const hours = String((Number(hour) % 12) + (half === 'P' ? 12 : 0)).padStart(2, '0');
  return parseInstant(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}T${hours}:${minute}:${second}Z`);
}
