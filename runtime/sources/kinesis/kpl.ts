/**
 * Records that the Kinesis Producer Library packed into one: magic, a protobuf message, its MD5.
 * Whatever does not check out is a plain record, as the Java client treats it.
 */
import { createHash } from 'node:crypto';

/** One record of an aggregate. */
export interface SubRecord {
  readonly partitionKey: string;
  readonly explicitHashKey?: string;
  readonly data: Uint8Array;
}

const MAGIC = Buffer.from([0xf3, 0x89, 0x9a, 0xc2]);
const DIGEST_BYTES = 16;

/** The records inside, in order; undefined when this is no aggregate. */
export function disaggregate(data: Uint8Array): SubRecord[] | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (bytes.length < MAGIC.length + DIGEST_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const message = bytes.subarray(MAGIC.length, bytes.length - DIGEST_BYTES);
  const digest = createHash('md5').update(message).digest();
  if (!digest.equals(bytes.subarray(bytes.length - DIGEST_BYTES))) return undefined;
  try {
    return readAggregate(message);
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined;
    throw error;
  }
}

/** The hash key that routes a record to a shard: explicit, or the MD5 of the partition key as a number. */
export function hashKeyOf(record: Pick<SubRecord, 'partitionKey' | 'explicitHashKey'>): bigint {
  if (record.explicitHashKey !== undefined && /^\d+$/.test(record.explicitHashKey))
    return BigInt(record.explicitHashKey);
  return BigInt(`0x${createHash('md5').update(record.partitionKey, 'utf8').digest('hex')}`);
}

class MalformedMessage extends Error {}

interface RawRecord {
  partitionKeyIndex?: number;
  hashKeyIndex?: number;
  data?: Uint8Array;
}

function readAggregate(message: Buffer): SubRecord[] {
  const partitionKeys: string[] = [];
  const hashKeys: string[] = [];
  const records: RawRecord[] = [];
  for (const [field, value] of fields(message)) {
    if (field === 1) partitionKeys.push(bytesOf(value).toString('utf8'));
    else if (field === 2) hashKeys.push(bytesOf(value).toString('utf8'));
    else if (field === 3) records.push(readRecord(bytesOf(value)));
  }
  return records.map((record) => {
    const partitionKey = partitionKeys[record.partitionKeyIndex ?? -1];
    const explicitHashKey = record.hashKeyIndex === undefined ? undefined : hashKeys[record.hashKeyIndex];
    if (partitionKey === undefined || record.data === undefined) throw new MalformedMessage();
    if (record.hashKeyIndex !== undefined && explicitHashKey === undefined) throw new MalformedMessage();
    return { partitionKey, data: record.data, ...(explicitHashKey === undefined ? {} : { explicitHashKey }) };
  });
}

function readRecord(message: Buffer): RawRecord {
  const record: RawRecord = {};
  for (const [field, value] of fields(message)) {
    if (field === 1) record.partitionKeyIndex = numberOf(value);
    else if (field === 2) record.hashKeyIndex = numberOf(value);
    else if (field === 3) record.data = bytesOf(value);
  }
  return record;
}

type FieldValue = Buffer | number;

function bytesOf(value: FieldValue): Buffer {
  if (typeof value === 'number') throw new MalformedMessage();
  return value;
}

function numberOf(value: FieldValue): number {
  if (typeof value !== 'number') throw new MalformedMessage();
  return value;
}

/** Field numbers with their values: varints as numbers, length-delimited as bytes; fixed-width ones are passed over. */
function* fields(message: Buffer): Generator<[number, FieldValue]> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 10; shift++) {
      const byte = message[at++];
      if (byte === undefined) throw new MalformedMessage();
      value += (byte & 0x7f) * 2 ** (7 * shift);
      if (byte < 0x80) return value;
    }
    throw new MalformedMessage();
  };
  const skip = (bytes: number): Buffer => {
    if (at + bytes > message.length) throw new MalformedMessage();
    at += bytes;
    return message.subarray(at - bytes, at);
  };
  while (at < message.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (wireType === 0) yield [field, varint()];
    else if (wireType === 1) skip(8);
    else if (wireType === 2) yield [field, skip(varint())];
    else if (wireType === 5) skip(4);
    else throw new MalformedMessage();
  }
}
