import { Stack, Tokenization } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import { type ILedgerDatabase, LedgerDatabase } from '../../constructs/aws';
import { newStack, only, resources, statements, vpcOf } from './stack';

const env = { account: '111111111111', region: 'eu-west-1' };
const stackHere = () => newStack('Billing', { env });
const SECRET_ARN = 'arn:aws:secretsmanager:eu-west-1:111111111111:secret:owner-AbCdEf';
const ownerOf = (stack: Stack) => secrets.Secret.fromSecretCompleteArn(stack, 'Owner', SECRET_ARN);
const groupOf = (stack: Stack) => ec2.SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-ledger');
const IAM_LOGIN = { DATABASE_AUTH: 'rds-iam', PGUSER: 'chargeonce_worker' };

const importedInstance = (stack: Stack, change: Partial<rds.DatabaseInstanceAttributes> = {}) =>
  rds.DatabaseInstance.fromDatabaseInstanceAttributes(stack, 'Db', {
    instanceIdentifier: 'ledger',
    instanceEndpointAddress: 'ledger.example.test',
    port: 5433,
    instanceResourceId: 'db-LEDGER',
    securityGroups: [groupOf(stack)],
    ...change,
  });
const importedCluster = (stack: Stack, change: Partial<rds.DatabaseClusterAttributes> = {}) =>
  rds.DatabaseCluster.fromDatabaseClusterAttributes(stack, 'Db', {
    clusterIdentifier: 'ledger',
    clusterEndpointAddress: 'ledger.cluster.example.test',
    port: 5433,
    clusterResourceIdentifier: 'cluster-LEDGER',
    securityGroups: [groupOf(stack)],
    ...change,
  });

/** What a consumer gets of a ledger: the statements of its role, and the rules that it makes. */
function usedBy(stack: Stack, ledger: ILedgerDatabase) {
  const vpc = ec2.Vpc.fromVpcAttributes(stack, 'Net', { vpcId: 'vpc-1', availabilityZones: ['eu-west-1a'] });
  new ec2.SecurityGroup(stack, 'Consumer', { vpc, allowAllOutbound: false }).connections.allowToDefaultPort(ledger);
  ledger.grantConnect(new iam.User(stack, 'Worker'));
  return {
    statements: only(stack, 'AWS::IAM::Policy').Properties.PolicyDocument.Statement as unknown[],
    rules: Object.values(resources(stack, 'AWS::EC2::SecurityGroupIngress')).map((each) => each.Properties),
  };
}
const connectTo = (resourceId: string) => ({
  Action: 'rds-db:connect',
  Effect: 'Allow',
  Resource: {
    'Fn::Join': [
      '',
      ['arn:', { Ref: 'AWS::Partition' }, `:rds-db:eu-west-1:111111111111:dbuser:${resourceId}/chargeonce_worker`],
    ],
  },
});
const ruleInto = (port: unknown) =>
  expect.objectContaining({ GroupId: 'sg-ledger', FromPort: port, ToPort: port, IpProtocol: 'tcp' });

