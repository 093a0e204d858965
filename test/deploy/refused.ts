/** What the deployed roles are asked to do that is none of their business. IAM must refuse every one of these. */
import { PutMetricAlarmCommand } from '@aws-sdk/client-cloudwatch';
import { DeleteLogGroupCommand } from '@aws-sdk/client-cloudwatch-logs';
import * as dynamodb from '@aws-sdk/client-dynamodb';
import { DescribeInstancesCommand } from '@aws-sdk/client-ec2';
import { RunTaskCommand, StopTaskCommand, UpdateServiceCommand } from '@aws-sdk/client-ecs';
import { CreateUserCommand, ListRolesCommand, PutRolePolicyCommand } from '@aws-sdk/client-iam';
import * as kinesis from '@aws-sdk/client-kinesis';
import { DeleteDBInstanceCommand, ModifyDBInstanceCommand } from '@aws-sdk/client-rds';
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
  PutSecretValueCommand,
} from '@aws-sdk/client-secrets-manager';
import { PublishCommand } from '@aws-sdk/client-sns';
import { AssumeRoleCommand } from '@aws-sdk/client-sts';
import type { AwsClients } from './clients';
import type { DeployedWorld } from './deployed-world';
import { STRIPE_SECRET } from './deployment';
import { createRole } from './identity';

/** Names of what is deployed, and of what only lies beside it. */
export interface Names {
  readonly stream: string;
  readonly shard: string;
  /** Of that shard. */
  readonly iterator: string;
  readonly table: string;
  readonly otherTable: string;
  readonly database: string;
  readonly ownerSecret: string;
  readonly stripeSecret: string;
  readonly otherSecret: string;
  readonly logGroup: string;
  readonly cluster: string;
  readonly service: string;
  readonly taskDefinition: string;
  readonly otherRole: string;
  readonly topic: string;
}

