/** A prop that changes nothing is a promise nobody keeps: each one, set alone, must change the template. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, RemovalPolicy, Size, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { TableEncryptionV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import { ShardLevelMetrics, StreamMode } from 'aws-cdk-lib/aws-kinesis';
import * as kms from 'aws-cdk-lib/aws-kms';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { PostgresEngineVersion } from 'aws-cdk-lib/aws-rds';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import * as sns from 'aws-cdk-lib/aws-sns';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
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
import { image, newStack, stripeKey, vpcOf } from './stack';

type Props = Record<string, unknown>;
/** What a template is made from, without and with the prop; parts that both need are made in `base`. */
interface Subject {
  readonly file: string;
  readonly props: string;
  readonly base: (stack: Stack) => Props;
  readonly build: (stack: Stack, props: Props) => void;
  readonly change: Readonly<Record<string, (stack: Stack, base: Props) => Props>>;
}

const key = (stack: Stack) => new kms.Key(stack, 'Key');
const vpcWithIsolated = (stack: Stack) =>
  new ec2.Vpc(stack, 'Vpc', {
    maxAzs: 2,
    subnetConfiguration: [
      { name: 'Public', subnetType: ec2.SubnetType.PUBLIC },
      { name: 'Private', subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
      { name: 'Isolated', subnetType: ec2.SubnetType.PRIVATE_ISOLATED },
    ],
  });
const secret = (stack: Stack) => secrets.Secret.fromSecretNameV2(stack, 'Other', 'other');
const otherVpc = (stack: Stack) => new ec2.Vpc(stack, 'OtherVpc');
const oneSubnet = (_: Stack, base: Props) => ({
  vpcSubnets: { subnets: [(base.vpc as ec2.IVpc).privateSubnets[1]] },
});
const withEgress = { vpcSubnets: { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS } };
const pager = (stack: Stack) => new SnsAction(new sns.Topic(stack, 'Pager'));
const destroy = { removalPolicy: RemovalPolicy.DESTROY };
const parts = (stack: Stack) => {
  const vpc = vpcOf(stack);
  return {
    vpc,
    stream: new BillingStream(stack, 'Stream'),
    leaseTable: new LeaseTable(stack, 'Leases'),
    ledger: new LedgerDatabase(stack, 'Ledger', { vpc }),
    stripeKey: stripeKey(stack),
    spendCap: SpendCap.off(),
    image,
  };
};
const otherParts: Subject['change'] = {
  stream: (stack) => ({ stream: new BillingStream(stack, 'Other') }),
  leaseTable: (stack) => ({ leaseTable: new LeaseTable(stack, 'Other') }),
  ledger: (stack, base) => ({ ledger: new LedgerDatabase(stack, 'Other', { vpc: base.vpc as ec2.IVpc }) }),
  stripeKey: (stack) => ({ stripeKey: secret(stack) }),
  spendCap: () => ({ spendCap: SpendCap.perPeriod({ usd: 1 }) }),
  stripeMode: () => ({ stripeMode: StripeMode.LIVE }),
  desiredCount: () => ({ desiredCount: 3 }),
  migrations: () => ({ migrations: Migrations.MANUAL }),
  image: () => ({ image: ecs.ContainerImage.fromRegistry('other') }),
  removalPolicy: () => destroy,
};

const SUBJECTS: readonly Subject[] = [
  {
    file: 'stream/billing-stream.ts',
    props: 'BillingStreamProps',
    base: () => ({}),
    build: (stack, props) => new BillingStream(stack, 'It', props),
    change: {
      streamMode: () => ({ streamMode: StreamMode.PROVISIONED, shardCount: 2 }),
      shardCount: () => ({ streamMode: StreamMode.PROVISIONED, shardCount: 3 }),
      retentionPeriod: () => ({ retentionPeriod: Duration.days(2) }),
      encryptionKey: (stack) => ({ encryptionKey: key(stack) }),
      maxRecordSize: () => ({ maxRecordSize: Size.mebibytes(2) }),
      streamName: () => ({ streamName: 'other' }),
      shardLevelMetrics: () => ({ shardLevelMetrics: [ShardLevelMetrics.ALL] }),
      removalPolicy: () => destroy,
    },
  },
  {
    file: 'lease-table/lease-table.ts',
    props: 'LeaseTableProps',
    base: () => ({ maxShards: 100 }),
    build: (stack, props) => new LeaseTable(stack, 'It', props),
    change: {
      maxShards: () => ({ maxShards: 200 }),
      leaseDuration: () => ({ leaseDuration: Duration.seconds(30) }),
      encryption: () => ({ encryption: TableEncryptionV2.awsManagedKey() }),
      pointInTimeRecovery: () => ({ pointInTimeRecovery: false }),
      deletionProtection: () => ({ deletionProtection: false }),
      tableName: () => ({ tableName: 'other' }),
      removalPolicy: () => destroy,
    },
  },
  {
    file: 'ledger/ledger-database-props.ts',
    props: 'LedgerDatabaseProps',
    base: (stack) => ({ vpc: vpcWithIsolated(stack) }),
    build: (stack, props) => new LedgerDatabase(stack, 'It', props as never),
    change: {
      vpc: (stack) => ({ vpc: otherVpc(stack) }),
      vpcSubnets: () => withEgress,
      engineVersion: () => ({ engineVersion: PostgresEngineVersion.VER_16 }),
      instanceType: () => ({ instanceType: new ec2.InstanceType('m7g.large') }),
      multiAz: () => ({ multiAz: false }),
      allocatedStorage: () => ({ allocatedStorage: 50 }),
      maxAllocatedStorage: () => ({ maxAllocatedStorage: 500 }),
      backupRetention: () => ({ backupRetention: Duration.days(30) }),
      encryptionKey: (stack) => ({ encryptionKey: key(stack) }),
      databaseName: () => ({ databaseName: 'other' }),
      monitoringInterval: () => ({ monitoringInterval: Duration.seconds(5) }),
      deletionProtection: () => ({ deletionProtection: false }),
      removalPolicy: () => destroy,
    },
  },
  {
    file: 'consumer/billing-consumer-props.ts',
    props: 'BillingConsumerProps',
    base: parts,
    build: (stack, props) => new BillingConsumer(stack, 'It', props as never),
    change: {
      ...otherParts,
      stripeKeyField: () => ({ stripeKeyField: 'key' }),
      stripeMaxRps: () => ({ stripeMaxRps: 10 }),
      cluster: (stack, base) => ({
        vpc: undefined,
        cluster: new ecs.Cluster(stack, 'Shared', { vpc: base.vpc as ec2.IVpc }),
      }),
      vpc: (stack) => ({ vpc: otherVpc(stack) }),
      vpcSubnets: oneSubnet,
      cpu: () => ({ cpu: 512, memoryLimitMiB: 1024 }),
      memoryLimitMiB: () => ({ memoryLimitMiB: 1024 }),
      cpuArchitecture: () => ({ cpuArchitecture: ecs.CpuArchitecture.X86_64 }),
      environment: () => ({ environment: { LOG_LEVEL: 'debug' } }),
      logRetention: () => ({ logRetention: RetentionDays.ONE_DAY }),
    },
  },
  {
    file: 'kinesis-billing.ts',
    props: 'KinesisBillingProps',
    base: parts,
    build: (stack, props) => new KinesisBilling(stack, 'It', props as never),
    change: {
      ...otherParts,
      vpc: (stack) => ({ vpc: otherVpc(stack) }),
      alarmActions: (stack) => ({ alarmActions: [pager(stack)] }),
    },
  },
  {
    file: 'monitoring/billing-monitoring-props.ts',
    props: 'BillingMonitoringProps',
    base: (stack) => {
      const given = parts(stack);
      return { ...given, consumer: new BillingConsumer(stack, 'Consumer', given) };
    },
    build: (stack, props) => new BillingMonitoring(stack, 'It', props as never),
    change: {
      consumer: (stack, base) => ({ consumer: new BillingConsumer(stack, 'Other', base as never) }),
      stream: (stack) => ({ stream: new BillingStream(stack, 'Other') }),
      leaseTable: (stack) => ({ leaseTable: new LeaseTable(stack, 'Other') }),
      ledger: (stack, base) => ({ ledger: new LedgerDatabase(stack, 'Other', { vpc: base.vpc as ec2.IVpc }) }),
      alarmActions: (stack) => ({ alarmActions: [pager(stack)] }),
      lagWarning: () => ({ lagWarning: Duration.minutes(7) }),
      lagCritical: () => ({ lagCritical: Duration.hours(7) }),
      containerInsights: () => ({ containerInsights: false }),
      dashboard: () => ({ dashboard: false }),
      disable: () => ({ disable: ['lagWarning'] }),
    },
  },
];

/** Names of the members of an interface, as its source says. */
function members(file: string, name: string): string[] {
  const text = readFileSync(join(__dirname, '../../constructs/aws', file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const found = source.statements.find((each) => ts.isInterfaceDeclaration(each) && each.name.text === name);
  if (found === undefined || !ts.isInterfaceDeclaration(found)) throw new Error(`${file} declares no ${name}`);
  return found.members.map((each) => (each.name as ts.Identifier).text);
}

/** What the construct itself became: resources under its id, whatever the changed part beside it became. */
function outcome(subject: Subject, change?: (stack: Stack, base: Props) => Props): string {
  const stack = newStack();
  const base = subject.base(stack);
  subject.build(stack, { ...base, ...change?.(stack, base) });
  const { Resources } = Template.fromStack(stack).toJSON() as { Resources: Record<string, unknown> };
  return JSON.stringify(Object.entries(Resources).filter(([id]) => id.startsWith('It')));
}

describe.each(SUBJECTS)('$props', (subject) => {
  it('is covered whole', () => {
    expect(Object.keys(subject.change).sort()).toEqual(members(subject.file, subject.props).sort());
  });

  it.each(Object.entries(subject.change))('%s changes the template', (_, change) => {
    expect(outcome(subject, change)).not.toBe(outcome(subject));
  });
});

describe('this test', () => {
  it('would notice a prop that nobody reads', () => {
    const subject = { ...SUBJECTS[0]!, change: {} };
    expect(outcome(subject, () => ({ colour: 'red' }))).toBe(outcome(subject));
  });
});
