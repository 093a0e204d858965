/** The ways in which people build with the constructs: what the linters, the matrix and the frozen lists look at. */
import { type App, type Environment, Stack } from 'aws-cdk-lib';
import * as actions from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import * as sns from 'aws-cdk-lib/aws-sns';
import {
  BillingConsumer,
  BillingMonitoring,
  BillingStream,
  KinesisBilling,
  LeaseTable,
  LedgerDatabase,
  Migrations,
  SpendCap,
  StripeMode,
} from '../../constructs/aws';
import { addComposed } from '../../stacks/aws/composed';

/** Puts stacks into an app. */
export type Shape = (app: App, env?: Environment) => void;

const stackIn = (app: App, id: string, env: Environment | undefined) =>
  new Stack(app, id, env === undefined ? {} : { env });
/** Stands for the packaged image, whose hash is another after every change of the runtime. */
const image = ecs.ContainerImage.fromRegistry('example.test/chargeonce@sha256:0');
const stripeKeyOf = (stack: Stack) => secrets.Secret.fromSecretNameV2(stack, 'StripeKey', 'billing/stripe-rk');

/** Somebody to page. */
function alarmActionsOf(stack: Stack) {
  const topic = new sns.Topic(stack, 'Pager', { enforceSSL: true });
  topic.grantPublish(new iam.ServicePrincipal('cloudwatch.amazonaws.com'));
  return [new actions.SnsAction(topic as sns.ITopic)];
}

/** The first screen of the README, with the packaged image. */
const pattern: Shape = (app, env) => {
  const stack = stackIn(app, 'Billing', env);
  const billing = new KinesisBilling(stack, 'Usage', {
    stripeKey: stripeKeyOf(stack),
    stripeMode: StripeMode.TEST,
    spendCap: SpendCap.perPeriod({ usd: 50_000_00 }),
    alarmActions: alarmActionsOf(stack),
  });
  billing.stream.grantPublish(iam.Role.fromRoleName(stack, 'Metering', 'metering'));
};

/** Parts of a size that is known, with a key of one's own, and a schema that a person brings up to date. */
const sized: Shape = (app, env) => {
  const stack = stackIn(app, 'Sized', env);
  const encryptionKey = new kms.Key(stack, 'Key', { enableKeyRotation: true }) as kms.IKey;
  const vpc = new ec2.Vpc(stack, 'Vpc', { flowLogs: { All: {} }, restrictDefaultSecurityGroup: false }) as ec2.IVpc;
  new KinesisBilling(stack, 'Usage', {
    vpc,
    stream: new BillingStream(stack, 'Stream', {
      streamMode: kinesis.StreamMode.PROVISIONED,
      shardCount: 4,
      encryptionKey,
    }),
    leaseTable: new LeaseTable(stack, 'Leases', { maxShards: 100 }),
    ledger: new LedgerDatabase(stack, 'Ledger', { vpc, encryptionKey }),
    stripeKey: stripeKeyOf(stack),
    spendCap: SpendCap.off(),
    migrations: Migrations.MANUAL,
    alarmActions: alarmActionsOf(stack),
    image,
  });
};

/** The consumer alone: network, cluster, stream, lease table and database are made elsewhere. */
const imported: Shape = (app, env) => {
  const stack = stackIn(app, 'Imported', env);
  const arn = (service: string, resource: string, resourceName: string) =>
    stack.formatArn({ service, resource, resourceName });
  const consumer = new BillingConsumer(stack, 'Consumer', {
    cluster: ecs.Cluster.fromClusterAttributes(stack, 'Cluster', { clusterName: 'shared', vpc: vpcOf(stack) }),
    stream: BillingStream.fromStream(
      stack,
      'Stream',
      kinesis.Stream.fromStreamArn(stack, 'Events', arn('kinesis', 'stream', 'events')),
      { shardCount: 8, encryption: kinesis.StreamEncryption.MANAGED },
    ),
    leaseTable: LeaseTable.fromTable(
      stack,
      'Leases',
      dynamodb.TableV2.fromTableArn(stack, 'Table', arn('dynamodb', 'table', 'leases')),
      { encryption: dynamodb.TableEncryptionV2.dynamoOwnedKey() },
    ),
    ledger: LedgerDatabase.fromInstance(stack, 'Ledger', databaseOf(stack), {
      ownerSecret: secrets.Secret.fromSecretNameV2(stack, 'Owner', 'ledger/owner'),
    }),
    stripeKey: stripeKeyOf(stack),
    spendCap: SpendCap.off(),
    image,
  });
  new BillingMonitoring(stack, 'Monitoring', { consumer, alarmActions: alarmActionsOf(stack) });
};

const vpcOf = (stack: Stack) =>
  ec2.Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId: 'vpc-0a1b2c3d',
    availabilityZones: ['a', 'b'],
    privateSubnetIds: ['subnet-0a1b2c3d', 'subnet-4e5f6a7b'],
    privateSubnetRouteTableIds: ['rtb-0a1b2c3d', 'rtb-4e5f6a7b'],
  });

const databaseOf = (stack: Stack) =>
  rds.DatabaseInstance.fromDatabaseInstanceAttributes(stack, 'Database', {
    instanceIdentifier: 'billing',
    instanceEndpointAddress: 'billing.example.test',
    port: 5432,
    instanceResourceId: 'db-ABCDEFGHIJKLMNOPQRSTUVWXYZ',
    securityGroups: [ec2.SecurityGroup.fromSecurityGroupId(stack, 'DatabaseGroup', 'sg-0a1b2c3d')],
  });

export const SHAPES = { pattern, composed: addComposed as Shape, sized, imported } satisfies Record<string, Shape>;
