import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import type { IAlarmAction } from 'aws-cdk-lib/aws-cloudwatch';
import { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import { Stream } from 'aws-cdk-lib/aws-kinesis';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BillingStream,
  KinesisBilling,
  type KinesisBillingProps,
  LeaseTable,
  LedgerDatabase,
  Migrations,
  maskAssets,
  SpendCap,
  StripeMode,
} from '../../constructs/aws';
import { packagedImage } from '../../constructs/aws/packaged-image';
import { callsOfAws, deployed } from './shell';
import {
  att,
  consumerStack,
  container,
  image,
  newStack,
  only,
  ref,
  resources,
  statements,
  stripeKey,
  vpcOf,
} from './stack';

const billing = (props: Partial<KinesisBillingProps> = {}, stack = newStack()) => {
  const pattern = new KinesisBilling(stack, 'Usage', {
    stripeKey: stripeKey(stack),
    spendCap: SpendCap.perPeriod({ usd: 50_000_00 }),
    image,
    ...props,
  });
  return { stack, pattern };
};

/** The value of an output whose id ends like this. */
const output = (stack: Stack, id: string) =>
  Object.entries(Template.fromStack(stack).toJSON().Outputs as Record<string, { Value: unknown }>).find(([each]) =>
    new RegExp(`^Usage${id}[0-9A-F]{8}$`).test(each),
  )?.[1].Value;

/** Types whose replacement or removal costs the user data. */
const STATEFUL = [
  'AWS::Kinesis::Stream',
  'AWS::DynamoDB::GlobalTable',
  'AWS::RDS::DBInstance',
  'AWS::RDS::DBSubnetGroup',
  'AWS::RDS::DBParameterGroup',
  'AWS::Logs::LogGroup',
  'AWS::EC2::VPC',
];

