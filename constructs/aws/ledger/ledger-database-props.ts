import type { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as rds from 'aws-cdk-lib/aws-rds';

export interface LedgerDatabaseProps {
  /** The network of the database. Consumers may run in another one that reaches it. */
  readonly vpc: ec2.IVpc;
  /**
   * Where the database lives. Never reachable from the internet.
   * @default - isolated subnets, or private ones with egress when the VPC has no isolated ones
   */
  readonly vpcSubnets?: ec2.SubnetSelection;
  /**
   * PostgreSQL version, 14 or later; RDS applies minor ones by itself when only the major is named.
   * @default rds.PostgresEngineVersion.VER_17
   */
  readonly engineVersion?: rds.PostgresEngineVersion;
  /**
   * Size of the server.
   * @default - t4g.medium
   */
  readonly instanceType?: ec2.InstanceType;
  /**
   * Whether a standby in another zone takes over when the server fails. Billing waits meanwhile, nothing is lost.
   * @default true
   */
  readonly multiAz?: boolean;
  /**
   * Storage to begin with, in GiB, 20 or more.
   * @default 20
   */
  readonly allocatedStorage?: number;
  /**
   * Storage may grow to this, in GiB. The same as `allocatedStorage`: it does not grow.
   * @default 200, or `allocatedStorage` when that is more
   */
  readonly maxAllocatedStorage?: number;
  /**
   * How long backups are kept, 1 to 35 days.
   * @default Duration.days(14)
   */
  readonly backupRetention?: Duration;
  /**
   * Your own key, for the storage and for the owner's secret.
   * @default - the keys AWS manages for RDS and Secrets Manager
   */
  readonly encryptionKey?: kms.IKey;
  /**
   * Name of the database: a letter, then up to 62 letters, digits and underscores.
   * @default chargeonce
   */
  readonly databaseName?: string;
  /**
   * How often the operating system reports: 1, 5, 10, 15, 30 or 60 seconds, or 0 for never.
   * @default Duration.seconds(60)
   */
  readonly monitoringInterval?: Duration;
  /**
   * Whether a delete call is refused.
   * @default true
   */
  readonly deletionProtection?: boolean;
  /**
   * What becomes of the ledger when the stack goes. Whoever destroys it gives up the promise: events that are
   * still on the stream would be charged again.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
}
