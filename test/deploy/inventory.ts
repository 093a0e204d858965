/** Everything that an account holds, as its services say: what a deploy brought, and what a destroy left. */
import { DescribeAlarmsCommand, ListDashboardsCommand } from '@aws-sdk/client-cloudwatch';
import { DescribeLogGroupsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import * as ec2 from '@aws-sdk/client-ec2';
import { ListClustersCommand, ListServicesCommand, ListTaskDefinitionsCommand } from '@aws-sdk/client-ecs';
import { ListRolesCommand } from '@aws-sdk/client-iam';
import { ListStreamsCommand } from '@aws-sdk/client-kinesis';
import {
  DescribeDBInstancesCommand,
  DescribeDBParameterGroupsCommand,
  DescribeDBSubnetGroupsCommand,
} from '@aws-sdk/client-rds';
import { ListSecretsCommand } from '@aws-sdk/client-secrets-manager';
import { ListTopicsCommand } from '@aws-sdk/client-sns';
import type { AwsClients } from './clients';

type Names = readonly (string | undefined)[] | undefined;

/** Asks one service for the names of all that it has of a kind. */
const KINDS: Readonly<Record<string, (aws: AwsClients) => Promise<Names>>> = {
  stream: async ({ kinesis }) => (await kinesis.send(new ListStreamsCommand({}))).StreamNames,
  table: async ({ dynamodb }) => (await dynamodb.send(new ListTablesCommand({}))).TableNames,
  database: async ({ rds }) =>
    (await rds.send(new DescribeDBInstancesCommand({}))).DBInstances?.map((each) => each.DBInstanceIdentifier),
  'database subnet group': async ({ rds }) =>
    (await rds.send(new DescribeDBSubnetGroupsCommand({}))).DBSubnetGroups?.map((each) => each.DBSubnetGroupName),
  'database parameter group': async ({ rds }) =>
    (await rds.send(new DescribeDBParameterGroupsCommand({}))).DBParameterGroups?.map(
      (each) => each.DBParameterGroupName,
    ),
  'log group': async ({ logs }) =>
    (await logs.send(new DescribeLogGroupsCommand({}))).logGroups?.map((each) => each.logGroupName),
  vpc: async (aws) => (await aws.ec2.send(new ec2.DescribeVpcsCommand({}))).Vpcs?.map((each) => each.VpcId),
  subnet: async (aws) => (await aws.ec2.send(new ec2.DescribeSubnetsCommand({}))).Subnets?.map((each) => each.SubnetId),
  'security group': async (aws) =>
    (await aws.ec2.send(new ec2.DescribeSecurityGroupsCommand({}))).SecurityGroups?.map((each) => each.GroupId),
  'route table': async (aws) =>
    (await aws.ec2.send(new ec2.DescribeRouteTablesCommand({}))).RouteTables?.map((each) => each.RouteTableId),
  'internet gateway': async (aws) =>
    (await aws.ec2.send(new ec2.DescribeInternetGatewaysCommand({}))).InternetGateways?.map(
      (each) => each.InternetGatewayId,
    ),
  'nat gateway': async (aws) =>
    (await aws.ec2.send(new ec2.DescribeNatGatewaysCommand({}))).NatGateways?.filter(
      (each) => each.State !== 'deleted',
    ).map((each) => each.NatGatewayId),
  address: async (aws) =>
    (await aws.ec2.send(new ec2.DescribeAddressesCommand({}))).Addresses?.map((each) => each.PublicIp),
  endpoint: async (aws) =>
    (await aws.ec2.send(new ec2.DescribeVpcEndpointsCommand({}))).VpcEndpoints?.map((each) => each.VpcEndpointId),
  'flow log': async (aws) =>
    (await aws.ec2.send(new ec2.DescribeFlowLogsCommand({}))).FlowLogs?.map((each) => each.FlowLogId),
  cluster: async ({ ecs }) => (await ecs.send(new ListClustersCommand({}))).clusterArns,
  service: async ({ ecs }) => {
    const { clusterArns = [] } = await ecs.send(new ListClustersCommand({}));
    const services = clusterArns.map((cluster) => ecs.send(new ListServicesCommand({ cluster })));
    return (await Promise.all(services)).flatMap((answer) => answer.serviceArns ?? []);
  },
  'task definition': async ({ ecs }) =>
    (await ecs.send(new ListTaskDefinitionsCommand({ status: 'ACTIVE' }))).taskDefinitionArns,
  role: async ({ iam }) => (await iam.send(new ListRolesCommand({}))).Roles?.map((each) => each.RoleName),
  alarm: async ({ cloudWatch }) => {
    const command = new DescribeAlarmsCommand({ AlarmTypes: ['MetricAlarm', 'CompositeAlarm'] });
    const { MetricAlarms = [], CompositeAlarms = [] } = await cloudWatch.send(command);
    return [...MetricAlarms, ...CompositeAlarms].map((each) => each.AlarmName);
  },
  dashboard: async ({ cloudWatch }) =>
    (await cloudWatch.send(new ListDashboardsCommand({}))).DashboardEntries?.map((each) => each.DashboardName),
  topic: async ({ sns }) => (await sns.send(new ListTopicsCommand({}))).Topics?.map((each) => each.TopicArn),
  secret: async ({ secrets }) => (await secrets.send(new ListSecretsCommand({}))).SecretList?.map((each) => each.Name),
};

/** Each thing as its kind and name. */
export async function inventory(aws: AwsClients): Promise<Set<string>> {
  const all = Object.entries(KINDS).map(async ([kind, names]) =>
    ((await names(aws)) ?? []).map((name) => `${kind} ${name}`),
  );
  return new Set((await Promise.all(all)).flat());
}

/** What there is now and was not before, by kind. */
export function added(before: ReadonlySet<string>, after: ReadonlySet<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const each of after) {
    if (before.has(each)) continue;
    const kind = each.slice(0, each.lastIndexOf(' '));
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
