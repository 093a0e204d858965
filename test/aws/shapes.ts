/** The ways in which people build with the constructs: what the linters, the matrix and the frozen lists look at. */
import { type App, type Environment, Stack } from 'aws-cdk-lib';
import * as actions from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import * as sns from 'aws-cdk-lib/aws-sns';
import {
  BillingConsumer,
  BillingStream,
  KinesisBilling,
  LeaseTable,
  LedgerDatabase,
  SpendCap,
  StripeMode,
} from '../../constructs/aws';

/** Puts stacks into an app. */
export type Shape = (app: App, env?: Environment) => void;

const stackIn = (app: App, id: string, env: Environment | undefined) =>
  new Stack(app, id, env === undefined ? {} : { env });
/** Stands for the packaged image, whose hash is another after every change of the runtime. */
const image = ecs.ContainerImage.fromRegistry('example.test/chargeonce@sha256:0');
const stripeKeyOf = (stack: Stack) => secrets.Secret.fromSecretNameV2(stack, 'StripeKey', 'billing/stripe-rk');

/** Somebody to page. */
export function pagerOf(stack: Stack) {
  return [new actions.SnsAction(new sns.Topic(stack, 'Pager', { enforceSSL: true }) as sns.ITopic)];
}

/** The first screen of the README, with the packaged image. */
const pattern: Shape = (app, env) => {
  const stack = stackIn(app, 'Billing', env);
  new KinesisBilling(stack, 'Usage', {
    stripeKey: stripeKeyOf(stack),
    stripeMode: StripeMode.TEST,
    spendCap: SpendCap.perPeriod({ usd: 50_000_00 }),
  });
};

/** Network, data and compute apart. */
const composed: Shape = (app, env) => {
  const vpc = new ec2.Vpc(stackIn(app, 'Net', env), 'Vpc', { maxAzs: 2 }) as ec2.IVpc;
  const data = stackIn(app, 'Data', env);
  const stream = new BillingStream(data, 'Stream');
  const leaseTable = new LeaseTable(data, 'Leases');
  const ledger = new LedgerDatabase(data, 'Ledger', { vpc });
  const compute = stackIn(app, 'Compute', env);
  new BillingConsumer(compute, 'Consumer', {
    vpc,
    stream,
    leaseTable,
    ledger,
    stripeKey: stripeKeyOf(compute),
    spendCap: SpendCap.off(),
    image,
  });
};

export const SHAPES = { pattern, composed } satisfies Record<string, Shape>;
