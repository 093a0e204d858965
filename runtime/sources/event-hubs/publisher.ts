/**
 * Publishes lines to an event hub: the customer's id is the partition key, events of one customer go together in batches
 * as large as the hub takes, and only the batch that failed is sent again. Event Hubs does not recognize a duplicate: a
 * batch whose answer was lost is sent again and may be there twice, which the ledger absorbs.
 */
import type { CreateBatchOptions, EventDataBatch } from '@azure/event-hubs';
import type { Host } from '../../host/host';
import type { Entry } from '../publishing/entries';
import type { Publisher, PublishProgress, Undelivered } from '../publishing/progress';
import { Sends } from '../publishing/sends';
import { hubKeyOf, Window } from './publisher-entries';
import { sendFailure } from './publisher-errors';

/** Microsoft's producer. Its own retries are best switched off (`maxRetries: 0`): the publisher retries by batch. */
export interface HubProducer {
  createBatch(options: CreateBatchOptions): Promise<EventDataBatch>;
  sendBatch(batch: EventDataBatch): Promise<void>;
}

export interface HubPublisherOptions {
  readonly producer: HubProducer;
  readonly host: Host;
  /** Most events a second. Absent: as fast as the hub takes them. */
  readonly eventsPerSecond?: number;
  /** Sends in a row that may bring a batch no further. Absent: 10. */
  readonly maxAttempts?: number;
  /** Sends at a time. Absent: 32, because a customer with one event is a send of its own. */
  readonly concurrency?: number;
  /** Called after every send. */
  readonly onProgress?: (progress: HubPublishProgress) => void;
  /** Called for each line that could not be delivered, with its bytes. */
  readonly onUndelivered?: (line: Undelivered) => void;
}

export interface HubPublishProgress extends PublishProgress {
  /** Times an event was sent and nothing was answered: it may be in the hub, and if it was sent again, twice. */
  readonly unanswered: number;
}

export function createHubPublisher(options: HubPublisherOptions): Publisher<HubPublishProgress> {
  return { publish: (lines) => new Run(options).publish(lines) };
}

class Run {
  private readonly counts = { read: 0, sent: 0, retried: 0, unanswered: 0, undelivered: 0, requests: 0 };
  private readonly sends: Sends;
  /** Why nothing more is sent, once an error says that nothing ever passes. */
  private stopped: string | undefined;

  constructor(private readonly options: HubPublisherOptions) {
    const { host, concurrency = 32, eventsPerSecond } = options;
    this.sends = new Sends({ host, concurrency, perSecond: eventsPerSecond });
  }

  async publish(lines: AsyncIterable<Uint8Array>): Promise<HubPublishProgress> {
    const window = new Window();
    let line = 0;
    for await (const data of lines) {
      line += 1;
      if (data.byteLength === 0) continue;
      this.counts.read += 1;
      const entry: Entry = { line, data, partitionKey: hubKeyOf(data) };
      if (this.stopped !== undefined) this.giveUp([entry], this.stopped);
      else window.add(entry);
      if (window.full) await this.startAll(window.take());
    }
    await this.startAll(window.take());
    await this.sends.finish();
    return { ...this.counts };
  }

  /** Each group beside the others. */
  private async startAll(groups: readonly Entry[][]): Promise<void> {
    for (const group of groups) await this.sends.start(group.length, () => this.deliver(group));
  }

  /** Entries of one key, in as few sends as the hub's limit allows. */
  private async deliver(entries: readonly Entry[]): Promise<void> {
    let left = entries;
    let most = Number.POSITIVE_INFINITY;
    /** In a row, of the hub and not of what is sent to it. */
    let failures = 0;
    while (left.length > 0) {
      if (this.stopped !== undefined) return this.giveUp(left, this.stopped);
      const answer = await this.send(left.slice(0, most));
      if (answer.failure === undefined) {
        left = left.slice(answer.taken);
        failures = 0;
        continue;
      }
      const { what, reason } = answer.failure;
      if (what === 'stop') {
        this.stopped = reason;
      } else if (what === 'split') {
        failures = 0;
        // Halves find the one event that a batch was refused for, so that it alone stays behind.
        most = Math.max(1, Math.floor(answer.taken / 2));
        if (answer.taken <= 1) {
          this.giveUp(left.slice(0, 1), reason);
          left = left.slice(1);
          most = Number.POSITIVE_INFINITY;
        } else this.counts.retried += answer.taken;
      } else {
        failures += 1;
        if (failures >= (this.options.maxAttempts ?? 10)) {
          const doubt = answer.failure.refused ? '' : '; it may have arrived all the same';
          return this.giveUp(left, `${failures} attempts: ${reason}${doubt}`);
        }
        this.counts.retried += answer.taken;
        await this.sends.pause(failures);
      }
    }
  }

  /** The first of them, as many as the hub takes at once. */
  private async send(entries: readonly Entry[]): Promise<Answer> {
    let taken = entries.length;
    let sending = false;
    try {
      const batch = await this.options.producer.createBatch({ partitionKey: entries[0]?.partitionKey ?? '' });
      // The bytes of a line go as they are, whatever they are: the client writes nothing but a Buffer as bytes.
      const refusedAt = entries.findIndex(({ data }) => !batch.tryAdd({ body: Buffer.from(data) }));
      if (refusedAt === 0) {
        const reason = `larger than the hub takes (${batch.maxSizeInBytes} bytes with what AMQP adds)`;
        return { taken: 1, failure: { what: 'split', refused: true, reason } };
      }
      if (refusedAt > 0) taken = refusedAt;
      this.counts.requests += 1;
      sending = true;
      await this.options.producer.sendBatch(batch);
      this.counts.sent += taken;
      return { taken };
    } catch (error) {
      const failure = sendFailure(error);
      // What failed before it was sent is in no doubt.
      if (sending && !failure.refused) this.counts.unanswered += taken;
      return { taken, failure: { ...failure, refused: failure.refused || !sending } };
    } finally {
      this.report();
    }
  }

  private giveUp(entries: readonly Entry[], reason: string): void {
    for (const { line, data } of entries) {
      this.counts.undelivered += 1;
      this.options.onUndelivered?.({ line, reason, data });
    }
    this.report();
  }

  private report(): void {
    this.options.onProgress?.({ ...this.counts });
  }
}

interface Answer {
  /** How many of the first entries this is about. */
  readonly taken: number;
  readonly failure?: ReturnType<typeof sendFailure>;
}
