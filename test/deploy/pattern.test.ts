/** The smallest real stack, deployed by the command line of the CDK: read back, deployed again, updated, rolled back, destroyed. */
import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DescribeNatGatewaysCommand } from '@aws-sdk/client-ec2';
import {
  GetRecordsCommand,
  GetShardIteratorCommand,
  PutRecordCommand,
  type PutRecordCommandOutput,
} from '@aws-sdk/client-kinesis';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { type App, Stack } from 'aws-cdk-lib';
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { CfnSecurityGroupIngress } from 'aws-cdk-lib/aws-ec2';
import { CfnService } from 'aws-cdk-lib/aws-ecs';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { billingApp } from '../../stacks/aws/app';
import { assemble, type Deployment, startDeployment } from './deployment';
import { added, inventory } from './inventory';
import type { DeployedStack } from './read-back/deployed-stack';
import { misfits } from './read-back/expect-deployed';

/** What people change from day to day: none of it may touch what is kept. */
const UPDATED = { desiredCount: 3, threshold: 7, retentionInDays: 30 };

function updatedApp(outdir: string): App {
  const app = billingApp(outdir);
  for (const each of app.node.findAll()) {
    if (each instanceof CfnService) each.desiredCount = UPDATED.desiredCount;
    if (each instanceof CfnAlarm) each.threshold = UPDATED.threshold;
    if (each instanceof CfnLogGroup) each.retentionInDays = UPDATED.retentionInDays;
  }
  return app;
}

/** A change that fails halfway: after the service got its new count, a rule names a group that is not there. */
function brokenApp(outdir: string): App {
  const app = updatedApp(outdir);
  const all = app.node.findAll();
  const service = all.find((each) => each instanceof CfnService)!;
  service.desiredCount = 9;
  const rule = new CfnSecurityGroupIngress(Stack.of(service), 'Broken', {
    groupId: 'sg-0',
    ipProtocol: '-1',
    cidrIp: '10.0.0.0/8',
  });
  rule.addDependency(service);
  return app;
}

interface Widget {
  readonly properties: { readonly metrics?: readonly (readonly unknown[])[] };
}

/** Name and value in turn, as a dashboard lists dimensions. */
function pairs(words: readonly unknown[]): [unknown, unknown][] {
  return words.flatMap((word, index): [unknown, unknown][] => (index % 2 === 0 ? [[word, words[index + 1]]] : []));
}

const KEPT = ['AWS::Kinesis::Stream', 'AWS::DynamoDB::GlobalTable', 'AWS::RDS::DBInstance', 'AWS::Logs::LogGroup'];

