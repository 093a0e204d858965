/** The shards of a stream, as Kinesis lists them. */
import {
  type KinesisClient,
  ListShardsCommand,
  type ListShardsCommandInput,
  type Shard,
} from '@aws-sdk/client-kinesis';
import type { HashRange } from './lease-item';

export interface ShardView {
  readonly id: string;
  readonly parents: readonly string[];
  readonly hashRange: HashRange;
  /** Whether it still accepts records. */
  readonly open: boolean;
}

/** Name or ARN, exactly one. */
export type StreamRef = { readonly StreamName: string } | { readonly StreamARN: string };

/** Every shard within the stream's retention, or those the filter selects. */
export async function listShards(
  kinesis: KinesisClient,
  stream: StreamRef,
  filter?: ListShardsCommandInput['ShardFilter'],
): Promise<ShardView[]> {
  const shards: ShardView[] = [];
  let token: string | undefined;
  do {
    const page = await kinesis.send(
      new ListShardsCommand(token ? { NextToken: token } : { ...stream, ...(filter ? { ShardFilter: filter } : {}) }),
    );
    shards.push(...(page.Shards ?? []).flatMap(viewOf));
    token = page.NextToken;
  } while (token);
  return shards;
}

function viewOf(shard: Shard): ShardView[] {
  const { ShardId: id, HashKeyRange: range } = shard;
  if (!id || !range?.StartingHashKey || !range.EndingHashKey) return [];
  return [
    {
      id,
      parents: [shard.ParentShardId, shard.AdjacentParentShardId].filter((parent) => parent !== undefined),
      hashRange: { start: BigInt(range.StartingHashKey), end: BigInt(range.EndingHashKey) },
      open: shard.SequenceNumberRange?.EndingSequenceNumber === undefined,
    },
  ];
}