describe('LedgerDatabase.fromInstance', () => {
  it('is reached and logged in to by IAM, as one made here', () => {
    const stack = stackHere();
    const instance = importedInstance(stack);
    const ledger = LedgerDatabase.fromInstance(stack, 'Ledger', instance, { ownerSecret: ownerOf(stack) });
    expect(ledger.instance).toBe(instance);
    expect(ledger.cluster).toBeUndefined();
    expect(ledger.endpoint.socketAddress).toBe('ledger.example.test:5433');
    expect(ledger.databaseName).toBe('chargeonce');
    expect(ledger.ownerSecret.secretArn).toBe(SECRET_ARN);
    expect(ledger.workerLogin.environment).toEqual(IAM_LOGIN);
    expect(ledger.workerLogin.migrateArguments).toContain('--worker-role');
    const { statements, rules } = usedBy(stack, ledger);
    expect(statements).toEqual([connectTo('db-LEDGER')]);
    expect(rules).toEqual([ruleInto(5433)]);
  });

  it('databaseName', () => {
    const stack = stackHere();
    const options = { ownerSecret: ownerOf(stack), databaseName: 'money' };
    expect(LedgerDatabase.fromInstance(stack, 'Ledger', importedInstance(stack), options).databaseName).toBe('money');
  });

  it('takes database and secret from a server that this app makes', () => {
    const stack = stackHere();
    const instance = new rds.DatabaseInstance(stack, 'Db', {
      engine: rds.DatabaseInstanceEngine.postgres({ version: rds.PostgresEngineVersion.VER_17 }),
      vpc: vpcOf(stack),
      databaseName: 'money',
      iamAuthentication: true,
    });
    const ledger = LedgerDatabase.fromInstance(stack, 'Ledger', instance as rds.IDatabaseInstance);
    expect(ledger.databaseName).toBe('money');
    expect(ledger.ownerSecret).toBe(instance.secret);
  });

  it.each<[string, (stack: Stack) => ILedgerDatabase, string]>([
    [
      'no owner secret',
      (stack) => LedgerDatabase.fromInstance(stack, 'Ledger', importedInstance(stack)),
      'ownerSecret is not given; allowed: a secret with the fields username and password. Migrations log in with it to create tables and the workers’ role; workers never see it.',
    ],
    [
      'another engine',
      (stack) => {
        const engine = rds.DatabaseInstanceEngine.mysql({ version: rds.MysqlEngineVersion.VER_8_0 });
        return LedgerDatabase.fromInstance(stack, 'Ledger', importedInstance(stack, { engine }));
      },
      'engine is mysql; allowed: postgres. The ledger keeps its promise by PostgreSQL’s own means.',
    ],
    [
      'a server of this app without IAM authentication',
      (stack) =>
        LedgerDatabase.fromInstance(
          stack,
          'Ledger',
          new rds.DatabaseInstance(stack, 'Db', {
            engine: rds.DatabaseInstanceEngine.postgres({ version: rds.PostgresEngineVersion.VER_17 }),
            vpc: vpcOf(stack),
            iamAuthentication: false,
          }) as rds.IDatabaseInstance,
        ),
      'iamAuthentication is off; allowed: on. Workers log in by IAM, without a password. Set it to true.',
    ],
  ])('refuses %s', (_, make, message) => {
    expect(() => make(stackHere())).toThrow(`[Billing/Ledger] ${message}`);
  });

  it('waits for a lookup: until it was made, the CDK answers with a server that has no security groups', () => {
    const stack = stackHere();
    const instance = rds.DatabaseInstance.fromLookup(stack, 'Db', { instanceIdentifier: 'ledger' });
    expect(instance.connections.securityGroups).toEqual([]);
    expect(() => LedgerDatabase.fromInstance(stack, 'Ledger', instance, { ownerSecret: ownerOf(stack) })).not.toThrow();
  });
});

