/** Brings up what the template describes on local parts, all on loopback and free ports. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CreateTableCommand, type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  CreateStreamCommand,
  DescribeStreamSummaryCommand,
  IncreaseStreamRetentionPeriodCommand,
  KinesisClient,
} from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { Client } from 'pg';
import { systemHost } from '../../../../runtime/host';
import { startDynamoDb } from '../../../../test/emulators/dynamodb';
import { startKinesis } from '../../../../test/emulators/kinesis';
import type { PostgresServer } from '../../../../test/emulators/postgres';
import { startStripeEmulator } from '../../../../test/emulators/stripe';
import { type AwsFaultProxy, startAwsFaultProxy } from '../../../../test/support/aws-fault-proxy';
import { startManagedPostgres } from '../../../../test/support/managed-postgres';
import { type RdsEndpoint, startRdsEndpoint } from '../../../../test/support/rds/endpoint';
import type { Screen } from '../../screen';
import type { Container, Parts } from '../parts';
import { containerEnvironment, type Scope } from './resolve';
import { type ContainerPlan, type StackPlan, TemplateError } from './template';

export const STREAM_NAME = 'billing-usage';
export const TABLE_NAME = 'billing-usage-leases';
const REGION = 'us-east-1';
const ACCOUNT = '000000000000';
/** As a task has them from its role: with a session. */
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local', sessionToken: 'local' };

export interface KinesisParts extends Parts {
  readonly kinesis: KinesisClient;
  readonly dynamodb: DynamoDBClient;
  /** Stands between the workers and the lease table. */
  readonly leaseProxy: AwsFaultProxy;
}

