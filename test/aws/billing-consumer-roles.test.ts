/** What each role may do: exactly this, on exactly these resources. */
import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import { type BillingConsumerProps, Migrations } from '../../constructs/aws';
import { att, consumerStack, container, newStack, ref, resources, statements } from './stack';

const withProps = (props: Partial<BillingConsumerProps>, stack = newStack()) =>
  consumerStack((given) => ({ ...given, ...props }), stack);

const arn = (service: string, rest: readonly unknown[]) => ({
  'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, `:${service}:`, REGION, ':', ACCOUNT, ...rest]],
});
const REGION = { Ref: 'AWS::Region' };
const ACCOUNT = { Ref: 'AWS::AccountId' };

const CONNECT = {
  Action: 'rds-db:connect',
  Effect: 'Allow',
  Resource: arn('rds-db', [':dbuser:', att('Ledger', 'DbiResourceId'), '/chargeonce_worker']),
};
const WRITE_LOGS = {
  Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
  Effect: 'Allow',
  Resource: att('ConsumerLogs', 'Arn'),
};
const read = (secret: unknown) => ({
  Action: ['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret'],
  Effect: 'Allow',
  Resource: secret,
});
const READ_STRIPE_KEY = read(arn('secretsmanager', [':secret:billing/stripe-rk-??????']));
const READ_OWNER = read(att('Ledger', 'MasterUserSecret.SecretArn'));

describe('the worker’s role', () => {
  it('reads the stream, keeps its leases and logs in to the ledger', () => {
    expect(statements(consumerStack().stack, 'ConsumerTaskTaskRole')).toEqual([
      {
        Action: [
          'kinesis:DescribeStreamSummary',
          'kinesis:GetRecords',
          'kinesis:GetShardIterator',
          'kinesis:ListShards',
        ],
        Effect: 'Allow',
        Resource: att('Stream', 'Arn'),
      },
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
        Resource: att('Leases', 'Arn'),
      },
      {
        Action: 'dynamodb:Query',
        Effect: 'Allow',
        Resource: { 'Fn::Join': ['', [att('Leases', 'Arn'), '/index/LeaseOwnerToLeaseKeyIndex']] },
      },
      CONNECT,
    ]);
  });

  it('is what a grant to the consumer speaks of', () => {
    const { stack, consumer } = consumerStack();
    new s3.Bucket(stack, 'Bucket').grantRead(consumer);
    expect(JSON.stringify(statements(stack, 'ConsumerTaskTaskRole'))).toContain('s3:GetObject*');
  });
});

describe('the execution roles', () => {
  it('of the service reads the two secrets and writes the logs', () => {
    expect(statements(consumerStack().stack, 'ConsumerTaskExecutionRole')).toEqual([
      WRITE_LOGS,
      READ_STRIPE_KEY,
      READ_OWNER,
    ]);
  });

  it('of the ops task never sees the owner’s secret', () => {
    expect(statements(consumerStack().stack, 'ConsumerOpsTaskExecutionRole')).toEqual([WRITE_LOGS, READ_STRIPE_KEY]);
  });

  it('are parted when you migrate: the owner’s secret for the migration, the key of Stripe for the others', () => {
    const { stack } = withProps({ migrations: Migrations.MANUAL });
    expect(statements(stack, 'ConsumerTaskExecutionRole')).toEqual([WRITE_LOGS, READ_STRIPE_KEY]);
    expect(statements(stack, 'ConsumerMigrateTaskExecutionRole')).toEqual([WRITE_LOGS, READ_OWNER]);
    expect(statements(stack, 'ConsumerMigrateTaskTaskRole')).toEqual([]);
  });

  it('may decrypt with the imported key of a secret, which the CDK does not grant, and with no other', () => {
    const stack = newStack();
    const keyArn = 'arn:aws:kms:eu-west-1:111122223333:key/1';
    const stripeKey = secrets.Secret.fromSecretAttributes(stack, 'Theirs', {
      secretCompleteArn: 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:theirs-abcdef',
      encryptionKey: kms.Key.fromKeyArn(stack, 'TheirKey', keyArn),
    });
    withProps({ stripeKey }, stack);
    const decrypt = {
      Action: 'kms:Decrypt',
      Effect: 'Allow',
      Resource: keyArn,
      Condition: { StringLike: { 'kms:ViaService': 'secretsmanager.*' } },
    };
    for (const role of ['ConsumerTaskExecutionRole', 'ConsumerOpsTaskExecutionRole']) {
      expect(statements(stack, role).filter((each) => JSON.stringify(each).includes('kms:'))).toEqual([decrypt]);
    }
    for (const role of ['ConsumerTaskTaskRole', 'ConsumerOpsTaskTaskRole']) {
      expect(JSON.stringify(statements(stack, role))).not.toContain('kms:');
    }
  });
});