describe('LedgerDatabase.fromCluster', () => {
  const aurora = rds.DatabaseClusterEngine.auroraPostgres({ version: rds.AuroraPostgresEngineVersion.VER_16_4 });

  it('is reached and logged in to by IAM, as an instance', () => {
    const stack = stackHere();
    const cluster = importedCluster(stack, { engine: aurora });
    const ledger = LedgerDatabase.fromCluster(stack, 'Ledger', cluster, { ownerSecret: ownerOf(stack) });
    expect(ledger.cluster).toBe(cluster);
    expect(ledger.instance).toBeUndefined();
    expect(ledger.endpoint.socketAddress).toBe('ledger.cluster.example.test:5433');
    expect(ledger.workerLogin.environment).toEqual(IAM_LOGIN);
    const { statements, rules } = usedBy(stack, ledger);
    expect(statements).toEqual([connectTo('cluster-LEDGER')]);
    expect(rules).toEqual([ruleInto(5433)]);
  });

  it('takes database and secret from a cluster that this app makes', () => {
    const stack = stackHere();
    const cluster = new rds.DatabaseCluster(stack, 'Db', {
      engine: aurora,
      vpc: vpcOf(stack),
      writer: rds.ClusterInstance.serverlessV2('Writer'),
      defaultDatabaseName: 'money',
      iamAuthentication: true,
    });
    const ledger = LedgerDatabase.fromCluster(stack, 'Ledger', cluster as rds.IDatabaseCluster);
    expect(ledger.databaseName).toBe('money');
    expect(ledger.ownerSecret).toBe(cluster.secret);
  });

  it('takes the secret that a cluster is imported with', () => {
    const stack = stackHere();
    const secret = ownerOf(stack);
    const ledger = LedgerDatabase.fromCluster(stack, 'Ledger', importedCluster(stack, { secret }));
    expect(ledger.ownerSecret).toBe(secret);
  });

  it.each<[string, (stack: Stack) => ILedgerDatabase, string]>([
    [
      'no owner secret',
      (stack) => LedgerDatabase.fromCluster(stack, 'Ledger', importedCluster(stack)),
      'ownerSecret is not given; allowed: a secret with the fields username and password. Migrations log in',
    ],
    [
      'another engine',
      (stack) => {
        const engine = rds.DatabaseClusterEngine.auroraMysql({ version: rds.AuroraMysqlEngineVersion.VER_3_08_0 });
        return LedgerDatabase.fromCluster(stack, 'Ledger', importedCluster(stack, { engine }));
      },
      'engine is aurora-mysql; allowed: aurora-postgresql. The ledger keeps its promise by Aurora PostgreSQL’s own means.',
    ],
    [
      'a cluster of this app without IAM authentication',
      (stack) =>
        LedgerDatabase.fromCluster(
          stack,
          'Ledger',
          new rds.DatabaseCluster(stack, 'Db', {
            engine: aurora,
            vpc: vpcOf(stack),
            writer: rds.ClusterInstance.serverlessV2('Writer'),
          }) as rds.IDatabaseCluster,
        ),
      'iamAuthentication is off; allowed: on. Workers log in by IAM, without a password. Set it to true.',
    ],
  ])('refuses %s', (_, make, message) => {
    expect(() => make(stackHere())).toThrow(`[Billing/Ledger] ${message}`);
  });

  it('waits for a lookup', () => {
    const stack = stackHere();
    const cluster = rds.DatabaseCluster.fromLookup(stack, 'Db', { clusterIdentifier: 'ledger' });
    expect(() => LedgerDatabase.fromCluster(stack, 'Ledger', cluster, { ownerSecret: ownerOf(stack) })).not.toThrow();
  });
});

