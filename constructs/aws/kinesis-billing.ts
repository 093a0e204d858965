import { CfnOutput, RemovalPolicy } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { BillingConsumer } from './consumer/billing-consumer';
import type { Migrations } from './consumer/migrations';
import { addOwnNetwork } from './kinesis-billing-network';
import { LeaseTable } from './lease-table/lease-table';
import type { ILeaseTable } from './lease-table/lease-table-base';
import { LedgerDatabase } from './ledger/ledger-database';
import type { ILedgerDatabase } from './ledger/ledger-login';
import { BillingMonitoring } from './monitoring/billing-monitoring';
import { checkNeeded } from './needed-props';
import { refuseSnapshot } from './removal-check';
import type { SpendCap } from './spend-cap';
import { BillingStream } from './stream/billing-stream';
import type { IBillingStream } from './stream/billing-stream-base';
import type { StripeMode } from './stripe-mode';

export interface KinesisBillingProps {
  /** A restricted key (`rk_…`). */
  readonly stripeKey: secrets.ISecret;
  /** The most that a billing period may cost. Must be said. */
  readonly spendCap: SpendCap;
  /**
   * Which half of the Stripe account the key belongs to.
   * @default StripeMode.TEST
   */
  readonly stripeMode?: StripeMode;
  /**
   * The network.
   * @default - a new VPC: two zones, one NAT gateway, gateway endpoints for S3 and DynamoDB, flow logs
   */
  readonly vpc?: ec2.IVpc;
  /**
   * The stream: one of ours, or any stream of Kinesis.
   * @default - a new BillingStream
   */
  readonly stream?: IBillingStream | kinesis.IStream;
  /**
   * The lease table.
   * @default - a new LeaseTable
   */
  readonly leaseTable?: ILeaseTable;
  /**
   * The ledger.
   * @default - a new LedgerDatabase
   */
  readonly ledger?: ILedgerDatabase;
  /**
   * Tasks, no more than the stream has shards.
   * @default 2
   */
  readonly desiredCount?: number;
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
   * Who is told when billing needs a person, and when it no longer does.
   * @default - nobody, with a warning at synth
   */
  readonly alarmActions?: cloudwatch.IAlarmAction[];
  /**
   * For tests: `DESTROY` turns retention and deletion protection off, on every part made here.
   * @default - stateful parts are kept and protected
   */
  readonly removalPolicy?: RemovalPolicy;
}

/**
 * All of it in one `new`: a stream, its lease table, the ledger, the consumer between them, and alarms on all four.
 * Outputs of the deploy: `OpsCommand`, `EgressIps` when they are known, `MigrateCommand` when you migrate.
 */
export class KinesisBilling extends Construct {
  /** The given one, or its own. */
  readonly vpc: ec2.IVpc;
  /** Producers publish to it: `stream.grantPublish(role)`. */
  readonly stream: IBillingStream;
  /** Who reads which shard. */
  readonly leaseTable: ILeaseTable;
  /** What was charged. */
  readonly ledger: ILedgerDatabase;
  /** The workers, and the ops task. */
  readonly consumer: BillingConsumer;
  /** Alarms and dashboard. */
  readonly monitoring: BillingMonitoring;
  /** Addresses that requests to Stripe come from, for its allow list. Absent: `vpc` was given, its owner knows. */
  readonly egressIps?: readonly string[];

  /** @throws when a part that it makes would refuse what it is given; when a snapshot is to be left behind */
  constructor(scope: Construct, id: string, props: KinesisBillingProps) {
    super(scope, id);
    checkNeeded(this.node.path, props, ['stripeKey', 'spendCap']);
    const { removalPolicy } = props;
    refuseSnapshot(this.node.path, removalPolicy);
    const kept = removalPolicy === undefined ? {} : { removalPolicy };
    const protectedToo = { ...kept, deletionProtection: removalPolicy !== RemovalPolicy.DESTROY };

    if (props.vpc === undefined) {
      const keptDatabase = props.ledger === undefined && removalPolicy !== RemovalPolicy.DESTROY;
      const own = addOwnNetwork(this, { removalPolicy: removalPolicy ?? RemovalPolicy.RETAIN, keptDatabase });
      this.vpc = own.vpc;
      this.egressIps = own.egressIps;
    } else {
      this.vpc = props.vpc;
    }
    this.stream = this.streamOf(props.stream) ?? new BillingStream(this, 'Stream', kept);
    this.leaseTable = props.leaseTable ?? new LeaseTable(this, 'LeaseTable', protectedToo);
    this.ledger = props.ledger ?? new LedgerDatabase(this, 'Ledger', { vpc: this.vpc, ...protectedToo });
    this.consumer = new BillingConsumer(this, 'Consumer', {
      vpc: this.vpc,
      stream: this.stream,
      leaseTable: this.leaseTable,
      ledger: this.ledger,
      stripeKey: props.stripeKey,
      spendCap: props.spendCap,
      ...(props.stripeMode === undefined ? {} : { stripeMode: props.stripeMode }),
      ...(props.desiredCount === undefined ? {} : { desiredCount: props.desiredCount }),
      ...(props.image === undefined ? {} : { image: props.image }),
      ...(props.migrations === undefined ? {} : { migrations: props.migrations }),
      ...kept,
    });
    this.monitoring = new BillingMonitoring(this, 'Monitoring', {
      consumer: this.consumer,
      stream: this.stream,
      leaseTable: this.leaseTable,
      ledger: this.ledger,
      alarmActions: props.alarmActions ?? [],
    });
    this.addOutputs();
  }

  /** One line for a shell: starts the ops task and follows its output. It asks for `--help`: put your verb there. */
  get opsCommand(): string {
    return this.consumer.opsTask.command;
  }

  private streamOf(given: KinesisBillingProps['stream']): IBillingStream | undefined {
    if (given === undefined || 'stream' in given) return given;
    return BillingStream.fromStream(this, 'Stream', given);
  }

  private addOutputs(): void {
    const output = (id: string, value: string, description: string) => new CfnOutput(this, id, { value, description });
    output('OpsCommand', this.opsCommand, 'Runs a verb of chargeonce next to the ledger; put it in place of --help');
    if (this.egressIps) output('EgressIps', this.egressIps.join(','), 'Where requests to Stripe come from');
    const { migrateCommand } = this.consumer;
    if (migrateCommand) output('MigrateCommand', migrateCommand, 'Brings the schema of the ledger up to date');
  }
}
