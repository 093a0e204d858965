/** Entries to requests that Kinesis takes. */
import type { Entry } from '../publishing/entries';

/** What PutRecords takes in one request; bytes include the partition keys. */
export const MAX_RECORDS = 500;
export const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
/** Kinesis's default; a stream can be set to take up to 10 MiB. */
export const DEFAULT_MAX_RECORD_BYTES = 1024 * 1024;

/** Size as Kinesis counts it: data and partition key. */
export function sizeOf(entry: Entry): number {
  return entry.data.byteLength + Buffer.byteLength(entry.partitionKey);
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
