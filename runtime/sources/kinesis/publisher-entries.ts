/** Lines to entries of PutRecords, and entries to requests that Kinesis takes. */
import { createHash } from 'node:crypto';

/** One line on its way. */
export interface Entry {
  /** From 1. */
  readonly line: number;
  readonly data: Uint8Array;
  readonly partitionKey: string;
}

/** What PutRecords takes in one request; bytes include the partition keys. */
export const MAX_RECORDS = 500;
export const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
/** Kinesis's default; a stream can be set to take up to 10 MiB. */
export const DEFAULT_MAX_RECORD_BYTES = 1024 * 1024;

const CUSTOMER_FIELDS = ['customer_id', 'customerId', 'account_id', 'accountId'];
const MAX_KEY_CHARACTERS = 256;

/** Size as Kinesis counts it: data and partition key. */
export function sizeOf(entry: Entry): number {
  return entry.data.byteLength + Buffer.byteLength(entry.partitionKey);
}

/**
 * The customer, so that events of one customer stay in one shard; for a line that names none, or is no event
 * at all, a hash of the line, so that the same line always goes to the same shard.
 */
export function partitionKeyOf(data: Uint8Array): string {
  const body = parsed(data);
  if (typeof body === 'object' && body !== null) {
    for (const field of CUSTOMER_FIELDS) {
      const value: unknown = Object.hasOwn(body, field) ? Reflect.get(body, field) : undefined;
      if (typeof value === 'string' && value !== '' && [...value].length <= MAX_KEY_CHARACTERS) return value;
    }
  }
  return createHash('sha256').update(data).digest('hex');
}

function parsed(data: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Collects entries until one more would not fit into a request. */
export class Batch {
  readonly entries: Entry[] = [];
  private bytes = 0;

  fits(entry: Entry): boolean {
    return this.entries.length < MAX_RECORDS && this.bytes + sizeOf(entry) <= MAX_REQUEST_BYTES;
  }

  add(entry: Entry): void {
    this.entries.push(entry);
    this.bytes += sizeOf(entry);
  }
}
