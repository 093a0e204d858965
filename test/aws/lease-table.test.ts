import { Duration, Lazy, RemovalPolicy, Token } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import { describe, expect, it } from 'vitest';
import { type ILeaseTable, LeaseTable, type LeaseTableProps } from '../../constructs/aws';
import { checkMaxShards } from '../../constructs/aws/lease-table/lease-checks';
import { newStack, only } from './stack';

const tableOf = (props?: LeaseTableProps) => {
  const stack = newStack();
  const leases = new LeaseTable(stack, 'Leases', props);
  return { stack, leases, resource: () => only(stack, 'AWS::DynamoDB::GlobalTable') };
};

const scaled = (MinCapacity: number, MaxCapacity: number) => ({
  MinCapacity,
  MaxCapacity,
  SeedCapacity: MinCapacity,
  TargetTrackingScalingPolicyConfiguration: { TargetValue: 70 },
});

describe('LeaseTable', () => {
  it('has the keys of the Kinesis Client Library and its index from the first deploy', () => {
    const { resource } = tableOf();
    expect(resource().Properties).toMatchObject({
      KeySchema: [{ AttributeName: 'leaseKey', KeyType: 'HASH' }],
      AttributeDefinitions: [
        { AttributeName: 'leaseKey', AttributeType: 'S' },
        { AttributeName: 'leaseOwner', AttributeType: 'S' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'LeaseOwnerToLeaseKeyIndex',
          KeySchema: [
            { AttributeName: 'leaseOwner', KeyType: 'HASH' },
            { AttributeName: 'leaseKey', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    });
  });

  it('is on demand, restorable, protected and retained, with leases of 10 s, when nothing is said', () => {
    const { resource, leases } = tableOf();
    expect(resource()).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        Replicas: [
          {
            DeletionProtectionEnabled: true,
            PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          },
        ],
      },
    });
    expect(leases.leaseDuration.toSeconds()).toBe(10);
    expect(leases.capacity).toBeUndefined();
    expect(leases.maxShards).toBeUndefined();
    expect(resource().Properties.SSESpecification).toBeUndefined();
  });

  it('maxShards: provisioned by the formula, the index on its own', () => {
    const { resource, leases } = tableOf({ maxShards: 1_000 });
    const { Properties } = resource();
    expect(Properties.BillingMode).toBe('PROVISIONED');
    expect(Properties.WriteProvisionedThroughputSettings.WriteCapacityAutoScalingSettings).toEqual(scaled(454, 1_362));
    expect(
      Properties.GlobalSecondaryIndexes[0].WriteProvisionedThroughputSettings.WriteCapacityAutoScalingSettings,
    ).toEqual(scaled(150, 450));
    const [replica] = Properties.Replicas;
    expect(replica.GlobalSecondaryIndexes[0].ReadProvisionedThroughputSettings.ReadCapacityAutoScalingSettings).toEqual(
      scaled(5, 1_875),
    );
    expect(leases.maxShards).toBe(1_000);
    expect(replica.ReadProvisionedThroughputSettings.ReadCapacityAutoScalingSettings).toEqual(scaled(625, 1_875));
    expect(leases.capacity).toEqual({ write: 454, read: 625, indexWrite: 150 });
  });

  it('leaseDuration: longer leases need fewer writes', () => {
    const { leases } = tableOf({ maxShards: 1_000, leaseDuration: Duration.seconds(30) });
    expect(leases.leaseDuration.toSeconds()).toBe(30);
    expect(leases.capacity?.write).toBe(151);
  });

  it('pointInTimeRecovery, deletionProtection', () => {
    const { resource } = tableOf({ pointInTimeRecovery: false, deletionProtection: false });
    expect(resource().Properties.Replicas[0]).toMatchObject({
      DeletionProtectionEnabled: false,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
    });
  });

  it('tableName', () => {
    expect(tableOf({ tableName: 'leases' }).resource().Properties.TableName).toBe('leases');
  });

  it('removalPolicy', () => {
    expect(tableOf({ removalPolicy: RemovalPolicy.DESTROY }).resource().DeletionPolicy).toBe('Delete');
  });

  it('grants what a worker does to leases, on this table and its one index', () => {
    const { stack, leases } = tableOf();
    leases.grantLease(new iam.User(stack, 'Worker'));
    const table = { 'Fn::GetAtt': [expect.stringMatching(/^Leases/), 'Arn'] };
    expect(only(stack, 'AWS::IAM::Policy').Properties.PolicyDocument.Statement).toEqual([
      {
        Action: [
          'dynamodb:DeleteItem',
          'dynamodb:DescribeTable',
          'dynamodb:GetItem',
          'dynamodb:PutItem',
          'dynamodb:Scan',
          'dynamodb:UpdateItem',
        ],
        Effect: 'Allow',
        Resource: table,
      },
      {
        Action: 'dynamodb:Query',
        Effect: 'Allow',
        Resource: { 'Fn::Join': ['', [table, '/index/LeaseOwnerToLeaseKeyIndex']] },
      },
    ]);
  });

  it.each([
    ['known', { env: { account: '111111111111', region: 'eu-west-1' } }],
    ['not known yet', undefined],
  ])('encryption: workers may use your key, and nothing else with it, where the region is %s', (_, props) => {
    const stack = newStack('Billing', props);
    const key = new kms.Key(stack, 'Key');
    const leases = new LeaseTable(stack, 'Leases', { encryption: dynamodb.TableEncryptionV2.customerManagedKey(key) });
    leases.grantLease(new iam.User(stack, 'Worker'));
    const arn = { 'Fn::GetAtt': [expect.stringMatching(/^Key/), 'Arn'] };
    const table = only(stack, 'AWS::DynamoDB::GlobalTable').Properties;
    expect(table.SSESpecification).toEqual({ SSEEnabled: true, SSEType: 'KMS' });
    expect(table.Replicas[0].SSESpecification).toEqual({ KMSMasterKeyId: arn });
    expect(only(stack, 'AWS::IAM::Policy').Properties.PolicyDocument.Statement).toContainEqual({
      Action: [
        'kms:Decrypt',
        'kms:DescribeKey',
        'kms:Encrypt',
        'kms:GenerateDataKey',
        'kms:ReEncryptFrom',
        'kms:ReEncryptTo',
      ],
      Effect: 'Allow',
      Resource: arn,
    });
  });

  it.each<[string, LeaseTableProps, string]>([
    [
      '4 s',
      { leaseDuration: Duration.seconds(4) },
      'leaseDuration is 4 s; allowed: 5 to 60 s. Shorter leases are lost to pauses of the process, longer ones leave a dead worker’s shards unread.',
    ],
    ['61 s', { leaseDuration: Duration.seconds(61) }, 'leaseDuration is 61 s; allowed: 5 to 60 s. Shorter'],
    [
      'a duration that is known later',
      { leaseDuration: Duration.seconds(Lazy.number({ produce: () => 10 })) },
      'leaseDuration is a token; allowed: 5 to 60 s. The size of the table and the deadlines of its workers are worked out from it at synth.',
    ],
    [
      'no shards',
      { maxShards: 0 },
      'maxShards is 0; allowed: a whole number from 1. Count three times the open shards if the stream may double, or leave it out for an on-demand table.',
    ],
    ['half a shard', { maxShards: 1.5 }, 'maxShards is 1.5; allowed: a whole number from 1. Count'],
    [
      'shards that are known later',
      { maxShards: Token.asNumber({ Ref: 'Shards' }) },
      'maxShards is a token; allowed: a whole number from 1. Count',
    ],
    [
      'more shards than one table can hold',
      { maxShards: 8_001 },
      'maxShards is 8001; allowed: at most 8000 with leases of 10 s. More would need over 40000 units a second, the most that an account gives one table. Lengthen leaseDuration, or leave maxShards out for an on-demand table.',
    ],
  ])('refuses %s', (_, props, message) => {
    expect(() => tableOf(props)).toThrow(`[Billing/Leases] ${message}`);
  });

  it.each([5, 60])('takes leases of %d s', (seconds) => {
    expect(() => tableOf({ leaseDuration: Duration.seconds(seconds) })).not.toThrow();
  });

  it('holds more shards with longer leases', () => {
    expect(() => tableOf({ maxShards: 8_001, leaseDuration: Duration.seconds(20) })).not.toThrow();
  });
});

describe('LeaseTable.fromTable', () => {
  const key = (name: string): dynamodb.Attribute => ({ name, type: dynamodb.AttributeType.STRING });
  const warningsOf = (leases: ILeaseTable) =>
    leases.node.metadata.filter((each) => each.type === 'aws:cdk:warning').map((each) => String(each.data));

  it('grants on an imported table as on one made here', () => {
    const stack = newStack();
    const leases = LeaseTable.fromTable(stack, 'Leases', dynamodb.TableV2.fromTableName(stack, 'Table', 'leases'));
    leases.grantLease(new iam.User(stack, 'Worker'));
    const [onTable, onIndex] = only(stack, 'AWS::IAM::Policy').Properties.PolicyDocument.Statement;
    expect(JSON.stringify(onTable.Resource)).toContain(':table/leases"');
    expect(JSON.stringify(onIndex.Resource)).toContain(':table/leases/index/LeaseOwnerToLeaseKeyIndex"');
    expect(leases.leaseDuration.toSeconds()).toBe(10);
    expect(leases.maxShards).toBeUndefined();
  });

  it('leaseDuration', () => {
    const stack = newStack();
    const table = dynamodb.TableV2.fromTableName(stack, 'Table', 'leases');
    const leases = LeaseTable.fromTable(stack, 'Leases', table, { leaseDuration: Duration.seconds(20) });
    expect(leases.leaseDuration.toSeconds()).toBe(20);
    expect(() => LeaseTable.fromTable(stack, 'Long', table, { leaseDuration: Duration.minutes(2) })).toThrow(
      '[Billing/Long] leaseDuration is 120 s; allowed: 5 to 60 s. Shorter',
    );
  });

  it('encryption: grants the key that is named here or with the table, and does not warn then', () => {
    const grantedBy = (how: 'option' | 'attributes') => {
      const stack = newStack();
      const encryptionKey = kms.Key.fromKeyArn(stack, 'Key', 'arn:aws:kms:eu-west-1:111111111111:key/1');
      const attributes = how === 'attributes' ? { encryptionKey } : {};
      const table = dynamodb.TableV2.fromTableAttributes(stack, 'Table', { tableName: 'leases', ...attributes });
      const encryption = dynamodb.TableEncryptionV2.customerManagedKey(encryptionKey);
      const leases = LeaseTable.fromTable(stack, 'Leases', table, how === 'option' ? { encryption } : {});
      expect(warningsOf(leases)).toEqual([]);
      leases.grantLease(new iam.User(stack, 'Worker'));
      return only(stack, 'AWS::IAM::Policy').Properties.PolicyDocument.Statement;
    };
    const onKey = expect.objectContaining({ Resource: 'arn:aws:kms:eu-west-1:111111111111:key/1' });
    expect(grantedBy('option')).toContainEqual(onKey);
    expect(grantedBy('attributes')).toContainEqual(onKey);
  });

  it.each([dynamodb.TableEncryptionV2.dynamoOwnedKey(), dynamodb.TableEncryptionV2.awsManagedKey()])(
    'does not warn when the encryption is said',
    (encryption) => {
      const stack = newStack();
      const table = dynamodb.TableV2.fromTableName(stack, 'Table', 'leases');
      expect(warningsOf(LeaseTable.fromTable(stack, 'Leases', table, { encryption }))).toEqual([]);
    },
  );

  it.each([
    [
      'TableV2',
      (stack: ReturnType<typeof newStack>, partitionKey: dynamodb.Attribute) =>
        new dynamodb.TableV2(stack, 'Table', { partitionKey }) as dynamodb.ITable,
    ],
    [
      'Table',
      (stack: ReturnType<typeof newStack>, partitionKey: dynamodb.Attribute) =>
        new dynamodb.Table(stack, 'Table', { partitionKey }) as dynamodb.ITable,
    ],
  ])('checks the keys of a %s that this app makes', (_, make) => {
    const good = newStack();
    const leases = LeaseTable.fromTable(good, 'Leases', make(good, key('leaseKey')));
    expect(warningsOf(leases)).toEqual([]);
    const bad = newStack();
    expect(() => LeaseTable.fromTable(bad, 'Leases', make(bad, key('id')))).toThrow(
      '[Billing/Leases] the key of the table is id; allowed: leaseKey. Workers write leases as the Kinesis Client Library does. Import its table, or make a LeaseTable.',
    );
  });

  it('refuses a sort key, and an index of the library’s name with other keys', () => {
    const stack = newStack();
    const sorted = new dynamodb.TableV2(stack, 'Sorted', { partitionKey: key('leaseKey'), sortKey: key('at') });
    expect(() => LeaseTable.fromTable(stack, 'A', sorted as dynamodb.ITable)).toThrow(
      '[Billing/A] the key of the table is leaseKey, at; allowed: leaseKey. Workers',
    );
    const indexed = new dynamodb.TableV2(stack, 'Indexed', {
      partitionKey: key('leaseKey'),
      globalSecondaryIndexes: [{ indexName: 'LeaseOwnerToLeaseKeyIndex', partitionKey: key('owner') }],
    });
    expect(() => LeaseTable.fromTable(stack, 'B', indexed as dynamodb.ITable)).toThrow(
      '[Billing/B] the key of the index LeaseOwnerToLeaseKeyIndex is owner; allowed: leaseOwner, leaseKey. Workers',
    );
  });
});

describe('the lease table’s throttles', () => {
  it('are summed over this table and its index, reads and writes', () => {
    const { stack, leases } = tableOf();
    const metric = leases.metricThrottled();
    expect(metric.expression).toBe('SUM([writes, reads, indexWrites, indexReads])');
    expect(metric.period.toSeconds()).toBe(60);
    const TableName = { Ref: expect.stringMatching(/^Leases/) };
    const GlobalSecondaryIndexName = 'LeaseOwnerToLeaseKeyIndex';
    const parts = Object.entries(metric.usingMetrics).map(([id, each]) => {
      const { metricStat } = each.toMetricConfig();
      return [id, metricStat?.metricName, metricStat?.statistic, stack.resolve(metricStat?.dimensions)];
    });
    const dimensions = (of: Record<string, unknown>) =>
      expect.arrayContaining(Object.entries(of).map(([name, value]) => ({ name, value })));
    expect(parts).toEqual([
      ['writes', 'WriteThrottleEvents', 'Sum', dimensions({ TableName })],
      ['reads', 'ReadThrottleEvents', 'Sum', dimensions({ TableName })],
      ['indexWrites', 'WriteThrottleEvents', 'Sum', dimensions({ TableName, GlobalSecondaryIndexName })],
      ['indexReads', 'ReadThrottleEvents', 'Sum', dimensions({ TableName, GlobalSecondaryIndexName })],
    ]);
  });

  it('of an imported table carry its name', () => {
    const stack = newStack();
    const leases = LeaseTable.fromTable(stack, 'Leases', dynamodb.TableV2.fromTableName(stack, 'Table', 'leases'));
    const { writes } = leases.metricThrottled().usingMetrics;
    expect(writes?.toMetricConfig().metricStat?.dimensions).toEqual([{ name: 'TableName', value: 'leases' }]);
  });
});

describe('checkMaxShards', () => {
  it.each([
    ['three times the shards', 12, 4],
    ['a table on demand', undefined, 4],
    ['a stream on demand', 1, undefined],
    ['shards that are known later', 1, Token.asNumber({ Ref: 'Shards' })],
  ])('takes %s', (_, maxShards, shardCount) => {
    expect(() => checkMaxShards('Billing/Consumer', maxShards, shardCount)).not.toThrow();
  });

  it('refuses a table that a doubling stream would outgrow', () => {
    expect(() => checkMaxShards('Billing/Consumer', 11, 4)).toThrow(
      '[Billing/Consumer] leaseTable.maxShards is 11; allowed: 12 or more, for a stream of 4 shards. While a stream doubles, each shard has a lease of its own and two of its children; a smaller table refuses renewals, and leases are lost. Raise it, or leave it out for an on-demand table.',
    );
  });
});
