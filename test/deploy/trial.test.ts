/** A stack that is only tried out (`RemovalPolicy.DESTROY`): readings catch what differs, and nothing is left of it. */
import { PutMetricAlarmCommand } from '@aws-sdk/client-cloudwatch';
import { UpdateContinuousBackupsCommand } from '@aws-sdk/client-dynamodb';
import { DeleteRouteCommand } from '@aws-sdk/client-ec2';
import { UpdateServiceCommand } from '@aws-sdk/client-ecs';
import { PutRolePolicyCommand } from '@aws-sdk/client-iam';
import { StopStreamEncryptionCommand } from '@aws-sdk/client-kinesis';
import { ModifyDBInstanceCommand } from '@aws-sdk/client-rds';
import {
  App,
  aws_ecs as ecs,
  aws_kinesis as kinesis,
  RemovalPolicy,
  Stack,
  aws_secretsmanager as secrets,
  Tags,
} from 'aws-cdk-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BillingStream, KinesisBilling, LeaseTable, Migrations, SpendCap } from '../../constructs/aws';
import { assemble, type Deployment, startDeployment } from './deployment';
import { added, inventory } from './inventory';
import type { DeployedStack } from './read-back/deployed-stack';
import { misfits } from './read-back/expect-deployed';

function trialApp(outdir: string): App {
  const app = new App({ analyticsReporting: false, outdir });
  const stack = new Stack(app, 'Trial');
  const removalPolicy = RemovalPolicy.DESTROY;
  new KinesisBilling(stack, 'Usage', {
    stripeKey: secrets.Secret.fromSecretNameV2(stack, 'StripeKey', 'billing/stripe-rk'),
    spendCap: SpendCap.off(),
    // Sized by hand, and migrated by hand: the other half of what the pattern can be.
    stream: new BillingStream(stack, 'Stream', {
      ...{ streamMode: kinesis.StreamMode.PROVISIONED, shardCount: 4, removalPolicy },
    }),
    leaseTable: new LeaseTable(stack, 'Leases', { maxShards: 200, deletionProtection: false, removalPolicy }),
    migrations: Migrations.MANUAL,
    image: ecs.ContainerImage.fromRegistry(`registry.test/chargeonce@sha256:${'0'.repeat(64)}`),
    removalPolicy,
  });
  Tags.of(app).add('team', 'billing');
  return app;
}

/** What somebody does by hand, past CloudFormation; each one must be found by reading back. */
const TAMPERED: readonly {
  readonly what: string;
  /** What the reading says then. */
  readonly finds: RegExp;
  readonly type: string;
  readonly act: (clients: Deployment['clients'], id: string, stack: DeployedStack) => Promise<unknown>;
}[] = [
  {
    what: 'encryption of the stream is stopped',
    finds: /StreamEncryption\.EncryptionType is "NONE"/,
    type: 'AWS::Kinesis::Stream',
    act: ({ kinesis }, StreamName) =>
      kinesis.send(new StopStreamEncryptionCommand({ StreamName, EncryptionType: 'NONE', KeyId: 'alias/aws/kinesis' })),
  },
  {
    what: 'the lease table can no longer be restored',
    finds: /PointInTimeRecoveryEnabled is false/,
    type: 'AWS::DynamoDB::GlobalTable',
    act: ({ dynamodb }, TableName) =>
      dynamodb.send(
        new UpdateContinuousBackupsCommand({
          TableName,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
        }),
      ),
  },
  {
    what: 'the database is reachable from the internet',
    finds: /PubliclyAccessible is true/,
    type: 'AWS::RDS::DBInstance',
    act: ({ rds }, DBInstanceIdentifier) =>
      rds.send(new ModifyDBInstanceCommand({ DBInstanceIdentifier, PubliclyAccessible: true, ApplyImmediately: true })),
  },
  {
    what: 'a role may do everything',
    finds: /Statement\[0\]\.Action is "\*"/,
    type: 'AWS::IAM::Policy',
    act: async ({ iam }, _, stack) => {
      const { properties } = await stack.resource(stack.ofType('AWS::IAM::Policy')[0]!);
      const Statement = [{ Effect: 'Allow', Action: '*', Resource: '*' }];
      const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
      const [RoleName] = properties.Roles as readonly string[];
      await iam.send(new PutRolePolicyCommand({ RoleName, PolicyName: String(properties.PolicyName), PolicyDocument }));
    },
  },
  {
    what: 'the service runs no task',
    finds: /DesiredCount is 0/,
    type: 'AWS::ECS::Service',
    act: async ({ ecs: client }, service, stack) => {
      const { properties } = await stack.resource(stack.ofType('AWS::ECS::Service')[0]!);
      await client.send(new UpdateServiceCommand({ cluster: String(properties.Cluster), service, desiredCount: 0 }));
    },
  },
  {
    what: 'an alarm looks at a metric without its dimensions',
    finds: /Dimensions is \[\]/,
    type: 'AWS::CloudWatch::Alarm',
    act: async ({ cloudWatch }, AlarmName, stack) => {
      const { properties } = await stack.read(stack.ofType('AWS::CloudWatch::Alarm')[0]!);
      const { Tags: _tags, Dimensions: _dimensions, ...rest } = properties;
      await cloudWatch.send(new PutMetricAlarmCommand({ ...(rest as object), AlarmName } as never));
    },
  },
  {
    what: 'the way out of a private subnet is gone',
    finds: /0 of 0\.0\.0\.0.0, not one/,
    type: 'AWS::EC2::Route',
    act: async ({ ec2 }, _, stack) => {
      const { properties } = await stack.resource(stack.ofType('AWS::EC2::Route')[0]!);
      const { RouteTableId, DestinationCidrBlock } = properties;
      await ec2.send(
        new DeleteRouteCommand({
          RouteTableId: String(RouteTableId),
          DestinationCidrBlock: String(DestinationCidrBlock),
        }),
      );
    },
  },
];

describe('a stack that is tried out', () => {
  const assembly = assemble(trialApp);
  let deployment: Deployment;
  let before: Set<string>;

  beforeAll(async () => {
    deployment = await startDeployment();
    before = await inventory(deployment.clients);
    await deployment.deploy(assembly);
  }, 180_000);

  afterAll(async () => {
    await deployment?.close();
    assembly.remove();
  });

  it.each(assembly.types)('%s: each one is what the template says', async (type) => {
    expect(await misfits([await deployment.stack('Trial')], type)).toEqual([]);
  });

  it.each(TAMPERED)('is read as different when $what', async ({ type, act, finds }) => {
    const stack = await deployment.stack('Trial');
    await act(deployment.clients, stack.physicalIds[stack.ofType(type)[0]!]!, stack);
    const found = await misfits([await deployment.stack('Trial')], type).catch((error: Error) => [error.message]);
    expect(found.join('\n')).toMatch(finds);
  });

  it('is destroyed, and nothing is left', async () => {
    await deployment.cdk.destroy(assembly.folder);
    expect(added(before, await inventory(deployment.clients))).toEqual({});
  });
});
