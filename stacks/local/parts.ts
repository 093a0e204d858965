/** Brings up what the template describes on local parts, all on loopback and free ports. */
import { randomBytes } from 'node:crypto';
import { CreateTableCommand, type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  CreateStreamCommand,
  DescribeStreamSummaryCommand,
  IncreaseStreamRetentionPeriodCommand,
  KinesisClient,
} from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { Client } from 'pg';
import { systemHost } from '../../runtime/host';
import { startDynamoDb } from '../../test/emulators/dynamodb';
import { startKinesis } from '../../test/emulators/kinesis';
import { type PostgresServer, startPostgres } from '../../test/emulators/postgres';
import { type StripeEmulator, startStripeEmulator } from '../../test/emulators/stripe';
import { type AwsFaultProxy, startAwsFaultProxy } from '../../test/support/aws-fault-proxy';
import type { Scope } from './resolve';
import type { Screen } from './screen';
import { type StackPlan, TemplateError } from './template';

export const STREAM_NAME = 'billing-usage';
export const TABLE_NAME = 'billing-usage-leases';
const REGION = 'us-east-1';
const ACCOUNT = '000000000000';
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

export interface Parts {
  readonly postgres: PostgresServer;
  readonly stripe: StripeEmulator;
  readonly kinesis: KinesisClient;
  readonly dynamodb: DynamoDBClient;
  /** Stands between the workers and the lease table. */
  readonly leaseProxy: AwsFaultProxy;
  readonly scope: Scope;
  /** What a worker needs beyond its template to find the local parts. */
  readonly localEnvironment: Readonly<Record<string, string>>;
  readonly endpoints: Readonly<Record<string, string>>;
  ledgerClient(): Promise<Client>;
  close(): Promise<void>;
}

export async function startParts(plan: StackPlan, screen: Screen): Promise<Parts> {
  const started: { stop(): Promise<void> }[] = [];
  const keep = <T extends { stop(): Promise<void> }>(part: T): T => {
    started.push(part);
    return part;
  };
  const close = async () => {
    await Promise.allSettled(started.splice(0).map((part) => part.stop()));
  };
  try {
    const [postgres, kinesis, dynamodb, stripe] = await Promise.all([
      startPostgres().then(keep),
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
    const ledger = await createLedger(postgres, plan);
    await Promise.all([createStream(clients.kinesis, plan, screen), createTable(clients.dynamodb, plan, screen)]);
    return {
      postgres,
      stripe,
      ...clients,
      leaseProxy,
      scope: scopeOf(plan, postgres, ledger),
      localEnvironment: {
        AWS_ENDPOINT_URL_KINESIS: kinesis.endpoint,
        AWS_ENDPOINT_URL_DYNAMODB: leaseProxy.endpoint,
        AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
        STRIPE_API_BASE: stripe.url,
      },
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

/** The database and its owner as the template names them; the password is made as Secrets Manager would. */
async function createLedger(postgres: PostgresServer, plan: StackPlan): Promise<{ password: string }> {
  const password = randomBytes(20).toString('hex');
  await postgres.createDatabase(plan.database.name);
  const client = new Client({ connectionString: postgres.url('postgres') });
  await client.connect();
  try {
    const owner = client.escapeIdentifier(plan.database.user);
    await client.query(`CREATE ROLE ${owner} LOGIN PASSWORD ${client.escapeLiteral(password)}`);
    await client.query(`ALTER DATABASE ${client.escapeIdentifier(plan.database.name)} OWNER TO ${owner}`);
  } finally {
    await client.end();
  }
  return { password };
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

function scopeOf(plan: StackPlan, postgres: PostgresServer, ledger: { password: string }): Scope {
  const secretIds = Object.entries(plan.template.Resources)
    .filter(([, resource]) => resource.Type === 'AWS::SecretsManager::Secret')
    .map(([id]) => id);
  const owner = {
    username: plan.database.user,
    password: ledger.password,
    dbname: plan.database.name,
    host: postgres.host,
    port: String(postgres.port),
  };
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
    attributes: {
      [`${plan.stream.id}.Arn`]: `arn:aws:kinesis:${REGION}:${ACCOUNT}:stream/${STREAM_NAME}`,
      [`${plan.table.id}.Arn`]: `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${TABLE_NAME}`,
      [`${plan.database.id}.Endpoint.Address`]: postgres.host,
      [`${plan.database.id}.Endpoint.Port`]: String(postgres.port),
    },
    secrets: {
      ...Object.fromEntries(secretIds.map((id) => [id, owner])),
      'billing/stripe-rk': 'rk_test_local_0123456789abcdef',
    },
  };
}
