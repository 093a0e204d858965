/** The ways in which people build with the constructs: what the linters, the matrix and the frozen lists look at. */
import { type App, type Environment, Stack } from 'aws-cdk-lib';
import * as actions from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import * as sns from 'aws-cdk-lib/aws-sns';
import {
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

export const SHAPES = { pattern, composed: addComposed as Shape, sized } satisfies Record<string, Shape>;
