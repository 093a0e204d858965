/** Lines to the partition keys of Event Hubs, and keys to what is sent together. */
import { createHash } from 'node:crypto';
import { type Entry, partitionKeyOf } from '../publishing/entries';

/** A longer one is refused by the service's clients; a customer id may have 255. */
const MAX_KEY_CHARACTERS = 128;

/** The customer as with Kinesis, or a hash of what is too long for a key: one customer stays in one partition. */
export function hubKeyOf(data: Uint8Array): string {
  const key = partitionKeyOf(data);
  return key.length <= MAX_KEY_CHARACTERS ? key : createHash('sha256').update(key).digest('hex');
}

const MAX_ENTRIES = 2_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Some entries that were read one after another, by key: a batch of Event Hubs has one key. */
export class Window {
  private readonly groups = new Map<string, Entry[]>();
  private entries = 0;
  private bytes = 0;

  add(entry: Entry): void {
    const group = this.groups.get(entry.partitionKey);
    if (group === undefined) this.groups.set(entry.partitionKey, [entry]);
    else group.push(entry);
    this.entries += 1;
    this.bytes += entry.data.byteLength;
  }

  get full(): boolean {
    return this.entries >= MAX_ENTRIES || this.bytes >= MAX_BYTES;
  }

  take(): Entry[][] {
    const taken = [...this.groups.values()];
    this.groups.clear();
    this.entries = 0;
    this.bytes = 0;
    return taken;
  }
}
