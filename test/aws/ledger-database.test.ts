import { type App, Duration, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import { PostgresEngineVersion } from 'aws-cdk-lib/aws-rds';
import { describe, expect, it } from 'vitest';
import { LedgerDatabase, type LedgerDatabaseProps } from '../../constructs/aws';
import { newStack, only, resources, vpcOf } from './stack';

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
    const { resource } = ledgerOf();
    expect(resource()).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    expect(resource().Properties).toEqual({
      AllocatedStorage: '20',
      AutoMinorVersionUpgrade: true,
      BackupRetentionPeriod: 14,
      CACertificateIdentifier: 'rds-ca-rsa2048-g1',
      CopyTagsToSnapshot: true,
      DBInstanceClass: 'db.t4g.medium',
      DBName: 'chargeonce',
      DBParameterGroupName: { Ref: expect.stringMatching(/^LedgerParameters/) },
      DBSubnetGroupName: { Ref: expect.stringMatching(/^LedgerSubnetGroup/) },
      DeleteAutomatedBackups: false,
      DeletionProtection: true,
      EnableCloudwatchLogsExports: ['postgresql', 'upgrade'],
      EnableIAMDatabaseAuthentication: true,
      Engine: 'postgres',
      EngineVersion: '17',
      ManageMasterUserPassword: true,
      MasterUsername: 'chargeonce_owner',
      MaxAllocatedStorage: 200,
      MonitoringInterval: 60,
      MonitoringRoleArn: { 'Fn::GetAtt': [expect.stringMatching(/^LedgerMonitoringRole/), 'Arn'] },
      MultiAZ: true,
      PubliclyAccessible: false,
      StorageEncrypted: true,
      StorageType: 'gp3',
      VPCSecurityGroups: [{ 'Fn::GetAtt': [expect.stringMatching(/^LedgerSecurityGroup/), 'GroupId'] }],
    });
  });

  it('leaves the owner’s password to RDS: none is in the template, and no secret either', () => {
    const { stack, ledger } = ledgerOf();
    expect(resources(stack, 'AWS::SecretsManager::Secret')).toEqual({});
    expect(JSON.stringify(Template.fromStack(stack).toJSON())).not.toMatch(
      /MasterUserPassword"(?!:true)|replaced below/,
    );
    expect(stack.resolve(ledger.ownerSecret.secretArn)).toEqual({
      'Fn::GetAtt': [expect.stringMatching(/^Ledger/), 'MasterUserSecret.SecretArn'],
    });
    // The ARN is whole: a grant needs no wildcard.
    expect(ledger.ownerSecret.secretFullArn).toBe(ledger.ownerSecret.secretArn);
  });

  it('takes TLS connections only', () => {
    const { stack, resource } = ledgerOf();
    expect(only(stack, 'AWS::RDS::DBParameterGroup').Properties).toMatchObject({
      Family: 'postgres17',
      Parameters: { 'rds.force_ssl': '1' },
    });
    expect(resource().Properties.DBParameterGroupName).toEqual({ Ref: expect.stringMatching(/^LedgerParameters/) });
  });

  it('lets nobody in and itself out to nowhere, until somebody is let in', () => {
    const { stack } = ledgerOf();
    const { SecurityGroupEgress, SecurityGroupIngress } = only(stack, 'AWS::EC2::SecurityGroup').Properties;
    expect(SecurityGroupIngress).toBeUndefined();
    expect(SecurityGroupEgress).toEqual([expect.objectContaining({ CidrIp: '255.255.255.255/32' })]);
    expect(resources(stack, 'AWS::EC2::SecurityGroupIngress')).toEqual({});
  });

  it.each(PROPS)('%s', (_, props, properties) => {
    expect(ledgerOf(props).resource().Properties).toMatchObject(properties);
  });

  it('encryptionKey: for the storage and for the owner’s secret', () => {
    const stack = newStack();
    const encryptionKey = new kms.Key(stack, 'Key');
    const ledger = new LedgerDatabase(stack, 'Ledger', { vpc: vpcOf(stack), encryptionKey });
    const key = { 'Fn::GetAtt': [expect.stringMatching(/^Key/), 'Arn'] };
    const { Properties } = only(stack, 'AWS::RDS::DBInstance');
    expect(Properties.KmsKeyId).toEqual(key);
    expect(Properties.MasterUserSecret).toEqual({ KmsKeyId: key });
    expect(stack.resolve(ledger.ownerSecret.encryptionKey?.keyArn)).toEqual(key);
    expect(ledgerOf().resource().Properties).not.toHaveProperty('MasterUserSecret');
  });

  it('removalPolicy: of the database, its backups and what a kept one needs alike', () => {
    const kinds = [
      'AWS::RDS::DBInstance',
      'AWS::RDS::DBParameterGroup',
      'AWS::RDS::DBSubnetGroup',
      'AWS::EC2::SecurityGroup',
      'AWS::IAM::Role',
    ];
    const policies = (removalPolicy?: RemovalPolicy) => {
      const { stack, resource } = ledgerOf(removalPolicy === undefined ? {} : { removalPolicy });
      return [
        ...kinds.map((kind) => only(stack, kind).DeletionPolicy),
        resource().Properties.DeleteAutomatedBackups as boolean,
      ];
    };
    expect(policies()).toEqual(['Retain', 'Retain', 'Retain', 'Retain', 'Retain', false]);
    expect(policies(RemovalPolicy.DESTROY)).toEqual(['Delete', 'Delete', undefined, 'Delete', 'Delete', true]);
    expect(policies(RemovalPolicy.SNAPSHOT)).toEqual(['Snapshot', 'Delete', undefined, 'Delete', 'Delete', false]);
  });

  it('vpc, vpcSubnets: isolated subnets first, private ones when there are none, or those that are given', () => {
    const subnets = (stack: Stack) => JSON.stringify(only(stack, 'AWS::RDS::DBSubnetGroup').Properties.SubnetIds);
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

  it.each<[string, Partial<LedgerDatabaseProps>, string]>([
    [
      'an old PostgreSQL',
      { engineVersion: PostgresEngineVersion.VER_13 },
      'engineVersion is 13; allowed: 14 or later. The schema needs it. Leave it out for 17.',
    ],
    [
      'a name that is none',
      { databaseName: 'my-ledger' },
      'databaseName is "my-ledger"; allowed: a letter, then up to 62 letters, digits and underscores. RDS takes no other. Leave it out for chargeonce.',
    ],
    [
      'no backups',
      { backupRetention: Duration.days(0) },
      'backupRetention is 0 days; allowed: whole days from 1 to 35. Without backups nobody can say who was billed after a loss.',
    ],
    ['backups for too long', { backupRetention: Duration.days(36) }, 'backupRetention is 36 days; allowed: whole days'],
    ['backups of half a day', { backupRetention: Duration.hours(36) }, 'backupRetention is 1.5 days; allowed: whole'],
    [
      'another interval',
      { monitoringInterval: Duration.seconds(20) },
      'monitoringInterval is 20 s; allowed: 0, 1, 5, 10, 15, 30, 60 s. RDS takes no other. Leave it out for 60 s.',
    ],
    [
      'too little storage',
      { allocatedStorage: 10 },
      'allocatedStorage is 10 GiB; allowed: whole GiB from 20. A gp3 volume of RDS has no less. Leave it out for 20.',
    ],
    [
      'storage that shrinks',
      { allocatedStorage: 300, maxAllocatedStorage: 200 },
      'maxAllocatedStorage is 200 GiB; allowed: 300 GiB or more, the storage to begin with. Storage never shrinks. Say the same number for storage that does not grow.',
    ],
  ])('refuses %s', (_, props, message) => {
    expect(() => ledgerOf(props)).toThrow(`[Billing/Ledger] ${message}`);
  });

  it.each<[string, ec2.VpcProps, string]>([
    [
      'a VPC of public subnets alone',
      { subnetConfiguration: [{ name: 'public', subnetType: ec2.SubnetType.PUBLIC }] },
      'vpcSubnets is not given, and the VPC’s subnets are all public; allowed: a VPC with isolated or private subnets, or subnets that are named. A ledger belongs where the internet does not reach. Add isolated subnets in two zones.',
    ],
    [
      'subnets of one zone',
      { maxAzs: 1 },
      'vpcSubnets is subnets of one zone; allowed: of two zones or more. RDS takes no fewer, also when multiAz is false: it may have to move the server.',
    ],
  ])('refuses %s', (_, props, message) => {
    const stack = newStack();
    const vpc = new ec2.Vpc(stack, 'Vpc', props) as ec2.IVpc;
    expect(() => new LedgerDatabase(stack, 'Ledger', { vpc })).toThrow(`[Billing/Ledger] ${message}`);
  });

  it('takes an imported VPC, its zones counted or not known, and one that is yet to be looked up', () => {
    const stack = newStack('Billing', { env: { account: '111111111111', region: 'eu-west-1' } });
    const imported = (id: string, availabilityZones: string[], isolatedSubnetIds: string[]) =>
      ec2.Vpc.fromVpcAttributes(stack, id, { vpcId: 'vpc-1', availabilityZones, isolatedSubnetIds });
    const make = (id: string, vpc: ec2.IVpc) => () => new LedgerDatabase(stack, id, { vpc });
    expect(make('A', imported('Two', ['eu-west-1a', 'eu-west-1b'], ['subnet-1', 'subnet-2']))).not.toThrow();
    expect(make('B', imported('One', ['eu-west-1a'], ['subnet-1']))).toThrow('vpcSubnets is subnets of one zone');
    expect(make('C', imported('Some', Fn.getAzs(), Fn.split(',', Fn.importValue('Subnets'))))).not.toThrow();
    expect(make('D', ec2.Vpc.fromLookup(stack, 'Later', { vpcName: 'shared' }))).not.toThrow();
  });

  it('maxAllocatedStorage: never less than there is to begin with', () => {
    expect(ledgerOf({ allocatedStorage: 300 }).resource().Properties.MaxAllocatedStorage).toBe(300);
  });

  it('monitoringInterval: never, and then without a role', () => {
    const { resource } = ledgerOf({ monitoringInterval: Duration.seconds(0) });
    expect(resource().Properties).not.toHaveProperty('MonitoringRoleArn');
  });
});

