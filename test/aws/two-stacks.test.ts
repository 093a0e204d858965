/** Data in one stack, compute in another: compute refers to data, and data to nothing of compute, keys included. */
import { type App, type Environment, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import { describe, expect, it } from 'vitest';
import { BillingConsumer, BillingStream, LeaseTable, LedgerDatabase, SpendCap } from '../../constructs/aws';
import { image, newStack, statements, stripeKey } from './stack';

const ENVIRONMENTS: readonly [string, Environment | undefined][] = [
  ['nowhere in particular', undefined],
  ['Ireland', { account: '111111111111', region: 'eu-west-1' }],
  ['China', { account: '111111111111', region: 'cn-north-1' }],
];

function stacks(env: Environment | undefined) {
  const props = env === undefined ? {} : { env };
  const net = newStack('Net', props);
  const app = net.node.root as App;
  const [data, compute] = [new Stack(app, 'Data', props), new Stack(app, 'Compute', props)];
  const vpc = new ec2.Vpc(net, 'Vpc', { availabilityZones: ['zone-a', 'zone-b'] }) as ec2.IVpc;
  const key = (id: string) => new kms.Key(data, id) as kms.IKey;
  const parts = {
    stream: new BillingStream(data, 'Stream', { encryptionKey: key('StreamKey') }),
    leaseTable: new LeaseTable(data, 'Leases', {
      encryption: dynamodb.TableEncryptionV2.customerManagedKey(key('LeaseKey')),
    }),
    ledger: new LedgerDatabase(data, 'Ledger', { vpc, encryptionKey: key('LedgerKey') }),
  };
  return { net, data, compute, vpc, parts };
}

describe.each(ENVIRONMENTS)('data and compute apart, %s', (_, env) => {
  it('data alone is whole', () => {
    const { net, data } = stacks(env);
    Template.fromStack(data).resourceCountIs('AWS::Kinesis::Stream', 1);
    expect(data.dependencies).toEqual([net]);
  });

  it('a consumer is granted everything on its own side', () => {
    const alone = stacks(env);
    const { net, data, compute, vpc, parts } = stacks(env);
    new BillingConsumer(compute, 'Consumer', {
      ...parts,
      vpc,
      image,
      stripeKey: stripeKey(compute),
      spendCap: SpendCap.off(),
    });
    const producer = new iam.Role(compute, 'Producer', { assumedBy: new iam.ServicePrincipal('ec2.amazonaws.com') });
    parts.stream.grantPublish(producer);

    const granted = JSON.stringify(statements(compute, 'TaskRole'));
    for (const action of [
      'kinesis:GetRecords',
      'kms:Decrypt',
      'dynamodb:UpdateItem',
      'kms:ReEncryptTo',
      'rds-db:connect',
    ])
      expect(granted).toContain(`"${action}"`);
    expect(data.dependencies).toEqual([net]);
    expect(new Set(compute.dependencies)).toEqual(new Set([net, data]));
    // But for what it exports, data is what it was without a consumer.
    const { Resources } = Template.fromStack(data).toJSON();
    expect(Resources).toEqual(Template.fromStack(alone.data).toJSON().Resources);
  });
});
