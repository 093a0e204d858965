/** What is on the deployed stream, and how far its leases have got. */
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetRecordsCommand, GetShardIteratorCommand, ListShardsCommand } from '@aws-sdk/client-kinesis';
import type { AwsClients } from './clients';

export interface StreamRecord {
  readonly shard: string;
  readonly sequenceNumber: string;
  readonly data: string;
}

/** Everything, in the order of each shard. */
export async function recordsOf({ kinesis }: AwsClients, StreamName: string): Promise<StreamRecord[]> {
  const { Shards = [] } = await kinesis.send(new ListShardsCommand({ StreamName }));
  const records = Shards.map(async ({ ShardId }) => {
    const from = new GetShardIteratorCommand({ StreamName, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
    const { ShardIterator } = await kinesis.send(from);
    const { Records = [] } = await kinesis.send(new GetRecordsCommand({ ShardIterator, Limit: 10_000 }));
    return Records.map(({ SequenceNumber, Data }) => ({
      shard: ShardId!,
      sequenceNumber: SequenceNumber!,
      data: Buffer.from(Data!).toString(),
    }));
  });
  return (await Promise.all(records)).flat();
}

/** By shard. */
export async function checkpointsOf({ dynamodb }: AwsClients, TableName: string): Promise<Record<string, string>> {
  const { Items = [] } = await dynamodb.send(new ScanCommand({ TableName, ConsistentRead: true }));
  return Object.fromEntries(Items.map((item) => [item.leaseKey?.S, item.checkpoint?.S ?? '']));
}

/** Whether a shard's checkpoint is at a record of it or behind it: the record is not read again. */
export function isPassed(checkpoint: string | undefined, { sequenceNumber }: StreamRecord): boolean {
  if (checkpoint === undefined || !/^\d+$/.test(checkpoint)) return false;
  return BigInt(checkpoint) >= BigInt(sequenceNumber);
}
