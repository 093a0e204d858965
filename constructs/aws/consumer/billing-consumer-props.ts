import type { RemovalPolicy } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import type { ILeaseTable } from '../lease-table/lease-table-base';
import type { ILedgerDatabase } from '../ledger/ledger-login';
import type { SpendCap } from '../spend-cap';
import type { IBillingStream } from '../stream/billing-stream-base';
import type { StripeMode } from '../stripe-mode';
import type { Migrations } from './migrations';

export interface BillingConsumerProps {
  /** The events to charge. */
  readonly stream: IBillingStream;
  /** Who reads which shard. One consumer, one table. */
  readonly leaseTable: ILeaseTable;
  /** What was charged. */
  readonly ledger: ILedgerDatabase;
  /**
   * A restricted key (`rk_…`). Read by ECS when a task starts; never part of the template. If it is encrypted with a key
   * of your own, import it with that key (`Secret.fromSecretAttributes`), so that its use is granted.
   */
  readonly stripeKey: secrets.ISecret;
  /**
   * The field of `stripeKey` that holds the key.
   * @default - the whole secret is the key
   */
  readonly stripeKeyField?: string;
  /** The most that a billing period may cost. Must be said. */
  readonly spendCap: SpendCap;
  /**
   * Which half of the Stripe account the key belongs to; another key is refused at start.
   * @default StripeMode.TEST
   */
  readonly stripeMode?: StripeMode;
  /**
   * Requests a second that the whole fleet may send to one Stripe endpoint. Each task gets its share: a part of it for
   * each of the most tasks that run at once, which is twice `desiredCount` during a deploy. The ops task has one share
   * too.
   * @default 20
   */
  readonly stripeMaxRps?: number;
  /**
   * Where the tasks run. Exactly one of `cluster` and `vpc` is given.
   * @default - a cluster of its own in `vpc`
   */
  readonly cluster?: ecs.ICluster;
  /**
   * The network of a cluster of its own. Exactly one of `cluster` and `vpc` is given.
   * @default - the cluster's
   */
  readonly vpc?: ec2.IVpc;
  /**
   * Subnets of the tasks; they need a way to Stripe.
   * @default - private subnets with egress
   */
  readonly vpcSubnets?: ec2.SubnetSelection;
  /**
   * Tasks, no more than the stream has shards.
   * @default 2
   */
  readonly desiredCount?: number;
  /**
   * CPU units of a task.
   * @default 256
   */
  readonly cpu?: number;
  /**
   * Memory of a task.
   * @default 512
   */
  readonly memoryLimitMiB?: number;
  /**
   * Processor of the tasks.
   * @default ecs.CpuArchitecture.ARM64
   */
  readonly cpuArchitecture?: ecs.CpuArchitecture;
  /**
   * The runtime's image.
   * @default - built at deploy from the folder that ships with this package
   */
  readonly image?: ecs.ContainerImage;
  /**
   * Who brings the ledger's schema up to date.
   * @default Migrations.AT_START
   */
  readonly migrations?: Migrations;
  /**
   * More settings of the runtime (its README lists them), for worker and ops task. Names that this construct sets are
   * refused.
   * @default - the runtime's own defaults
   */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * How long logs are kept.
   * @default logs.RetentionDays.THREE_MONTHS
   */
  readonly logRetention?: logs.RetentionDays;
  /**
   * What becomes of the logs when the stack goes.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
}