/** `folder`: for files of the run. */
export async function startParts(plan: StackPlan, screen: Screen, folder: string): Promise<KinesisParts> {
  const started: { stop(): Promise<void> }[] = [];
  const keep = <T extends { stop(): Promise<void> }>(part: T): T => {
    started.push(part);
    return part;
  };
  const close = async () => {
    await Promise.allSettled(started.splice(0).map((part) => part.stop()));
  };
  try {
    const ownerPassword = randomBytes(20).toString('hex');
    const [{ server: postgres }, kinesis, dynamodb, stripe] = await Promise.all([
      startDatabase(plan, ownerPassword).then(keep),
      startKinesis().then(keep),
      startDynamoDb().then(keep),
      startStripeEmulator({ autoCustomers: true }).then((emulator) => {
        keep({ stop: () => emulator.close() });
        return emulator;
      }),
    ]);
    const leaseProxy = keep(await startAwsFaultProxy({ target: dynamodb.endpoint }));
    const clients = {
      kinesis: new KinesisClient(clientOptions(kinesis.endpoint)),
      dynamodb: new DynamoDBClient(clientOptions(dynamodb.endpoint)),
    };
    const rds = keep(await startDoor(plan, postgres));
    const trust = { PGSSLROOTCERT: join(folder, 'rds-authority.pem') };
    writeFileSync(trust.PGSSLROOTCERT, rds.authority.pem);
    await Promise.all([createStream(clients.kinesis, plan, screen), createTable(clients.dynamodb, plan, screen)]);
    const scope = scopeOf(plan, rds, ownerPassword);
    const run = ({ name, command, ...container }: ContainerPlan, local: Container['environment']): Container => {
      return { name, command, environment: { ...containerEnvironment(container, scope), ...local } };
    };
    return {
      stripe,
      ...clients,
      leaseProxy,
      migrate: run(plan.migrate, trust),
      worker: run(plan.worker, {
        AWS_ENDPOINT_URL_KINESIS: kinesis.endpoint,
        AWS_ENDPOINT_URL_DYNAMODB: leaseProxy.endpoint,
        AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
        AWS_SESSION_TOKEN: CREDENTIALS.sessionToken,
        ...trust,
        STRIPE_API_BASE: stripe.url,
      }),
      logins: rds.logins,
      endpoints: {
        PostgreSQL: `postgres://${plan.database.user}@${postgres.host}:${postgres.port}/${plan.database.name}`,
        Kinesis: kinesis.endpoint,
        DynamoDB: dynamodb.endpoint,
        Stripe: stripe.url,
      },
      async ledgerClient() {
        const client = new Client({ connectionString: postgres.url(plan.database.name) });
        await client.connect();
        return client;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function clientOptions(endpoint: string) {
  return {
    endpoint,
    region: REGION,
    credentials: CREDENTIALS,
    requestHandler: new NodeHttpHandler({ connectionTimeout: 2_000, requestTimeout: 20_000 }),
  };
}

/** The database and its owner as the template names them. */
function startDatabase(plan: StackPlan, ownerPassword: string) {
  return startManagedPostgres({ owner: plan.database.user, ownerPassword, database: plan.database.name });
}

/** A server without IAM authentication knows nobody's signature. */
function startDoor(plan: StackPlan, server: PostgresServer): Promise<RdsEndpoint> {
  return startRdsEndpoint({ server, region: REGION, credentials: plan.database.iamLogin ? [CREDENTIALS] : [] });
}

async function createStream(client: KinesisClient, plan: StackPlan, screen: Screen): Promise<void> {
  const { onDemand, shardCount, retentionHours } = plan.stream;
  await client.send(
    new CreateStreamCommand({
      StreamName: STREAM_NAME,
      StreamModeDetails: { StreamMode: onDemand ? 'ON_DEMAND' : 'PROVISIONED' },
      ...(onDemand ? {} : { ShardCount: shardCount }),
    }),
  );
  for (;;) {
    const summary = await client.send(new DescribeStreamSummaryCommand({ StreamName: STREAM_NAME }));
    const description = summary.StreamDescriptionSummary;
    if (description?.StreamStatus === 'ACTIVE') {
      screen.step(
        `stream ${STREAM_NAME}: ${onDemand ? 'on demand' : 'provisioned'}, ${description.OpenShardCount} shards`,
      );
      break;
    }
    await systemHost.sleep(100);
  }
  if (retentionHours > 24) {
    await client.send(
      new IncreaseStreamRetentionPeriodCommand({ StreamName: STREAM_NAME, RetentionPeriodHours: retentionHours }),
    );
  }
}

async function createTable(client: DynamoDBClient, plan: StackPlan, screen: Screen): Promise<void> {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, BillingMode } = plan.table.properties;
  // A provisioned global table says its capacity per replica; the stand-in does not throttle, so any will do.
  const provisioned = BillingMode === 'PROVISIONED' ? { ReadCapacityUnits: 5, WriteCapacityUnits: 5 } : undefined;
  const indexes = (GlobalSecondaryIndexes as CreateTableCommandInput['GlobalSecondaryIndexes'])?.map((index) => ({
    IndexName: index.IndexName,
    KeySchema: index.KeySchema,
    Projection: index.Projection,
    ...(provisioned ? { ProvisionedThroughput: provisioned } : {}),
  }));
  const input = {
    TableName: TABLE_NAME,
    KeySchema,
    AttributeDefinitions,
    BillingMode,
    ...(indexes ? { GlobalSecondaryIndexes: indexes } : {}),
    ...(provisioned ? { ProvisionedThroughput: provisioned } : {}),
  } as unknown as CreateTableCommandInput;
  try {
    await client.send(new CreateTableCommand(input));
  } catch (error) {
    throw new TemplateError(`The lease table of the template cannot be created: ${(error as Error).message}`);
  }
  const keys = (KeySchema as { AttributeName: string }[]).map((key) => key.AttributeName).join(', ');
  screen.step(
    `lease table ${TABLE_NAME}: key ${keys}, ${BillingMode}, indexes ${indexes?.map((i) => i.IndexName).join(', ') ?? 'none'}`,
  );
}

function scopeOf(plan: StackPlan, rds: RdsEndpoint, ownerPassword: string): Scope {
  const { id, user, managedPassword } = plan.database;
  const attributes = {
    [`${plan.stream.id}.Arn`]: `arn:aws:kinesis:${REGION}:${ACCOUNT}:stream/${STREAM_NAME}`,
    [`${plan.table.id}.Arn`]: `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${TABLE_NAME}`,
    [`${id}.Endpoint.Address`]: rds.host,
    [`${id}.Endpoint.Port`]: String(rds.port),
  };
  const owner = { username: user, password: ownerPassword };
  return {
    template: plan.template,
    refs: {
      'AWS::Region': REGION,
      'AWS::AccountId': ACCOUNT,
      'AWS::Partition': 'aws',
      'AWS::URLSuffix': 'amazonaws.com',
      [plan.stream.id]: STREAM_NAME,
      [plan.table.id]: TABLE_NAME,
    },
    attributes: managedPassword
      ? { ...attributes, [`${id}.MasterUserSecret.SecretArn`]: `arn:local:secret:${id}` }
      : attributes,
    secrets: {
      ...(managedPassword ? { [id]: owner } : {}),
      'billing/stripe-rk': 'rk_test_local_0123456789abcdef',
    },
  };
}
