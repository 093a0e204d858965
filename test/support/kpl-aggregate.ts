/** Packs records into one as the Kinesis Producer Library does. */
import { createHash } from 'node:crypto';

export interface AggregatePart {
  readonly partitionKey: string;
  readonly explicitHashKey?: string;
  readonly data: string | Uint8Array;
}

export function aggregate(parts: readonly AggregatePart[]): Buffer {
  const keys = [...new Set(parts.map((part) => part.partitionKey))];
  const hashKeys = [...new Set(parts.flatMap((part) => part.explicitHashKey ?? []))];
  const message = Buffer.concat([
    ...keys.map((key) => lengthDelimited(1, Buffer.from(key))),
    ...hashKeys.map((key) => lengthDelimited(2, Buffer.from(key))),
    ...parts.map((part) => lengthDelimited(3, recordOf(part, keys, hashKeys))),
  ]);
  return Buffer.concat([Buffer.from([0xf3, 0x89, 0x9a, 0xc2]), message, createHash('md5').update(message).digest()]);
}

function recordOf(part: AggregatePart, keys: readonly string[], hashKeys: readonly string[]): Buffer {
  return Buffer.concat([
    varintField(1, keys.indexOf(part.partitionKey)),
    ...(part.explicitHashKey === undefined ? [] : [varintField(2, hashKeys.indexOf(part.explicitHashKey))]),
    lengthDelimited(3, Buffer.from(part.data)),
  ]);
}

function varintField(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

function lengthDelimited(field: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}
