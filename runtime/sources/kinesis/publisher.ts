/**
 * Publishes lines to a Kinesis stream: as many to a request as Kinesis takes, retrying only the entries that
 * failed. A record can arrive twice (a lost answer is retried), and order within a key is not promised once an
 * entry was retried; neither matters to the ledger.
 */
import { type KinesisClient, PutRecordsCommand, type PutRecordsCommandOutput } from '@aws-sdk/client-kinesis';
import type { Host } from '../../host/host';
import { type Entry, partitionKeyOf } from '../publishing/entries';
import type { Publisher, PublishProgress, Undelivered } from '../publishing/progress';
import { Sends } from '../publishing/sends';
import { Batch, DEFAULT_MAX_RECORD_BYTES, sizeOf } from './publisher-entries';
import { classifyPutError, reasonOf } from './publisher-errors';

export interface PublisherOptions {
  /** Its own retries are best switched off (`maxAttempts: 1`): the publisher retries by entry. */
  readonly client: Pick<KinesisClient, 'send'>;
  readonly streamName: string;
  readonly host: Host;
  /** Largest record, data and key together, in bytes. Absent: 1 MiB. */
  readonly maxRecordBytes?: number;
  /** Most records a second. Absent: as fast as the stream takes them. */
  readonly recordsPerSecond?: number;
  /** Requests in a row that may bring an entry no further. Absent: 10. */
  readonly maxAttempts?: number;
  /** Requests at a time. Absent: 4. */
  readonly concurrency?: number;
  /** Called after every request. */
  readonly onProgress?: (progress: PublishProgress) => void;
  /** Called for each line that could not be delivered, with its bytes. */
  readonly onUndelivered?: (line: Undelivered) => void;
}

export function createPublisher(options: PublisherOptions): Publisher {
  return { publish: (lines) => new Run(options).publish(lines) };
}

class Run {
  private readonly counts = { read: 0, sent: 0, retried: 0, undelivered: 0, requests: 0 };
  private readonly sends: Sends;
  /** Why nothing more is sent, once an error says that nothing ever passes. */
  private stopped: string | undefined;

  constructor(private readonly options: PublisherOptions) {
    const { host, concurrency = 4, recordsPerSecond } = options;
    this.sends = new Sends({ host, concurrency, perSecond: recordsPerSecond });
  }

  async publish(lines: AsyncIterable<Uint8Array>): Promise<PublishProgress> {
    const limit = this.options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES;
    let batch = new Batch();
    let line = 0;
    for await (const data of lines) {
      line += 1;
      if (data.byteLength === 0) continue;
      this.counts.read += 1;
      const entry: Entry = { line, data, partitionKey: partitionKeyOf(data) };
      if (this.stopped !== undefined) this.giveUp(entry, this.stopped);
      else if (sizeOf(entry) > limit) this.giveUp(entry, `larger than a record may be (${limit} bytes with its key)`);
      else {
        if (!batch.fits(entry)) {
          await this.start(batch);
          batch = new Batch();
        }
        batch.add(entry);
      }
    }
    await this.start(batch);
    await this.sends.finish();
    return { ...this.counts };
  }

  /** Sends a batch beside the others. */
  private async start({ entries }: Batch): Promise<void> {
    if (entries.length > 0) await this.sends.start(entries.length, () => this.deliver(entries));
  }

  private async deliver(entries: readonly Entry[]): Promise<void> {
    const { maxAttempts = 10 } = this.options;
    let left = entries;
    for (let attempt = 1; left.length > 0; attempt += 1) {
      if (this.stopped !== undefined) return this.giveUpAll(left, this.stopped);
      const result = await this.send(left);
      if (result.failure === 'stop') this.stopped = result.reason;
      if (result.failure === 'stop' || (result.failure === 'split' && left.length === 1)) {
        return this.giveUpAll(left, result.reason);
      }
      if (result.failure === 'split') return this.halve(left);
      if (result.failed.length < left.length) attempt = 0;
      left = result.failed;
      if (left.length > 0 && attempt >= maxAttempts)
        return this.giveUpAll(left, `${attempt} attempts: ${result.reason}`);
      if (left.length > 0) {
        this.counts.retried += left.length;
        await this.sends.pause(attempt);
      }
    }
  }

  /** Finds the entry that a request was refused for, so that it alone stays behind. */
  private async halve(entries: readonly Entry[]): Promise<void> {
    const middle = Math.ceil(entries.length / 2);
    this.counts.retried += entries.length;
    await this.deliver(entries.slice(0, middle));
    await this.deliver(entries.slice(middle));
  }

  private async send(entries: readonly Entry[]): Promise<Answer> {
    const answer = await this.put(entries).then((output) => read(entries, output), refused(entries));
    this.counts.requests += 1;
    this.counts.sent += entries.length - answer.failed.length;
    this.report();
    return answer;
  }

  private put(entries: readonly Entry[]): Promise<PutRecordsCommandOutput> {
    const Records = entries.map(({ data, partitionKey }) => ({ Data: data, PartitionKey: partitionKey }));
    return this.options.client.send(new PutRecordsCommand({ StreamName: this.options.streamName, Records }));
  }

  private giveUpAll(entries: readonly Entry[], reason: string): void {
    for (const entry of entries) this.giveUp(entry, reason);
  }

  private giveUp({ line, data }: Entry, reason: string): void {
    this.counts.undelivered += 1;
    this.options.onUndelivered?.({ line, reason, data });
    this.report();
  }

  private report(): void {
    this.options.onProgress?.({ ...this.counts });
  }
}

interface Answer {
  readonly failed: readonly Entry[];
  readonly failure?: 'again' | 'split' | 'stop';
  readonly reason: string;
}

function read(entries: readonly Entry[], output: PutRecordsCommandOutput): Answer {
  const records = output.Records ?? [];
  if (records.length !== entries.length) {
    return {
      failed: entries,
      failure: 'again',
      reason: `an answer for ${records.length} of ${entries.length} records`,
    };
  }
  // An entry counts as delivered only when the stream gave it a position.
  const failed = entries.filter((_, index) => records[index]?.SequenceNumber === undefined);
  const first = records.find((record) => record.SequenceNumber === undefined);
  return { failed, reason: `${first?.ErrorCode ?? 'no reason given'}: ${first?.ErrorMessage ?? ''}` };
}

const refused =
  (entries: readonly Entry[]) =>
  (error: unknown): Answer => ({ failed: entries, failure: classifyPutError(error), reason: reasonOf(error) });
