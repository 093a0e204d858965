/** The local Kinesis and DynamoDB of a test file, and the few calls that tests make on them. */
import {
  CreateTableCommand,
  DeleteItemCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import {
  CreateStreamCommand,
  DescribeStreamSummaryCommand,
  type KinesisClient,
  ListShardsCommand,
  PutRecordCommand,
  type Shard,
} from '@aws-sdk/client-kinesis';
import { type AwsClients, awsClients } from '../../runtime/sources/kinesis';
import { type Item, itemKey } from '../../runtime/sources/kinesis/lease-item';
import { startDynamoDb } from '../emulators/dynamodb';
import { startKinesis } from '../emulators/kinesis';
import { until } from './until';

export interface AwsLocal extends AwsClients {
  readonly kinesisEndpoint: string;
  readonly dynamodbEndpoint: string;
  stop(): Promise<void>;
}

/** Both emulators, and clients that go to them directly. */
export async function startAwsLocal(): Promise<AwsLocal> {
  useLocalCredentials();
  const [kinesis, dynamodb] = await Promise.all([startKinesis(), startDynamoDb()]);
  const clients = localClients(kinesis.endpoint, dynamodb.endpoint, 30_000);
  return {
    ...clients,
    kinesisEndpoint: kinesis.endpoint,
    dynamodbEndpoint: dynamodb.endpoint,
    stop: async () => {
      clients.destroy();
      await Promise.all([kinesis.stop(), dynamodb.stop()]);
    },
  };
}

/** Clients as the runtime builds them. */
export function localClients(kinesisEndpoint: string, dynamodbEndpoint: string, leaseDurationMs: number): AwsClients {
  return awsClients({ region: 'us-east-1', kinesisEndpoint, dynamodbEndpoint, leaseDurationMs });
}

/** The emulators accept any signature. */
export function useLocalCredentials(): void {
  process.env.AWS_ACCESS_KEY_ID = 'local';
  process.env.AWS_SECRET_ACCESS_KEY = 'local';
}

export async function createLeaseTable(dynamodb: DynamoDBClient, tableName: string, key = 'leaseKey'): Promise<void> {
  await dynamodb.send(
    new CreateTableCommand({
      TableName: tableName,
      KeySchema: [{ AttributeName: key, KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: key, AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  await until(`table ${tableName} is active`, async () => {
    const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: tableName }));
    return Table?.TableStatus === 'ACTIVE';
  });
}

export async function createStream(kinesis: KinesisClient, streamName: string, shards: number): Promise<void> {
  await kinesis.send(new CreateStreamCommand({ StreamName: streamName, ShardCount: shards }));
  await streamActive(kinesis, streamName);
}

export async function streamActive(kinesis: KinesisClient, streamName: string): Promise<void> {
  await until(`stream ${streamName} is active`, async () => {
    const summary = await kinesis.send(new DescribeStreamSummaryCommand({ StreamName: streamName }));
    return summary.StreamDescriptionSummary?.StreamStatus === 'ACTIVE';
  });
}

export async function shardsOf(kinesis: KinesisClient, streamName: string): Promise<Shard[]> {
  return (await kinesis.send(new ListShardsCommand({ StreamName: streamName }))).Shards ?? [];
}

/** Answers the sequence number. */
export async function put(
  kinesis: KinesisClient,
  streamName: string,
  partitionKey: string,
  data: string | Uint8Array,
  explicitHashKey?: string,
): Promise<string> {
  const answer = await kinesis.send(
    new PutRecordCommand({
      StreamName: streamName,
      PartitionKey: partitionKey,
      Data: typeof data === 'string' ? Buffer.from(data) : data,
      ...(explicitHashKey ? { ExplicitHashKey: explicitHashKey } : {}),
    }),
  );
  return answer.SequenceNumber ?? '';
}

export async function leaseItems(dynamodb: DynamoDBClient, tableName: string): Promise<Map<string, Item>> {
  const answer = await dynamodb.send(new ScanCommand({ TableName: tableName, ConsistentRead: true }));
  return new Map((answer.Items ?? []).map((item) => [item.leaseKey?.S ?? '', item]));
}

export async function putItem(dynamodb: DynamoDBClient, tableName: string, item: Item): Promise<void> {
  await dynamodb.send(new PutItemCommand({ TableName: tableName, Item: item }));
}

export async function deleteLease(dynamodb: DynamoDBClient, tableName: string, key: string): Promise<void> {
  await dynamodb.send(new DeleteItemCommand({ TableName: tableName, Key: itemKey(key) }));
}