describe('KinesisBilling', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'chargeonce-image-'));
    writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\n');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is this template', () => {
    const { stack } = billing({ image: ecs.ContainerImage.fromAsset(folder) });
    expect(maskAssets(Template.fromStack(stack).toJSON())).toMatchSnapshot();
  });

  it('has a network of its own: two zones, one NAT gateway, gateway endpoints, flow logs', () => {
    const { stack } = billing();
    expect(only(stack, 'AWS::EC2::NatGateway').Properties.AllocationId).toEqual(att('UsageEgressIp', 'AllocationId'));
    expect(only(stack, 'AWS::EC2::FlowLog').Properties).toMatchObject({
      ResourceId: ref('UsageVpc'),
      TrafficType: 'ALL',
      LogGroupName: ref('UsageFlowLogs'),
    });
    expect(Object.keys(resources(stack, 'AWS::EC2::Subnet'))).toHaveLength(6);
    const endpoints = Object.values(resources(stack, 'AWS::EC2::VPCEndpoint'));
    expect(endpoints.map((each) => each.Properties.VpcEndpointType)).toEqual(['Gateway', 'Gateway']);
  });

  it('says where its requests come from, unless the network is another’s', () => {
    const { stack, pattern } = billing();
    expect(stack.resolve(pattern.egressIps)).toEqual([att('UsageEgressIp', 'PublicIp')]);
    expect(output(stack, 'EgressIps')).toEqual(att('UsageEgressIp', 'PublicIp'));

    const other = newStack();
    const { pattern: guest } = billing({ vpc: vpcOf(other) }, other);
    expect(guest.egressIps).toBeUndefined();
    expect(output(other, 'EgressIps')).toBeUndefined();
  });

  it('ends a deploy with the lines that people on call type', () => {
    const { stack, pattern } = billing();
    expect(output(stack, 'OpsCommand')).toEqual(stack.resolve(pattern.opsCommand));
    expect(callsOfAws(deployed(output(stack, 'OpsCommand')))).toHaveLength(2);
    expect(output(stack, 'MigrateCommand')).toBeUndefined();
  });

  it('migrations', () => {
    const { stack, pattern } = billing({ migrations: Migrations.MANUAL });
    expect(output(stack, 'MigrateCommand')).toEqual(stack.resolve(pattern.consumer.migrateCommand));
    expect(container(stack, 'worker').definition).not.toHaveProperty('DependsOn');
  });

  it('alarmActions: told by the alarm that pages; nobody is a warning', () => {
    const pages = (props: Partial<KinesisBillingProps>) => {
      const { stack } = billing(props);
      const warnings = Annotations.fromStack(stack).findWarning('*', Match.anyValue());
      return { actions: only(stack, 'AWS::CloudWatch::CompositeAlarm').Properties.AlarmActions, warnings };
    };
    const action: IAlarmAction = { bind: () => ({ alarmActionArn: 'arn:aws:sns:eu-west-1:111122223333:pager' }) };
    expect(pages({ alarmActions: [action] })).toEqual({
      actions: ['arn:aws:sns:eu-west-1:111122223333:pager'],
      warnings: [],
    });
    expect(pages({}).actions).toBeUndefined();
    expect(pages({}).warnings).toHaveLength(1);
  });

  it('stream: any stream of Kinesis', () => {
    const stack = newStack();
    const stream = Stream.fromStreamArn(stack, 'Theirs', 'arn:aws:kinesis:eu-west-1:111122223333:stream/usage');
    const { pattern } = billing({ stream }, stack);
    expect(resources(stack, 'AWS::Kinesis::Stream')).toEqual({});
    expect(pattern.stream.stream === stream).toBe(true);
    expect(JSON.stringify(statements(stack, 'UsageConsumerTaskTaskRole'))).toContain(stream.streamArn);
  });

  it('takes a network, a stream, a table and a ledger that all exist already, and makes none', () => {
    const stack = newStack();
    const vpc = ec2.Vpc.fromVpcAttributes(stack, 'Net', {
      vpcId: 'vpc-1',
      availabilityZones: ['a', 'b'],
      privateSubnetIds: ['subnet-a', 'subnet-b'],
    });
    const arn = (service: string, rest: string) => stack.formatArn({ service, resource: rest });
    const stream = Stream.fromStreamArn(stack, 'Theirs', arn('kinesis', 'stream/usage'));
    const table = TableV2.fromTableArn(stack, 'Leases', arn('dynamodb', 'table/leases'));
    const ledger = LedgerDatabase.fromSecret(stack, 'Ledger', {
      secret: secrets.Secret.fromSecretNameV2(stack, 'Login', 'billing/ledger'),
      securityGroup: ec2.SecurityGroup.fromSecurityGroupId(stack, 'Door', 'sg-ledger'),
    });
    billing({ vpc, stream, leaseTable: LeaseTable.fromTable(stack, 'Table', table), ledger }, stack);
    for (const type of STATEFUL.filter((each) => each !== 'AWS::Logs::LogGroup')) {
      expect(resources(stack, type)).toEqual({});
    }
    expect(Object.keys(resources(stack, 'AWS::EC2::SecurityGroupIngress'))).toHaveLength(1);
    expect(container(stack, 'worker').environment).toHaveProperty('DATABASE_SECRET_ARN');
  });

  it('uses the parts that are given, and makes no others', () => {
    const stack = newStack();
    const vpc = vpcOf(stack);
    const stream = new BillingStream(stack, 'Stream');
    const leaseTable = new LeaseTable(stack, 'Leases');
    const ledger = new LedgerDatabase(stack, 'Ledger', { vpc });
    const { pattern } = billing({ vpc, stream, leaseTable, ledger }, stack);
    for (const type of STATEFUL) expect([type, Object.keys(resources(stack, type)).length]).toEqual([type, 1]);
    // Compared one by one and by identity: a failed comparison would print two whole construct trees.
    expect([
      pattern.vpc === vpc,
      pattern.stream === stream,
      pattern.leaseTable === leaseTable,
      pattern.ledger === ledger,
    ]).toEqual([true, true, true, true]);
    expect(container(stack, 'worker').environment.STREAM_NAME).toEqual({ Ref: expect.stringMatching(/^Stream/) });
  });

  it('passes on stripeMode, desiredCount, spendCap, stripeKey and image', () => {
    const { stack } = billing({ stripeMode: StripeMode.LIVE, desiredCount: 4, spendCap: SpendCap.off() });
    const { environment, secrets, definition } = container(stack, 'worker');
    expect(environment).toMatchObject({ STRIPE_MODE: 'live', STRIPE_MAX_RPS: '2.5', SPEND_CAP_MODE: 'off' });
    expect(environment).not.toHaveProperty('SPEND_CAP_DEFAULT');
    expect(JSON.stringify(secrets.STRIPE_API_KEY)).toContain('billing/stripe-rk');
    expect(definition.Image).toBe('example.test/chargeonce@sha256:0');
    expect(only(stack, 'AWS::ECS::Service').Properties.DesiredCount).toBe(4);
  });

  it('removalPolicy: nothing is kept or protected', () => {
    const { stack } = billing({ removalPolicy: RemovalPolicy.DESTROY });
    const { Resources } = Template.fromStack(stack).toJSON();
    expect(JSON.stringify(Resources)).not.toMatch(/Retain|"Deletion(Protection|ProtectionEnabled)":true/);
  });

  it('removalPolicy: a snapshot is refused, since CloudFormation takes one of the ledger only', () => {
    const removalPolicy = RemovalPolicy.SNAPSHOT;
    const refused = (path: string, make: (stack: Stack) => unknown) =>
      expect(() => make(newStack())).toThrow(
        `[Billing/${path}] removalPolicy is SNAPSHOT; allowed: RETAIN, RETAIN_ON_UPDATE_OR_DELETE, DESTROY. Only a LedgerDatabase`,
      );
    refused('Usage', (stack) => billing({ removalPolicy }, stack));
    refused('Stream', (stack) => new BillingStream(stack, 'Stream', { removalPolicy }));
    refused('Table', (stack) => new LeaseTable(stack, 'Table', { removalPolicy }));
    refused('Consumer', (stack) => consumerStack((props) => ({ ...props, removalPolicy }), stack));
  });

  it('keeps and protects everything otherwise', () => {
    const { stack } = billing();
    for (const type of STATEFUL) {
      for (const each of Object.values(resources(stack, type))) expect(each.DeletionPolicy).toMatch(/^Retain/);
    }
    expect(only(stack, 'AWS::RDS::DBInstance').Properties.DeletionProtection).toBe(true);
  });

  it('refuses a consumer in isolated subnets only', () => {
    const stack = newStack();
    const subnetConfiguration = [{ name: 'Hidden', subnetType: ec2.SubnetType.PRIVATE_ISOLATED }];
    const vpc = new ec2.Vpc(stack, 'Vpc', { subnetConfiguration, natGateways: 0 }) as ec2.IVpc;
    expect(() => billing({ vpc }, stack)).toThrow(
      '[Billing/Usage/Consumer] vpcSubnets is PRIVATE_WITH_EGRESS, and of the VPC’s subnets 2 are isolated, 0 public; allowed:',
    );
  });
});