describe('LedgerDatabase.fromSecret', () => {
  const readOf = (arn: unknown) => ({ Action: 'secretsmanager:GetSecretValue', Effect: 'Allow', Resource: arn });

  it('is reached and logged in to by the secret alone', () => {
    const stack = stackHere();
    const secret = ownerOf(stack);
    const ledger = LedgerDatabase.fromSecret(stack, 'Ledger', {
      secret,
      securityGroup: groupOf(stack),
      host: 'pg.example.test',
      port: 5433,
      databaseName: 'money',
    });
    expect(ledger.workerLogin).toEqual({
      environment: { DATABASE_AUTH: 'password', DATABASE_SECRET_ARN: SECRET_ARN },
      migrateArguments: [],
    });
    expect(ledger.endpoint.socketAddress).toBe('pg.example.test:5433');
    expect(ledger.databaseName).toBe('money');
    expect(ledger.ownerSecret).toBe(secret);
    expect([ledger.instance, ledger.cluster]).toEqual([undefined, undefined]);
    const { statements, rules } = usedBy(stack, ledger);
    expect(statements).toEqual([readOf(SECRET_ARN)]);
    expect(rules).toEqual([ruleInto(5433)]);
  });

  it('takes from the secret, at deploy, where the server is', () => {
    const stack = stackHere();
    const secret = ownerOf(stack);
    const ledger = LedgerDatabase.fromSecret(stack, 'Ledger', { secret, securityGroup: groupOf(stack) });
    const field = (name: string) => `{{resolve:secretsmanager:${SECRET_ARN}:SecretString:${name}::}}`;
    expect(stack.resolve(ledger.endpoint.hostname)).toBe(field('host'));
    expect(stack.resolve(Tokenization.stringifyNumber(ledger.endpoint.port))).toBe(field('port'));
    expect(stack.resolve(ledger.databaseName)).toBe(field('dbname'));
    expect(usedBy(stack, ledger).rules).toEqual([ruleInto(field('port'))]);
  });

  it('reads a secret that is known by name: its ARN ends in six characters that nobody knows', () => {
    const stack = stackHere();
    const secret = secrets.Secret.fromSecretNameV2(stack, 'Owner', 'ledger/owner');
    const ledger = LedgerDatabase.fromSecret(stack, 'Ledger', { secret, securityGroup: groupOf(stack) });
    const [statement] = usedBy(stack, ledger).statements as [{ Resource: unknown }];
    expect(JSON.stringify(statement.Resource)).toContain(':secret:ledger/owner-??????"');
  });

  it('grants the secret’s key, imported or made here, without naming the reader in its policy', () => {
    const used = (keyOf: (stack: Stack) => kms.IKey) => {
      const stack = stackHere();
      const secret = secrets.Secret.fromSecretAttributes(stack, 'Owner', {
        secretCompleteArn: SECRET_ARN,
        encryptionKey: keyOf(stack),
      });
      const ledger = LedgerDatabase.fromSecret(stack, 'Ledger', { secret, securityGroup: groupOf(stack) });
      return { stack, ...usedBy(stack, ledger) };
    };
    const decrypt = (arn: unknown) => ({ Action: 'kms:Decrypt', Effect: 'Allow', Resource: arn });
    const imported = 'arn:aws:kms:eu-west-1:111111111111:key/1';
    const byArn = used((stack) => kms.Key.fromKeyArn(stack, 'Key', imported));
    expect(byArn.statements).toEqual([readOf(SECRET_ARN), decrypt(imported)]);

    const made = used((stack) => new kms.Key(stack, 'Key') as kms.IKey);
    expect(made.statements).toEqual([
      readOf(SECRET_ARN),
      decrypt({ 'Fn::GetAtt': [expect.stringMatching(/^Key/), 'Arn'] }),
    ]);
    expect(JSON.stringify(only(made.stack, 'AWS::KMS::Key').Properties.KeyPolicy)).not.toContain('Worker');
  });

  it('of another stack, with a key of its own, is no cycle, as it is for the CDK alone', () => {
    const used = (read: (secret: secrets.ISecret, data: Stack, role: iam.IRole) => void) => {
      const data = newStack('Data');
      const compute = new Stack(data.node.root, 'Compute');
      const secret = new secrets.Secret(data, 'Owner', { encryptionKey: new kms.Key(data, 'Key') });
      const assumedBy = new iam.ServicePrincipal('ecs-tasks.amazonaws.com');
      read(secret as secrets.ISecret, data, new iam.Role(compute, 'Role', { assumedBy }));
      return statements(compute, 'Role');
    };
    expect(() => used((secret, _, role) => secret.grantRead(role))).toThrow(/cyclic/i);

    const granted = used((secret, data, role) => {
      const ledger = LedgerDatabase.fromSecret(data, 'Ledger', { secret, securityGroup: groupOf(data) });
      ledger.grantConnect(role);
      ledger.ownerSecret.grantRead(role);
    });
    expect(JSON.stringify(granted)).toContain('kms:Decrypt');
  });
});
