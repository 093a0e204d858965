/** A shard is split under the workers: they finish the parent before its children. */
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { ListShardsCommand, SplitShardCommand } from '@aws-sdk/client-kinesis';
import type { FaultContext } from '../../faults/context';
import { until } from '../../fleet';
import { type KinesisParts, STREAM_NAME, TABLE_NAME } from './parts';

/** Answers the id of the closed parent. */
export async function splitAShard({ parts, screen, log }: FaultContext<KinesisParts>): Promise<string | undefined> {
  log.injected('split');
  const { Shards = [] } = await parts.kinesis.send(new ListShardsCommand({ StreamName: STREAM_NAME }));
  const open = Shards.find((shard) => shard.SequenceNumberRange?.EndingSequenceNumber === undefined);
  const range = open?.HashKeyRange;
  if (!open?.ShardId || !range?.StartingHashKey || !range.EndingHashKey) return undefined;
  const middle = (BigInt(range.StartingHashKey) + BigInt(range.EndingHashKey)) / 2n + 1n;
  await parts.kinesis.send(
    new SplitShardCommand({
      StreamName: STREAM_NAME,
      ShardToSplit: open.ShardId,
      NewStartingHashKey: middle.toString(),
    }),
  );
  screen.fault('split', `${open.ShardId} was split in two`);
  return open.ShardId;
}

/** The parent was read to its end and its children have leases. */
export async function awaitSplit(parentId: string, { parts, screen, log }: FaultContext<KinesisParts>): Promise<void> {
  const done = await until(
    async () => {
      const { Items = [] } = await parts.dynamodb.send(new ScanCommand({ TableName: TABLE_NAME }));
      const parent = Items.find((item) => item.leaseKey?.S === parentId);
      const children = Items.filter((item) => item.parentShardId?.SS?.includes(parentId));
      return children.length === 2 && (parent === undefined || parent.checkpoint?.S === 'SHARD_END');
    },
    60_000,
    500,
  );
  if (done) log.seen('split');
  screen.fault(
    'split',
    done ? 'the parent was read to its end, both children have leases' : 'the children were not found',
  );
}
