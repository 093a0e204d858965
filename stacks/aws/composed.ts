/**
 * The same system composed from its parts, in three stacks with three lives: the network that other teams share, the
 * data that outlives everything, and the compute that is deployed every day. Compute refers to data, never the reverse.
 */
import {
  App,
  aws_cloudwatch_actions as actions,
  CfnOutput,
  type Environment,
  aws_ec2 as ec2,
  aws_ecs as ecs,
  aws_iam as iam,
  Stack,
  aws_secretsmanager as secrets,
  aws_sns as sns,
} from 'aws-cdk-lib';
import {
  BillingConsumer,
  BillingMonitoring,
  BillingStream,
  LeaseTable,
  LedgerDatabase,
  SpendCap,
  StripeMode,
} from '../../constructs/aws';

/** Two zones, one way out, and a record of who talked to whom. */
class NetStack extends Stack {
  readonly vpc: ec2.IVpc = new ec2.Vpc(this, 'Vpc', {
    maxAzs: 2,
    natGateways: 1,
    restrictDefaultSecurityGroup: false,
    flowLogs: { All: {} },
    subnetConfiguration: [
      { name: 'Public', subnetType: ec2.SubnetType.PUBLIC },
      { name: 'Private', subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
      { name: 'Isolated', subnetType: ec2.SubnetType.PRIVATE_ISOLATED },
    ],
  }) as ec2.IVpc;
}

/** What must never be lost. */
class DataStack extends Stack {
  readonly stream = new BillingStream(this, 'Stream');
  readonly leaseTable = new LeaseTable(this, 'Leases');
  readonly ledger: LedgerDatabase;

  constructor(scope: App, id: string, net: NetStack, env: { env?: Environment }) {
    super(scope, id, env);
    this.ledger = new LedgerDatabase(this, 'Ledger', { vpc: net.vpc });
    this.stream.grantPublish(iam.Role.fromRoleName(this, 'Metering', 'metering'));
  }
}

/** What charges, and what watches it. */
class ComputeStack extends Stack {
  constructor(scope: App, id: string, net: NetStack, data: DataStack, env: { env?: Environment }) {
    super(scope, id, env);
    const cluster = new ecs.Cluster(this, 'Cluster', {
      vpc: net.vpc,
      containerInsightsV2: ecs.ContainerInsights.ENABLED,
    }) as ecs.ICluster;
    const { stream, leaseTable, ledger } = data;
    const consumer = new BillingConsumer(this, 'Consumer', {
      stream,
      leaseTable,
      ledger,
      cluster,
      stripeKey: secrets.Secret.fromSecretNameV2(this, 'StripeKey', 'billing/stripe-rk'),
      stripeMode: StripeMode.TEST,
      spendCap: SpendCap.perPeriod({ usd: 50_000_00, eur: 40_000_00 }),
      environment: { DEFAULT_CURRENCY: 'eur' },
    });
    new BillingMonitoring(this, 'Monitoring', {
      consumer,
      stream,
      leaseTable,
      ledger,
      containerInsights: true,
      alarmActions: [new actions.SnsAction(this.pager())],
    });
    new CfnOutput(this, 'OpsCommand', { value: consumer.opsTask.command });
  }

  /** A topic with a policy of its own no longer lets alarms publish unless it says so. */
  private pager(): sns.Topic {
    const topic = new sns.Topic(this, 'Pager', { enforceSSL: true });
    topic.grantPublish(new iam.ServicePrincipal('cloudwatch.amazonaws.com'));
    return topic;
  }
}

/** Puts the three stacks into an app. `env`: where they are deployed; absent: wherever the CDK's command line is logged in. */
export function addComposed(app: App, env?: Environment): void {
  const where = env === undefined ? {} : { env };
  const net = new NetStack(app, 'Net', where);
  const data = new DataStack(app, 'Data', net, where);
  new ComputeStack(app, 'Compute', net, data, where);
}

/**
 * @param outdir where it is synthesized to; absent: as the CDK says (`cdk.out`)
 * @param env as of `addComposed`
 */
export function composedApp(outdir?: string, env?: Environment): App {
  const app = new App({ analyticsReporting: false, ...(outdir === undefined ? {} : { outdir }) });
  addComposed(app, env);
  return app;
}

if (require.main === module) composedApp().synth();