describe('the ops role', () => {
  it('logs in to the ledger, and touches neither stream nor leases', () => {
    expect(statements(consumerStack().stack, 'ConsumerOpsTaskTaskRole')).toEqual([CONNECT]);
  });

  it('grantReplay: reads the objects of one bucket, and changes nothing', () => {
    const { stack, consumer } = consumerStack();
    const bucket = new s3.Bucket(stack, 'Archive', { encryptionKey: new kms.Key(stack, 'Key') }) as s3.IBucket;
    consumer.opsTask.grantReplay(bucket);
    expect(statements(stack, 'ConsumerOpsTaskTaskRole')).toEqual([
      CONNECT,
      { Action: 'kms:Decrypt', Effect: 'Allow', Resource: att('Key', 'Arn') },
      { Action: 's3:GetObject', Effect: 'Allow', Resource: { 'Fn::Join': ['', [att('Archive', 'Arn'), '/*']] } },
      { Action: 's3:ListBucket', Effect: 'Allow', Resource: att('Archive', 'Arn') },
    ]);
    expect(resources(stack, 'AWS::S3::BucketPolicy')).toEqual({});
  });
});

describe('grantRun', () => {
  const granted = (which: 'opsTask' | 'migrateTask') => {
    const { stack, consumer } = withProps({ migrations: Migrations.MANUAL });
    const person = new iam.Role(stack, 'Person', { assumedBy: new iam.AccountRootPrincipal() });
    consumer[which]!.grantRun(person);
    return { stack, statements: statements(stack, 'Person') };
  };

  it.each([
    ['opsTask', 'ops', 'ConsumerOpsTask'],
    ['migrateTask', 'migrate', 'ConsumerMigrateTask'],
  ] as const)('of %s: this task in this cluster under its two roles, and what it says', (which, name, roles) => {
    const { stack, statements: found } = granted(which);
    const { Family } = container(stack, name).task.Properties;
    const inCluster = { ArnEquals: { 'ecs:cluster': att('ConsumerCluster', 'Arn') } };
    expect(found).toEqual([
      {
        Action: 'ecs:RunTask',
        Effect: 'Allow',
        Resource: arn('ecs', [`:task-definition/${Family}:*`]),
        Condition: inCluster,
      },
      {
        Action: 'ecs:DescribeTasks',
        Effect: 'Allow',
        Resource: arn('ecs', [':task/', ref('ConsumerCluster'), '/*']),
        Condition: inCluster,
      },
      {
        Action: 'iam:PassRole',
        Effect: 'Allow',
        Resource: [att(`${roles}TaskRole`, 'Arn'), att(`${roles}ExecutionRole`, 'Arn')],
        Condition: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
      },
      {
        Action: ['logs:FilterLogEvents', 'logs:GetLogEvents'],
        Effect: 'Allow',
        Resource: att('ConsumerLogs', 'Arn'),
      },
    ]);
  });

  it('reaches somebody of another stack without making this one refer to theirs', () => {
    const { stack, consumer } = consumerStack();
    const people = new Stack(Stack.of(stack).node.root as Stack, 'People');
    const person = new iam.Role(people, 'Person', { assumedBy: new iam.AccountRootPrincipal() });
    consumer.opsTask.grantRun(person);
    expect(statements(people, 'Person')).toHaveLength(4);
    expect(stack.dependencies.map(({ stackName }) => stackName)).toEqual([]);
  });
});
