import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import { describe, expect, it } from 'vitest';
import { LeaseTable, type LeaseTableProps } from '../../constructs/aws';
import { newStack, only } from './stack';

const tableOf = (props?: LeaseTableProps) => {
  const stack = newStack();
  const leases = new LeaseTable(stack, 'Leases', props);
  return { stack, leases, resource: () => only(stack, 'AWS::DynamoDB::GlobalTable') };
};

const scaled = (MinCapacity: number, MaxCapacity: number) => ({
  MinCapacity,
  MaxCapacity,
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

  it.each<[string, LeaseTableProps, string]>([
    ['4 s', { leaseDuration: Duration.seconds(4) }, 'leaseDuration is 4 s; allowed: 5 to 60 s. '],
    ['61 s', { leaseDuration: Duration.seconds(61) }, 'leaseDuration is 61 s; allowed: 5 to 60 s. '],
    ['no shards', { maxShards: 0 }, 'maxShards is 0; allowed: a whole number from 1. '],
    ['half a shard', { maxShards: 1.5 }, 'maxShards is 1.5; allowed: a whole number from 1. '],
  ])('refuses %s', (_, props, message) => {
    expect(() => tableOf(props)).toThrow(`[Billing/Leases] ${message}`);
  });

  it.each([5, 60])('takes leases of %d s', (seconds) => {
    expect(() => tableOf({ leaseDuration: Duration.seconds(seconds) })).not.toThrow();
  });
});
