/**
 * A database is imported without its security groups, and `allowDefaultPortFrom` makes no rule: synth and deploy go
 * through, and the first task is refused by the network. The same with a key: what is imported without it is granted
 * without it, and a key that is imported itself takes no statement of a policy. All of it silently.
 */

import type { Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import { BillingStream, LeaseTable, LedgerDatabase } from '../../constructs/aws';
import { newStack, only, resources } from '../aws/stack';

const KEY = 'arn:aws:kms:eu-west-1:111111111111:key/1';
const STREAM = 'arn:aws:kinesis:eu-west-1:111111111111:stream/usage';
const stackHere = () => newStack('Billing', { env: { account: '111111111111', region: 'eu-west-1' } });
const ownerOf = (stack: Stack) => secrets.Secret.fromSecretNameV2(stack, 'Owner', 'ledger/owner');
const groupOf = (stack: Stack) => ec2.SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-ledger');
const workerOf = (stack: Stack) => new iam.User(stack, 'Worker');
const consumerOf = (stack: Stack) => {
  const vpc = ec2.Vpc.fromVpcAttributes(stack, 'Net', { vpcId: 'vpc-1', availabilityZones: ['eu-west-1a'] });
  return new ec2.SecurityGroup(stack, 'Consumer', { vpc, allowAllOutbound: false });
};
const rulesOf = (stack: Stack) => Object.values(resources(stack, 'AWS::EC2::SecurityGroupIngress'));
const granted = (stack: Stack) => JSON.stringify(resources(stack, 'AWS::IAM::Policy'));

interface Known {
  readonly resourceId?: boolean;
  readonly groups?: boolean;
}
const KINDS = [
  {
    kind: 'an instance',
    resourceId: 'db-LEDGER',
    missing: 'instanceResourceId is not given; allowed: the resource id of the instance (DbiResourceId, db-…). ',
    importer: 'fromDatabaseInstanceAttributes',
    plain: (stack: Stack, { resourceId = true, groups = true }: Known) =>
      rds.DatabaseInstance.fromDatabaseInstanceAttributes(stack, 'Db', {
        instanceIdentifier: 'ledger',
        instanceEndpointAddress: 'ledger.example.test',
        port: 5432,
        ...(resourceId ? { instanceResourceId: 'db-LEDGER' } : {}),
        securityGroups: groups ? [groupOf(stack)] : [],
      }),
    ours: (stack: Stack, plain: ec2.IConnectable) =>
      LedgerDatabase.fromInstance(stack, 'Ledger', plain as rds.IDatabaseInstance, { ownerSecret: ownerOf(stack) }),
  },
  {
    kind: 'a cluster',
    resourceId: 'cluster-LEDGER',
    missing:
      'clusterResourceIdentifier is not given; allowed: the resource id of the cluster (DbClusterResourceId, cluster-…). ',
    importer: 'fromDatabaseClusterAttributes',
    plain: (stack: Stack, { resourceId = true, groups = true }: Known) =>
      rds.DatabaseCluster.fromDatabaseClusterAttributes(stack, 'Db', {
        clusterIdentifier: 'ledger',
        clusterEndpointAddress: 'ledger.example.test',
        port: 5432,
        ...(resourceId ? { clusterResourceIdentifier: 'cluster-LEDGER' } : {}),
        securityGroups: groups ? [groupOf(stack)] : [],
      }),
    ours: (stack: Stack, plain: ec2.IConnectable) =>
      LedgerDatabase.fromCluster(stack, 'Ledger', plain as rds.IDatabaseCluster, { ownerSecret: ownerOf(stack) }),
  },
] as const;

describe.each(KINDS)('$kind that is imported', ({ plain, ours, resourceId, missing, importer }) => {
  it('without its security groups is refused in words, and the CDK alone says nothing', () => {
    const alone = stackHere();
    consumerOf(alone).connections.allowToDefaultPort(plain(alone, { groups: false }));
    expect(rulesOf(alone)).toEqual([]);

    const stack = stackHere();
    expect(() => ours(stack, plain(stack, { groups: false }))).toThrow(
      `[Billing/Ledger] securityGroups is empty; allowed: the security groups of the server. A consumer lets itself in by a rule of them: without any there is no rule, and it never connects. Give them to ${importer}.`,
    );
  });

  it('without its resource id is refused in words, before anything is granted', () => {
    const stack = stackHere();
    expect(() => ours(stack, plain(stack, { resourceId: false }))).toThrow(
      `[Billing/Ledger] ${missing}Logins are granted by it, not by the name: without it nobody may log in. Give it to ${importer}, or use fromLookup.`,
    );
  });

  it('with both gives a rule into its group and a statement that names it', () => {
    const stack = stackHere();
    const ledger = ours(stack, plain(stack, {}));
    consumerOf(stack).connections.allowToDefaultPort(ledger);
    ledger.grantConnect(workerOf(stack));
    expect(rulesOf(stack).map((each) => each.Properties)).toEqual([
      expect.objectContaining({ GroupId: 'sg-ledger', FromPort: 5432 }),
    ]);
    expect(granted(stack)).toContain(`:dbuser:${resourceId}/chargeonce_worker`);
  });
});

describe('a cluster that is imported without its address', () => {
  it('is refused in words', () => {
    const stack = stackHere();
    const cluster = rds.DatabaseCluster.fromDatabaseClusterAttributes(stack, 'Db', {
      clusterIdentifier: 'ledger',
      clusterResourceIdentifier: 'cluster-LEDGER',
      securityGroups: [groupOf(stack)],
    });
    expect(() => LedgerDatabase.fromCluster(stack, 'Ledger', cluster, { ownerSecret: ownerOf(stack) })).toThrow(
      '[Billing/Ledger] clusterEndpointAddress, port is not given; allowed: the address and port of the writer. The ledger is written. Give both to fromDatabaseClusterAttributes, or use fromLookup.',
    );
  });
});

describe('a stream that is imported without its key', () => {
  it('is warned of, because the CDK alone grants nothing on the key and says nothing', () => {
    const alone = stackHere();
    kinesis.Stream.fromStreamArn(alone, 'Usage', STREAM).grantRead(workerOf(alone));
    expect(granted(alone)).not.toContain('kms:');
    Annotations.fromStack(alone).hasNoWarning('*', Match.anyValue());

    const stack = stackHere();
    BillingStream.fromStream(stack, 'Stream', kinesis.Stream.fromStreamArn(stack, 'Usage', STREAM));
    Annotations.fromStack(stack).hasWarning(
      '/Billing/Stream',
      'The stream is imported without its key. If it is encrypted with a key of your own, workers cannot read it until that key is given: BillingStream.fromStream(…, { encryptionKey }). If it is not, say { encryption: StreamEncryption.MANAGED }, or UNENCRYPTED. [ack: chargeonce:stream-key-unknown]',
    );
  });

  it('is read and written once the key is named', () => {
    const stack = stackHere();
    const imported = kinesis.Stream.fromStreamArn(stack, 'Usage', STREAM);
    const encryptionKey = kms.Key.fromKeyArn(stack, 'Key', KEY);
    const stream = BillingStream.fromStream(stack, 'Stream', imported, { encryptionKey });
    stream.grantConsume(workerOf(stack));
    stream.grantPublish(new iam.User(stack, 'Producer'));
    expect(granted(stack)).toContain(`{"Action":"kms:Decrypt","Effect":"Allow","Resource":"${KEY}"}`);
    expect(granted(stack)).toContain(`{"Action":"kms:GenerateDataKey","Effect":"Allow","Resource":"${KEY}"}`);
    Annotations.fromStack(stack).hasNoWarning('*', Match.anyValue());
  });
});

describe('a table that is imported without its key', () => {
  it('is warned of, because the CDK alone grants nothing on the key and says nothing', () => {
    const alone = stackHere();
    dynamodb.TableV2.fromTableName(alone, 'Table', 'leases').grantReadWriteData(workerOf(alone));
    expect(granted(alone)).not.toContain('kms:');
    Annotations.fromStack(alone).hasNoWarning('*', Match.anyValue());

    const stack = stackHere();
    LeaseTable.fromTable(stack, 'Leases', dynamodb.TableV2.fromTableName(stack, 'Table', 'leases'));
    Annotations.fromStack(stack).hasWarning(
      '/Billing/Leases',
      'The table is imported without its key. If it is encrypted with a key of your own, workers cannot use it until that key is given: LeaseTable.fromTable(…, { encryption: TableEncryptionV2.customerManagedKey(key) }). If it is not, say { encryption: TableEncryptionV2.dynamoOwnedKey() }, or awsManagedKey(). [ack: chargeonce:table-key-unknown]',
    );
  });

  it('is used once the key is named', () => {
    const stack = stackHere();
    const table = dynamodb.TableV2.fromTableName(stack, 'Table', 'leases');
    const encryption = dynamodb.TableEncryptionV2.customerManagedKey(kms.Key.fromKeyArn(stack, 'Key', KEY));
    LeaseTable.fromTable(stack, 'Leases', table, { encryption }).grantLease(workerOf(stack));
    expect(granted(stack)).toContain(`"kms:ReEncryptTo"],"Effect":"Allow","Resource":"${KEY}"}`);
  });
});

describe('a secret whose key is imported', () => {
  const importedWithKey = (stack: Stack) =>
    secrets.Secret.fromSecretAttributes(stack, 'Owner', {
      secretCompleteArn: 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:owner-AbCdEf',
      encryptionKey: kms.Key.fromKeyArn(stack, 'Key', KEY),
    });

  it('can be decrypted by whoever may log in with it, and the CDK alone grants nothing on the key', () => {
    const alone = stackHere();
    importedWithKey(alone).grantRead(workerOf(alone));
    expect(granted(alone)).toContain('secretsmanager:GetSecretValue');
    expect(JSON.stringify(Template.fromStack(alone).toJSON())).not.toContain('kms:');

    const stack = stackHere();
    const secret = importedWithKey(stack);
    LedgerDatabase.fromSecret(stack, 'Ledger', { secret, securityGroup: groupOf(stack) }).grantConnect(workerOf(stack));
    expect(granted(stack)).toContain(`{"Action":"kms:Decrypt","Effect":"Allow","Resource":"${KEY}"}`);
  });
});

describe('a stream whose key is imported, for a producer of another account', () => {
  const producer = new iam.AccountPrincipal('222222222222');

  it('is refused in words, and the CDK alone calls a grant a success that nobody was given', () => {
    const alone = stackHere();
    const grant = kms.Key.fromKeyArn(alone, 'Key', KEY).grantEncrypt(producer);
    expect(grant.success).toBe(true);
    expect(Object.keys((Template.fromStack(alone).toJSON() as { Resources?: object }).Resources ?? {})).toEqual([]);

    const stack = stackHere();
    const stream = new BillingStream(stack, 'Stream', { encryptionKey: kms.Key.fromKeyArn(stack, 'Key', KEY) });
    expect(() => stream.grantPublish(producer)).toThrow('The encryptionKey is imported, so that its policy cannot');
    expect(only(stack, 'AWS::Kinesis::Stream').Properties.StreamEncryption.KeyId).toBe(KEY);
  });
});