describe('the packaged image', () => {
  let home: string;
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'chargeonce-home-'));
    mkdirSync(join(home, 'dist', 'runtime', 'image', 'kinesis'), { recursive: true });
    writeFileSync(join(home, 'dist', 'runtime', 'image', 'kinesis', 'Dockerfile'), 'FROM scratch\n');
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it('is found from a checkout and from the package', () => {
    const folder = join(home, 'dist', 'runtime', 'image', 'kinesis');
    expect(packagedImage('kinesis', home)).toBe(folder);
    expect(packagedImage('kinesis', join(home, 'dist'))).toBe(folder);
  });

  it('is missed in words that say what to do', () => {
    expect(() => packagedImage('kinesis', join(home, 'elsewhere'))).toThrow(
      /The packaged image is missing: no Dockerfile in .*elsewhere.*Run `npm run build`, or pass `image`/,
    );
  });
});

describe('maskAssets', () => {
  const hash = 'a'.repeat(64);

  it('masks hashes of assets and nothing else', () => {
    const template = { Image: `repo:${hash}`, S3Key: `${hash}.zip`, Name: 'a'.repeat(63), Count: 1 };
    expect(maskAssets(template)).toEqual({
      Image: 'repo:<asset>',
      S3Key: '<asset>.zip',
      Name: 'a'.repeat(63),
      Count: 1,
    });
  });

  it('leaves the template itself alone', () => {
    const template = { Image: hash };
    maskAssets(template);
    expect(template.Image).toBe(hash);
  });
});
