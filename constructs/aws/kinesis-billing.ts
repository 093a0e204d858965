import { RemovalPolicy } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { BillingConsumer } from './billing-consumer';
import { BillingStream } from './billing-stream';
import type { IBillingStream } from './billing-stream-base';
import { LeaseTable } from './lease-table';
import type { ILeaseTable } from './lease-table-base';
import { LedgerDatabase } from './ledger-database';
import type { ILedgerDatabase } from './ledger-login';
import type { SpendCap } from './spend-cap';
import type { StripeMode } from './stripe-mode';

export interface KinesisBillingProps {
  /** A restricted key (`rk_…`). */
  readonly stripeKey: secrets.ISecret;
  readonly spendCap: SpendCap;
  /**
   * Which half of the Stripe account the key belongs to.
   * @default StripeMode.TEST
   */
  readonly stripeMode?: StripeMode;
  /**
   * The network.
   * @default - a new VPC: two zones, one NAT gateway, gateway endpoints for S3 and DynamoDB
   */
  readonly vpc?: ec2.IVpc;
  /**
   * The stream.
   * @default - a new BillingStream
   */
  readonly stream?: IBillingStream;
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
   * For tests: `DESTROY` turns retention and deletion protection off, on every part made here.
   * @default - stateful parts are kept and protected
   */
  readonly removalPolicy?: RemovalPolicy;
}

/** All of it in one `new`: a stream, its lease table, the ledger and the consumer between them. */
export class KinesisBilling extends Construct {
  readonly vpc: ec2.IVpc;
  readonly stream: IBillingStream;
  readonly leaseTable: ILeaseTable;
  readonly ledger: ILedgerDatabase;
  readonly consumer: BillingConsumer;

  constructor(scope: Construct, id: string, props: KinesisBillingProps) {
    super(scope, id);
    const { removalPolicy } = props;
    const kept = removalPolicy === undefined ? {} : { removalPolicy };
    const protectedToo = { ...kept, deletionProtection: removalPolicy !== RemovalPolicy.DESTROY };

    this.vpc = props.vpc ?? this.addVpc();
    this.stream = props.stream ?? new BillingStream(this, 'Stream', kept);
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
      ...kept,
    });
  }

  private addVpc(): ec2.IVpc {
    return new ec2.Vpc(this, 'Vpc', {
      maxAzs: 2,
      natGateways: 1,
      subnetConfiguration: [
        { name: 'Public', subnetType: ec2.SubnetType.PUBLIC, cidrMask: 24 },
        { name: 'Private', subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 24 },
        { name: 'Isolated', subnetType: ec2.SubnetType.PRIVATE_ISOLATED, cidrMask: 24 },
      ],
      gatewayEndpoints: {
        S3: { service: ec2.GatewayVpcEndpointAwsService.S3 },
        DynamoDb: { service: ec2.GatewayVpcEndpointAwsService.DYNAMODB },
      },
    }) as ec2.IVpc;
  }
}
