/**
 * A monitoring library made ids, alarm names and widgets out of the name of the stream. A name that is known only at
 * deploy (a parameter, an attribute of another stack, part of an ARN) is a token, and the synthesis failed.
 */
import { CfnParameter, Fn, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import { BillingStream, LeaseTable, LedgerDatabase } from '../../constructs/aws';
import { type Monitored, type MonitoredOptions, monitored } from '../aws/monitored';
import { newStack, only } from '../aws/stack';
import { alarmsOf } from '../support/alarms';

const parameter = (stack: Stack, id: string) => new CfnParameter(stack, id).valueAsString;

/** Every name is one that only the deploy knows; streams, tables and so on made here. */
const named: MonitoredOptions['parts'] = (given, stack) => ({
  ...given,
  stream: new BillingStream(stack, 'Named', { streamName: parameter(stack, 'StreamName') }),
  leaseTable: new LeaseTable(stack, 'NamedTable', { tableName: parameter(stack, 'TableName') }),
});

/** The same for parts that are imported by tokens. */
const imported: MonitoredOptions['parts'] = ({ vpc, ...given }, stack) => {
  const arn = (service: string, resource: string, id: string) =>
    stack.formatArn({ service, resource, resourceName: parameter(stack, id) });
  const clusterName = parameter(stack, 'ClusterName');
  return {
    ...given,
    cluster: ecs.Cluster.fromClusterAttributes(stack, 'Shared', { clusterName, vpc: vpc as ec2.IVpc }),
    stream: BillingStream.fromStream(
      stack,
      'S',
      kinesis.Stream.fromStreamArn(stack, 'Events', arn('kinesis', 'stream', 'StreamName')),
    ),
    leaseTable: LeaseTable.fromTable(
      stack,
      'T',
      dynamodb.TableV2.fromTableArn(stack, 'Table', arn('dynamodb', 'table', 'TableName')),
    ),
    ledger: LedgerDatabase.fromInstance(stack, 'L', databaseIn(stack), {
      ownerSecret: secrets.Secret.fromSecretNameV2(stack, 'Owner', 'ledger/owner'),
    }),
  };
};

const databaseIn = (stack: Stack) =>
  rds.DatabaseInstance.fromDatabaseInstanceAttributes(stack, 'Database', {
    instanceIdentifier: parameter(stack, 'DatabaseName'),
    instanceEndpointAddress: Fn.importValue('database-address'),
    port: 5432,
    instanceResourceId: 'db-ABCDEFGHIJKLMNOPQRSTUVWXYZ',
    securityGroups: [ec2.SecurityGroup.fromSecurityGroupId(stack, 'DatabaseGroup', 'sg-1')],
  });

/** The dashboard as CloudWatch gets it, every token replaced by a name. */
function dashboardOf({ stack }: Monitored): { widgets: { type: string; properties: Record<string, unknown> }[] } {
  const { DashboardBody } = only(stack, 'AWS::CloudWatch::Dashboard').Properties;
  const parts = DashboardBody['Fn::Join'][1] as unknown[];
  return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'a-name')).join(''));
}

describe('names that only the deploy knows', () => {
  it.each([
    ['of parts that are made here', named, 29],
    ['of parts that are imported', imported, 28],
  ])('%s: every alarm is there, and the dashboard is JSON', (_, parts, count) => {
    const made = monitored({ parts });
    expect(alarmsOf(made.stack)).toHaveLength(count);
    expect(dashboardOf(made).widgets.length).toBeGreaterThan(15);
  });

  it('reach the alarms', () => {
    const dimensions = JSON.stringify(alarmsOf(monitored({ parts: imported }).stack).map((alarm) => alarm.dimensions));
    for (const name of ['StreamName', 'TableName', 'ClusterName', 'DatabaseName']) {
      expect(dimensions).toMatch(new RegExp(`"${name}":|"Ref":"${name}"`));
      expect(dimensions).toContain(`{"Ref":"${name}"}`);
    }
  });

  it('twin: an id made of such a name fails the synthesis', () => {
    const stack = newStack();
    const stream = new BillingStream(stack, 'Named', { streamName: parameter(stack, 'StreamName') });
    new cloudwatch.Alarm(stack, `${stream.stream.streamName}-lag`, {
      metric: stream.metricIteratorAge(),
      threshold: 1,
      evaluationPeriods: 1,
    });
    expect(() => Template.fromStack(stack)).toThrow(/tokens/i);
  });
});