/** Of a deployed world; another table, secret and role are put beside it. */
export async function namesOf(world: DeployedWorld): Promise<Names> {
  const { clients } = world.deployment;
  const otherTable = 'another-table';
  await clients.dynamodb.send(
    new dynamodb.CreateTableCommand({
      TableName: otherTable,
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  const secret = await clients.secrets.send(new CreateSecretCommand({ Name: 'another/secret', SecretString: 'a' }));
  const { attributes } = await world.reading('AWS::RDS::DBInstance');
  const stream = world.physicalId('AWS::Kinesis::Stream');
  const shard = 'shardId-000000000000';
  const { ShardIterator } = await clients.kinesis.send(
    new kinesis.GetShardIteratorCommand({ StreamName: stream, ShardId: shard, ShardIteratorType: 'LATEST' }),
  );
  return {
    stream,
    shard,
    iterator: ShardIterator!,
    table: world.physicalId('AWS::DynamoDB::GlobalTable'),
    otherTable,
    database: world.physicalId('AWS::RDS::DBInstance'),
    ownerSecret: attributes!['MasterUserSecret.SecretArn']!,
    stripeSecret: STRIPE_SECRET,
    otherSecret: secret.ARN!,
    logGroup: world.physicalId('AWS::Logs::LogGroup'),
    cluster: world.physicalId('AWS::ECS::Cluster'),
    service: world.physicalId('AWS::ECS::Service'),
    taskDefinition: world.physicalId('AWS::ECS::TaskDefinition'),
    otherRole: await createRole(clients, 'another-role'),
    topic: world.physicalId('AWS::SNS::Topic'),
  };
}

export type Calls = Readonly<Record<string, (aws: AwsClients, names: Names) => Promise<unknown>>>;

const lease = { leaseKey: { S: 'shardId-000000000000' } };

/** Neither a worker nor a person on call needs any of it. */
const NOBODYS: Calls = {
  'kinesis:PutRecord': ({ kinesis: client }, { stream: StreamName }) =>
    client.send(new kinesis.PutRecordCommand({ StreamName, PartitionKey: 'a', Data: Buffer.from('a') })),
  'kinesis:SplitShard': ({ kinesis: client }, { stream: StreamName, shard: ShardToSplit }) =>
    client.send(new kinesis.SplitShardCommand({ StreamName, ShardToSplit, NewStartingHashKey: '1000' })),
  'kinesis:DecreaseStreamRetentionPeriod': ({ kinesis: client }, { stream: StreamName }) =>
    client.send(new kinesis.DecreaseStreamRetentionPeriodCommand({ StreamName, RetentionPeriodHours: 24 })),
  'kinesis:StopStreamEncryption': ({ kinesis: client }, { stream: StreamName }) =>
    client.send(new kinesis.StopStreamEncryptionCommand({ StreamName, EncryptionType: 'KMS', KeyId: 'a' })),
  'kinesis:DeleteStream': ({ kinesis: client }, { stream: StreamName }) =>
    client.send(new kinesis.DeleteStreamCommand({ StreamName })),
  'dynamodb:PutItem on another table': ({ dynamodb: client }, { otherTable: TableName }) =>
    client.send(new dynamodb.PutItemCommand({ TableName, Item: { id: { S: 'a' } } })),
  'dynamodb:Scan on another table': ({ dynamodb: client }, { otherTable: TableName }) =>
    client.send(new dynamodb.ScanCommand({ TableName })),
  'dynamodb:CreateTable': ({ dynamodb: client }) =>
    client.send(
      new dynamodb.CreateTableCommand({
        TableName: 'mine',
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        BillingMode: 'PAY_PER_REQUEST',
      }),
    ),
  'dynamodb:UpdateTable': ({ dynamodb: client }, { table: TableName }) =>
    client.send(new dynamodb.UpdateTableCommand({ TableName, DeletionProtectionEnabled: false })),
  'dynamodb:DeleteTable': ({ dynamodb: client }, { table: TableName }) =>
    client.send(new dynamodb.DeleteTableCommand({ TableName })),
  "secretsmanager:GetSecretValue of the owner's password": ({ secrets }, { ownerSecret: SecretId }) =>
    secrets.send(new GetSecretValueCommand({ SecretId })),
  "secretsmanager:GetSecretValue of Stripe's key": ({ secrets }, { stripeSecret: SecretId }) =>
    secrets.send(new GetSecretValueCommand({ SecretId })),
  'secretsmanager:PutSecretValue': ({ secrets }, { stripeSecret: SecretId }) =>
    secrets.send(new PutSecretValueCommand({ SecretId, SecretString: 'a' })),
  'secretsmanager:ListSecrets': ({ secrets }) => secrets.send(new ListSecretsCommand({})),
  'rds:ModifyDBInstance': ({ rds }, { database: DBInstanceIdentifier }) =>
    rds.send(new ModifyDBInstanceCommand({ DBInstanceIdentifier, DeletionProtection: false })),
  'rds:DeleteDBInstance': ({ rds }, { database: DBInstanceIdentifier }) =>
    rds.send(new DeleteDBInstanceCommand({ DBInstanceIdentifier, SkipFinalSnapshot: true })),
  'iam:ListRoles': ({ iam }) => iam.send(new ListRolesCommand({})),
  'iam:CreateUser': ({ iam }) => iam.send(new CreateUserCommand({ UserName: 'mine' })),
  'iam:PutRolePolicy': ({ iam }, { otherRole }) =>
    iam.send(
      new PutRolePolicyCommand({ RoleName: otherRole.split('/').at(-1), PolicyName: 'a', PolicyDocument: '{}' }),
    ),
  'sts:AssumeRole': ({ sts }, { otherRole: RoleArn }) =>
    sts.send(new AssumeRoleCommand({ RoleArn, RoleSessionName: 'a' })),
  'ecs:RunTask': ({ ecs }, { cluster, taskDefinition }) => ecs.send(new RunTaskCommand({ cluster, taskDefinition })),
  'ecs:StopTask': ({ ecs }, { cluster }) => ecs.send(new StopTaskCommand({ cluster, task: 'a' })),
  'ecs:UpdateService': ({ ecs }, { cluster, service }) =>
    ecs.send(new UpdateServiceCommand({ cluster, service, desiredCount: 0 })),
  'logs:DeleteLogGroup': ({ logs }, { logGroup: logGroupName }) =>
    logs.send(new DeleteLogGroupCommand({ logGroupName })),
  'cloudwatch:PutMetricAlarm': ({ cloudWatch }) =>
    cloudWatch.send(
      new PutMetricAlarmCommand({
        ...{ AlarmName: 'a', MetricName: 'a', Namespace: 'a', Statistic: 'Sum', Period: 60, EvaluationPeriods: 1 },
        ...{ Threshold: 1, ComparisonOperator: 'GreaterThanThreshold' },
      }),
    ),
  'sns:Publish': ({ sns }, { topic: TopicArn }) => sns.send(new PublishCommand({ TopicArn, Message: 'a' })),
  'ec2:DescribeInstances': ({ ec2 }) => ec2.send(new DescribeInstancesCommand({})),
};

/** What a worker does all day, and a person on call never. */
const WORKERS: Calls = {
  'kinesis:ListShards': ({ kinesis: client }, { stream: StreamName }) =>
    client.send(new kinesis.ListShardsCommand({ StreamName })),
  'kinesis:DescribeStreamSummary': ({ kinesis: client }, { stream: StreamName }) =>
    client.send(new kinesis.DescribeStreamSummaryCommand({ StreamName })),
  'kinesis:GetShardIterator': ({ kinesis: client }, { stream: StreamName, shard: ShardId }) =>
    client.send(new kinesis.GetShardIteratorCommand({ StreamName, ShardId, ShardIteratorType: 'LATEST' })),
  // An iterator of somebody else's making: the ops task can have none of its own.
  'kinesis:GetRecords': ({ kinesis: client }, { iterator: ShardIterator }) =>
    client.send(new kinesis.GetRecordsCommand({ ShardIterator })),
  'dynamodb:Scan': ({ dynamodb: client }, { table: TableName }) => client.send(new dynamodb.ScanCommand({ TableName })),
  'dynamodb:GetItem': ({ dynamodb: client }, { table: TableName }) =>
    client.send(new dynamodb.GetItemCommand({ TableName, Key: lease })),
  'dynamodb:UpdateItem': ({ dynamodb: client }, { table: TableName }) =>
    client.send(
      new dynamodb.UpdateItemCommand({
        TableName,
        Key: lease,
        UpdateExpression: 'SET leaseOwner = :me',
        // Never true: what is asked is whether the call is let through.
        ConditionExpression: 'leaseOwner = :nobody',
        ExpressionAttributeValues: { ':me': { S: 'me' }, ':nobody': { S: 'nobody' } },
      }),
    ),
  'dynamodb:Query on the index': ({ dynamodb: client }, { table: TableName }) =>
    client.send(
      new dynamodb.QueryCommand({
        TableName,
        IndexName: 'LeaseOwnerToLeaseKeyIndex',
        KeyConditionExpression: 'leaseOwner = :me',
        ExpressionAttributeValues: { ':me': { S: 'me' } },
      }),
    ),
};

const OTHER_SECRETS: Calls = {
  'secretsmanager:GetSecretValue of another secret': ({ secrets }, { otherSecret: SecretId }) =>
    secrets.send(new GetSecretValueCommand({ SecretId })),
};

const secretsOf = (name: 'ownerSecret' | 'stripeSecret'): Calls => ({
  [`secretsmanager:GetSecretValue of the ${name}`]: ({ secrets }, names) =>
    secrets.send(new GetSecretValueCommand({ SecretId: names[name] })),
});

/** By role: what it may do, and what it may not. */
export const PERMISSIONS: Readonly<
  Record<string, { readonly container: string; readonly execution: boolean; readonly may: Calls; readonly not: Calls }>
> = {
  'the role of the worker': {
    container: 'worker',
    execution: false,
    may: WORKERS,
    not: { ...NOBODYS, ...OTHER_SECRETS },
  },
  'the role of the ops task': {
    container: 'ops',
    execution: false,
    may: {},
    not: { ...NOBODYS, ...WORKERS, ...OTHER_SECRETS },
  },
  "the role that starts the worker's task": {
    container: 'worker',
    execution: true,
    may: { ...secretsOf('ownerSecret'), ...secretsOf('stripeSecret') },
    not: { ...WORKERS, ...OTHER_SECRETS },
  },
  'the role that starts the ops task': {
    container: 'ops',
    execution: true,
    may: secretsOf('stripeSecret'),
    not: { ...secretsOf('ownerSecret'), ...WORKERS, ...OTHER_SECRETS },
  },
};

/** Undefined when the call is let through, whatever became of it; else the name of the refusal. */
export async function refusal(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    const { name } = error as Error;
    return /AccessDenied|UnauthorizedOperation|AuthorizationError/.test(name) ? name : undefined;
  }
}
