/** The last list of the stream's shards, shared by all parts of one source. */
import type { KinesisClient } from '@aws-sdk/client-kinesis';
import type { Host } from '../../host/host';
import { dateOf } from '../../host/instant';
import { isMissing } from './aws-errors';
import { type Checkpoint, type InitialPosition, initialTimestamp } from './positions';
import { listShards, type ShardView, type StreamRef } from './shards';

export class ShardCatalog {
  private byId: ReadonlyMap<string, ShardView> = new Map();
  private listedAt: number | undefined;

  constructor(
    private readonly kinesis: KinesisClient,
    private readonly stream: StreamRef,
    private readonly host: Host,
  ) {}

  /** Monotonic milliseconds since the list was fetched; infinite before the first time. */
  get ageMs(): number {
    return this.listedAt === undefined ? Number.POSITIVE_INFINITY : this.host.monotonic() - this.listedAt;
  }

  get shards(): readonly ShardView[] {
    return [...this.byId.values()];
  }

  has(id: string): boolean {
    return this.byId.has(id);
  }

  parentsOf(id: string): readonly string[] {
    return this.byId.get(id)?.parents ?? [];
  }

  childrenOf(id: string): readonly ShardView[] {
    return this.shards.filter((shard) => shard.parents.includes(id));
  }

  /** Fetches the whole list. Fails in words when there is no such stream. */
  async refresh(): Promise<void> {
    const shards = await this.list();
    this.byId = new Map(shards.map((shard) => [shard.id, shard]));
    this.listedAt = this.host.monotonic();
  }

  /** The shards that Kinesis names for the initial position of a stream nobody has read yet. */
  initial(position: InitialPosition, checkpoint: Checkpoint): Promise<ShardView[]> {
    const at = initialTimestamp(position);
    if (at !== undefined) return this.list({ Type: 'AT_TIMESTAMP', Timestamp: dateOf(at) });
    return this.list({ Type: checkpoint.sequence === 'LATEST' ? 'AT_LATEST' : 'AT_TRIM_HORIZON' });
  }

  private async list(filter?: Parameters<typeof listShards>[2]): Promise<ShardView[]> {
    try {
      return await listShards(this.kinesis, this.stream, filter);
    } catch (error) {
      if (!isMissing(error)) throw error;
      const name = 'StreamName' in this.stream ? this.stream.StreamName : this.stream.StreamARN;
      throw new StreamMissingError(
        `The Kinesis stream "${name}" does not exist. Deploy the BillingStream construct, or set STREAM_NAME or STREAM_ARN to its name.`,
      );
    }
  }
}

/** There is no such stream; waiting will not help at start. */
export class StreamMissingError extends Error {
  override readonly name = 'StreamMissingError';
}