describe('the pattern', () => {
  const assembly = assemble(billingApp);
  const updated = assemble(updatedApp);
  const broken = assemble(brokenApp);
  let deployment: Deployment;
  let before: Set<string>;
  let stack: DeployedStack;
  let outputs: Readonly<Record<string, string>>;
  let record: PutRecordCommandOutput;
  const one = (type: string) => stack.physicalIds[stack.ofType(type)[0]!]!;
  const lease = () => ({ TableName: one('AWS::DynamoDB::GlobalTable'), Key: { leaseKey: { S: 'shard' } } });
  const ids = () => KEPT.flatMap((type) => stack.ofType(type).map((id) => [id, stack.physicalIds[id]]));

  beforeAll(async () => {
    deployment = await startDeployment();
    before = await inventory(deployment.clients);
    outputs = (await deployment.deploy(assembly)).outputs.Billing!;
    stack = await deployment.stack('Billing');
  }, 180_000);

  afterAll(async () => {
    await deployment?.close();
    for (const each of [assembly, updated, broken]) each.remove();
  });

  describe('is deployed', () => {
    it.each(assembly.types)('%s: each one is what the template says', async (type) => {
      expect(await misfits([stack], type)).toEqual([]);
    });

    it('and lets in nobody else: security groups have no rule but those of the template', async () => {
      const rules = await Promise.all(
        stack.ofType('AWS::EC2::SecurityGroup').map(async (id) => {
          const { properties } = await stack.read(id);
          return (properties.SecurityGroupIngress as readonly unknown[]).length;
        }),
      );
      expect(rules.reduce((sum, each) => sum + each)).toBe(stack.ofType('AWS::EC2::SecurityGroupIngress').length);
    });

    it('with a dashboard that can be drawn, on metrics of what is deployed', async () => {
      const { properties } = await stack.read(stack.ofType('AWS::CloudWatch::Dashboard')[0]!);
      const { widgets } = JSON.parse(String(properties.DashboardBody)) as { widgets: Widget[] };
      const shown = widgets.flatMap((widget) => widget.properties.metrics ?? []);
      const dimensions = shown.flatMap(([, , ...rest]) => pairs(rest.filter((each) => typeof each === 'string')));
      expect(dimensions.length).toBeGreaterThan(10);
      expect(dimensions).toContainEqual(['StreamName', one('AWS::Kinesis::Stream')]);
      expect(dimensions).toContainEqual(['TableName', one('AWS::DynamoDB::GlobalTable')]);
      expect(dimensions).toContainEqual(['DBInstanceIdentifier', one('AWS::RDS::DBInstance')]);
    });

    it('with a secret of the owner that RDS made', async () => {
      const [id] = stack.ofType('AWS::RDS::DBInstance');
      const { attributes } = await stack.read(id!);
      const SecretId = attributes?.['MasterUserSecret.SecretArn'];
      const { SecretString } = await deployment.clients.secrets.send(new GetSecretValueCommand({ SecretId }));
      expect(JSON.parse(SecretString!)).toEqual({ username: 'chargeonce_owner', password: expect.any(String) });
    });

    it('with its outputs: the command for people on call, and the address that requests come from', async () => {
      const command = new DescribeNatGatewaysCommand({ NatGatewayIds: [one('AWS::EC2::NatGateway')] });
      const { NatGateways } = await deployment.clients.ec2.send(command);
      const address = NatGateways![0]!.NatGatewayAddresses![0]!.PublicIp;
      const value = (suffix: RegExp) => Object.entries(outputs).find(([name]) => suffix.test(name))?.[1];
      expect(value(/EgressIps/)).toBe(address);
      for (const type of ['AWS::ECS::Cluster', 'AWS::Logs::LogGroup']) {
        expect(value(/OpsCommand/)).toContain(stack.physicalIds[stack.ofType(type).at(-1)!]);
      }
      expect(outputs).toEqual(stack.outputs);
    });
  });

  describe('is deployed again', () => {
    it('and nothing changes', async () => {
      const { said } = await deployment.deploy(assembly);
      expect(said).toContain('Billing (no changes)');
    });
  });

  describe('is updated: tasks, thresholds, how long logs are kept', () => {
    beforeAll(async () => {
      const { kinesis, dynamodb } = deployment.clients;
      const Data = Buffer.from('kept');
      record = await kinesis.send(new PutRecordCommand({ StreamName: one(KEPT[0]!), PartitionKey: 'a', Data }));
      await dynamodb.send(new PutItemCommand({ TableName: lease().TableName, Item: { leaseKey: { S: 'shard' } } }));
    });

    it('and what keeps data stays the same', async () => {
      const old = ids();
      expect(old.length).toBeGreaterThanOrEqual(KEPT.length);
      expect((await deployment.deploy(updated)).said).toContain('✅  Billing');
      stack = await deployment.stack('Billing');
      expect(ids()).toEqual(old);
    });

    it('and the changes are there', async () => {
      for (const type of updated.types) expect(await misfits([stack], type)).toEqual([]);
      const [service] = stack.ofType('AWS::ECS::Service');
      expect((await stack.read(service!)).properties.DesiredCount).toBe(UPDATED.desiredCount);
    });

    it('and records and leases are still there', async () => {
      const { kinesis, dynamodb } = deployment.clients;
      const from = { StreamName: one(KEPT[0]!), ShardId: record.ShardId };
      const { ShardIterator } = await kinesis.send(
        new GetShardIteratorCommand({ ...from, ShardIteratorType: 'TRIM_HORIZON' }),
      );
      const { Records } = await kinesis.send(new GetRecordsCommand({ ShardIterator }));
      expect(Records?.map((each) => Buffer.from(each.Data!).toString())).toEqual(['kept']);
      expect((await dynamodb.send(new GetItemCommand(lease()))).Item).toBeDefined();
    });
  });

  describe('is updated with a change that fails', () => {
    it('and is rolled back to what it was, with all that keeps data', async () => {
      const old = ids();
      await expect(deployment.deploy(broken)).rejects.toThrow(/Security group sg-0 not found/);
      const { Stacks } = await deployment.clients.cloudFormation.send(new DescribeStacksCommand({}));
      expect(Stacks!.find(({ StackName }) => StackName === 'Billing')!.StackStatus).toBe('UPDATE_ROLLBACK_COMPLETE');
      stack = await deployment.stack('Billing');
      expect(ids()).toEqual(old);
      for (const type of updated.types) expect(await misfits([stack], type)).toEqual([]);
      const [service] = stack.ofType('AWS::ECS::Service');
      expect((await stack.read(service!)).properties.DesiredCount).toBe(UPDATED.desiredCount);
    });
  });

  describe('is destroyed', () => {
    it('and leaves what keeps data, with what that stands on, and nothing else', async () => {
      await deployment.cdk.destroy(assembly.folder);
      expect(added(before, await inventory(deployment.clients))).toEqual({
        ...{ stream: 1, table: 1, database: 1, secret: 1, 'log group': 2 },
        ...{ 'database subnet group': 1, 'database parameter group': 1, role: 1 },
        // Of the groups and route tables, one each is what every VPC has by itself.
        ...{ vpc: 1, subnet: 2, 'security group': 2, 'route table': 1 },
      });
    });
  });
});