describe('logging in to the ledger', () => {
  it('is by IAM, as a user without a password that migrations make', () => {
    expect(ledgerOf().ledger.workerLogin).toEqual({
      environment: { DATABASE_AUTH: 'rds-iam', PGUSER: 'chargeonce_worker' },
      migrateArguments: ['--worker-role', 'chargeonce_worker', '--worker-auth', 'rds-iam'],
    });
  });

  it('is granted for that user on this database, and nothing else', () => {
    const { stack, ledger } = ledgerOf();
    ledger.grantConnect(new iam.User(stack, 'Worker'));
    expect(only(stack, 'AWS::IAM::Policy').Properties.PolicyDocument.Statement).toEqual([
      {
        Action: 'rds-db:connect',
        Effect: 'Allow',
        Resource: {
          'Fn::Join': [
            '',
            [
              'arn:',
              { Ref: 'AWS::Partition' },
              ':rds-db:',
              { Ref: 'AWS::Region' },
              ':',
              { Ref: 'AWS::AccountId' },
              ':dbuser:',
              { 'Fn::GetAtt': [expect.stringMatching(/^Ledger/), 'DbiResourceId'] },
              '/chargeonce_worker',
            ],
          ],
        },
      },
    ]);
  });

  it('shows where the database is', () => {
    const { stack, ledger } = ledgerOf();
    expect(stack.resolve(ledger.endpoint.hostname)).toEqual({ 'Fn::GetAtt': [expect.any(String), 'Endpoint.Address'] });
    expect(ledger.databaseName).toBe('chargeonce');
    expect(ledgerOf({ databaseName: 'billing' }).ledger.databaseName).toBe('billing');
  });

  it('from another stack makes that stack refer to this one, and never the reverse', () => {
    const net = newStack('Net');
    const app = net.node.root as App;
    const [data, compute] = [new Stack(app, 'Data'), new Stack(app, 'Compute')];
    const vpc = vpcOf(net);
    const encryptionKey = new kms.Key(data, 'Key') as kms.IKey;
    const ledger = new LedgerDatabase(data, 'Ledger', { vpc, encryptionKey });
    const consumer = new ec2.SecurityGroup(compute, 'Consumer', { vpc, allowAllOutbound: false });
    const role = new iam.Role(compute, 'Role', { assumedBy: new iam.ServicePrincipal('ecs-tasks.amazonaws.com') });
    consumer.connections.allowToDefaultPort(ledger);
    ledger.grantConnect(role);
    ledger.ownerSecret.grantRead(role);

    app.synth();
    const needs = (stack: Stack) => stack.dependencies.map((each) => each.stackName).sort();
    expect(needs(data)).toEqual(['Net']);
    expect(needs(compute)).toEqual(['Data', 'Net']);
    expect(Object.keys(resources(compute, 'AWS::EC2::SecurityGroupIngress'))).toHaveLength(1);
    expect(only(compute, 'AWS::EC2::SecurityGroupIngress').Properties.FromPort).toEqual({
      'Fn::ImportValue': expect.stringMatching(/^Data:.*EndpointPort/),
    });
  });
});

describe('the ledger’s metrics', () => {
  it('are those of this server', () => {
    const { stack, ledger } = ledgerOf();
    const metrics = {
      CPUUtilization: ledger.metricCPUUtilization(),
      DatabaseConnections: ledger.metricDatabaseConnections(),
      FreeableMemory: ledger.metricFreeableMemory(),
      FreeStorageSpace: ledger.metricFreeStorageSpace({ period: Duration.minutes(1) }),
    };
    for (const [metricName, metric] of Object.entries(metrics)) {
      expect(metric).toMatchObject({ namespace: 'AWS/RDS', metricName });
      expect(stack.resolve(metric.dimensions)).toEqual({
        DBInstanceIdentifier: { Ref: expect.stringMatching(/^Ledger/) },
      });
    }
    expect(metrics.FreeStorageSpace.period.toSeconds()).toBe(60);
  });
});
