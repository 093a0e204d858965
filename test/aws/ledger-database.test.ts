import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as kms from 'aws-cdk-lib/aws-kms';
import { PostgresEngineVersion } from 'aws-cdk-lib/aws-rds';
import { describe, expect, it } from 'vitest';
import { LedgerDatabase, type LedgerDatabaseProps } from '../../constructs/aws';
import { newStack, only, vpcOf } from './stack';

const ledgerOf = (props: Partial<LedgerDatabaseProps> = {}) => {
  const stack = newStack();
  const ledger = new LedgerDatabase(stack, 'Ledger', { vpc: vpcOf(stack), ...props });
  return { stack, ledger, resource: () => only(stack, 'AWS::RDS::DBInstance') };
};

/** What each prop becomes in the template. */
const PROPS: readonly [keyof LedgerDatabaseProps, Partial<LedgerDatabaseProps>, object][] = [
  ['engineVersion', { engineVersion: PostgresEngineVersion.VER_16 }, { EngineVersion: '16' }],
  ['instanceType', { instanceType: new ec2.InstanceType('m7g.large') }, { DBInstanceClass: 'db.m7g.large' }],
  ['multiAz', { multiAz: false }, { MultiAZ: false }],
  ['allocatedStorage', { allocatedStorage: 50 }, { AllocatedStorage: '50' }],
  ['maxAllocatedStorage', { maxAllocatedStorage: 500 }, { MaxAllocatedStorage: 500 }],
  ['backupRetention', { backupRetention: Duration.days(35) }, { BackupRetentionPeriod: 35 }],
  ['databaseName', { databaseName: 'billing' }, { DBName: 'billing' }],
  ['monitoringInterval', { monitoringInterval: Duration.seconds(5) }, { MonitoringInterval: 5 }],
  ['deletionProtection', { deletionProtection: false }, { DeletionProtection: false }],
];

describe('LedgerDatabase', () => {
  it('is PostgreSQL 17, encrypted, private, redundant, backed up and protected when nothing is said', () => {
    expect(ledgerOf().resource()).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        Engine: 'postgres',
        EngineVersion: '17',
        DBInstanceClass: 'db.t4g.medium',
        MultiAZ: true,
        AllocatedStorage: '20',
        MaxAllocatedStorage: 200,
        StorageType: 'gp3',
        StorageEncrypted: true,
        BackupRetentionPeriod: 14,
        DBName: 'chargeonce',
        MonitoringInterval: 60,
        DeletionProtection: true,
        PubliclyAccessible: false,
        EnableIAMDatabaseAuthentication: true,
        EnableCloudwatchLogsExports: ['postgresql'],
      },
    });
  });

  it('takes TLS connections only', () => {
    const { stack, resource } = ledgerOf();
    expect(only(stack, 'AWS::RDS::DBParameterGroup').Properties).toMatchObject({
      Family: 'postgres17',
      Parameters: { 'rds.force_ssl': '1' },
    });
    expect(resource().Properties.DBParameterGroupName).toEqual({ Ref: expect.stringMatching(/^LedgerParameters/) });
  });

  it.each(PROPS)('%s', (_, props, properties) => {
    expect(ledgerOf(props).resource().Properties).toMatchObject(properties);
  });

  it('encryptionKey: for the storage and for the owner’s secret', () => {
    const stack = newStack();
    new LedgerDatabase(stack, 'Ledger', { vpc: vpcOf(stack), encryptionKey: new kms.Key(stack, 'Key') });
    const key = { 'Fn::GetAtt': [expect.stringMatching(/^Key/), 'Arn'] };
    expect(only(stack, 'AWS::RDS::DBInstance').Properties.KmsKeyId).toEqual(key);
    expect(only(stack, 'AWS::SecretsManager::Secret').Properties.KmsKeyId).toEqual(key);
  });

  it('removalPolicy: of the database, its parameters and its secret alike', () => {
    const kinds = ['AWS::RDS::DBInstance', 'AWS::RDS::DBParameterGroup', 'AWS::SecretsManager::Secret'];
    const policies = (removalPolicy?: RemovalPolicy) => {
      const { stack } = ledgerOf(removalPolicy === undefined ? {} : { removalPolicy });
      return kinds.map((kind) => only(stack, kind).DeletionPolicy);
    };
    expect(policies()).toEqual(['Retain', 'Retain', 'Retain']);
    expect(policies(RemovalPolicy.DESTROY)).toEqual(['Delete', 'Delete', 'Delete']);
  });

  it('vpc, vpcSubnets: isolated subnets first, private ones when there are none, or those that are given', () => {
    const subnets = (stack: ReturnType<typeof newStack>) =>
      JSON.stringify(only(stack, 'AWS::RDS::DBSubnetGroup').Properties.SubnetIds);
    expect(subnets(ledgerOf().stack)).toContain('VpcPrivateSubnet1');

    const stack = newStack();
    const kinds = { public: ec2.SubnetType.PUBLIC, hidden: ec2.SubnetType.PRIVATE_ISOLATED };
    const vpc = new ec2.Vpc(stack, 'Vpc', {
      maxAzs: 2,
      subnetConfiguration: Object.entries(kinds).map(([name, subnetType]) => ({ name, subnetType })),
    }) as ec2.IVpc;
    new LedgerDatabase(stack, 'Ledger', { vpc });
    expect(subnets(stack)).toContain('VpchiddenSubnet1');

    expect(subnets(ledgerOf({ vpcSubnets: { subnetType: ec2.SubnetType.PUBLIC } }).stack)).toContain(
      'VpcPublicSubnet1',
    );
  });

  it('shows where it is and how the owner logs in', () => {
    const { stack, ledger } = ledgerOf();
    expect(stack.resolve(ledger.endpoint.hostname)).toEqual({ 'Fn::GetAtt': [expect.any(String), 'Endpoint.Address'] });
    expect(ledger.databaseName).toBe('chargeonce');
    expect(stack.resolve(ledger.ownerSecret.secretArn)).toEqual({
      Ref: expect.stringMatching(/^LedgerOwnerSecretAttachment/),
    });
  });
});
