/** Microsoft's own clients of Event Hubs, with what they received, closed together. */
import {
  EventHubConsumerClient,
  EventHubProducerClient,
  earliestEventPosition,
  type PartitionContext,
  type ReceivedEventData,
  type RetryOptions,
  type SubscribeOptions,
} from '@azure/event-hubs';

export interface HubAddress {
  readonly connectionString: string;
  readonly hub: string;
  readonly group: string;
}

export interface Reader {
  readonly events: ReceivedEventData[];
  readonly errors: Error[];
  readonly contexts: PartitionContext[];
  close(): Promise<void>;
}

export interface ReadOptions extends SubscribeOptions {
  readonly group?: string;
  /** Called with each batch; reading goes on when it is done. */
  readonly handle?: () => Promise<void>;
}

export class Clients {
  private readonly open: { close(): Promise<void> }[] = [];

  constructor(
    private readonly at: HubAddress,
    private readonly retryOptions: RetryOptions = { maxRetries: 3, timeoutInMs: 10_000, retryDelayInMs: 50 },
  ) {}

  producer(hub = this.at.hub): EventHubProducerClient {
    const { retryOptions } = this;
    return this.toClose(new EventHubProducerClient(this.at.connectionString, hub, { retryOptions }));
  }

  /** Reads a partition from its beginning, unless a position is given. */
  read(partition: string, { group = this.at.group, handle, ...options }: ReadOptions = {}): Reader {
    const { retryOptions } = this;
    const client = new EventHubConsumerClient(group, this.at.connectionString, this.at.hub, { retryOptions });
    const reader: Reader = { events: [], errors: [], contexts: [], close: () => client.close() };
    client.subscribe(
      partition,
      {
        async processEvents(events, context) {
          reader.events.push(...events);
          reader.contexts.push(context);
          await handle?.();
        },
        async processError(error) {
          reader.errors.push(error);
        },
      },
      { startPosition: earliestEventPosition, maxBatchSize: 50, maxWaitTimeInSeconds: 1, ...options },
    );
    return this.toClose(reader);
  }

  toClose<T extends { close(): Promise<void> }>(client: T): T {
    this.open.push(client);
    return client;
  }

  async close(): Promise<void> {
    await Promise.all(this.open.splice(0).map((each) => each.close()));
  }
}

export const bodies = (reader: Reader): unknown[] => reader.events.map(({ body }) => body);

/** Events whose bodies are whole numbers. */
export const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, n) => ({ body: n + from }));
