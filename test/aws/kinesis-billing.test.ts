import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RemovalPolicy } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BillingStream,
  KinesisBilling,
  type KinesisBillingProps,
  LeaseTable,
  LedgerDatabase,
  maskAssets,
  SpendCap,
  StripeMode,
} from '../../constructs/aws';
import { packagedImage } from '../../constructs/aws/packaged-image';
import { container, image, newStack, only, resources, stripeKey, vpcOf } from './stack';

const billing = (props: Partial<KinesisBillingProps> = {}, stack = newStack()) => {
  const pattern = new KinesisBilling(stack, 'Usage', {
    stripeKey: stripeKey(stack),
    spendCap: SpendCap.perPeriod({ usd: 50_000_00 }),
    image,
    ...props,
  });
  return { stack, pattern };
};

/** Types whose replacement or removal costs the user data. */
const STATEFUL = [
  'AWS::Kinesis::Stream',
  'AWS::DynamoDB::GlobalTable',
  'AWS::RDS::DBInstance',
  'AWS::RDS::DBSubnetGroup',
  'AWS::RDS::DBParameterGroup',
  'AWS::SecretsManager::Secret',
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

  it('keeps the ids of everything that holds data: a change of one replaces the user’s data', () => {
    const { stack } = billing();
    expect(Object.fromEntries(STATEFUL.map((type) => [type, Object.keys(resources(stack, type))]))).toEqual({
      'AWS::Kinesis::Stream': ['UsageStreamB1C45AF5'],
      'AWS::DynamoDB::GlobalTable': ['UsageLeaseTable8CF43EE4'],
      'AWS::RDS::DBInstance': ['UsageLedger2A329894'],
      'AWS::RDS::DBSubnetGroup': ['UsageLedgerSubnetGroupB3F328C9'],
      'AWS::RDS::DBParameterGroup': ['UsageLedgerParametersB4E05A62'],
      'AWS::SecretsManager::Secret': ['UsageLedgerOwnerSecret601CCD56'],
      'AWS::Logs::LogGroup': ['UsageConsumerLogs92129AFC'],
      'AWS::EC2::VPC': ['UsageVpc7104B0B3'],
    });
  });

  it('has a network of its own: two zones, one NAT gateway, gateway endpoints', () => {
    const { stack } = billing();
    expect(Object.keys(resources(stack, 'AWS::EC2::NatGateway'))).toHaveLength(1);
    expect(Object.keys(resources(stack, 'AWS::EC2::Subnet'))).toHaveLength(6);
    const endpoints = Object.values(resources(stack, 'AWS::EC2::VPCEndpoint'));
    expect(endpoints.map((each) => each.Properties.VpcEndpointType)).toEqual(['Gateway', 'Gateway']);
  });

  it('uses the parts that are given, and makes no others', () => {
    const stack = newStack();
    const vpc = vpcOf(stack);
    const stream = new BillingStream(stack, 'Stream');
    const leaseTable = new LeaseTable(stack, 'Leases');
    const ledger = new LedgerDatabase(stack, 'Ledger', { vpc });
    const { pattern } = billing({ vpc, stream, leaseTable, ledger }, stack);
    for (const type of STATEFUL) expect(Object.keys(resources(stack, type))).toHaveLength(1);
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

  it('keeps and protects everything otherwise', () => {
    const { stack } = billing();
    for (const type of STATEFUL.filter((each) => each !== 'AWS::EC2::VPC')) {
      expect(only(stack, type).DeletionPolicy).toMatch(/^Retain/);
    }
    expect(only(stack, 'AWS::RDS::DBInstance').Properties.DeletionProtection).toBe(true);
  });

  it('refuses a consumer in isolated subnets only', () => {
    const stack = newStack();
    const subnetConfiguration = [{ name: 'Hidden', subnetType: ec2.SubnetType.PRIVATE_ISOLATED }];
    const vpc = new ec2.Vpc(stack, 'Vpc', { subnetConfiguration, natGateways: 0 }) as ec2.IVpc;
    expect(() => billing({ vpc }, stack)).toThrow("no 'Private' subnet groups");
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
