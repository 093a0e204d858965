/**
 * A construct library shipped alarms on AWS/Kinesis without a stream's name. CloudWatch keeps those metrics for each
 * stream, so the alarms matched nothing: they showed INSUFFICIENT_DATA for ever and never fired, and the library's own
 * tests counted two alarms and were content.
 */
import { type App, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { describe, expect, it } from 'vitest';
import { BillingMonitoring, BillingStream, LeaseTable, LedgerDatabase } from '../../constructs/aws';
import { databaseIn, ownerIn } from '../aws/imported-database';
import { monitored } from '../aws/monitored';
import { SHAPES, type Shape } from '../aws/shapes';
import { consumerStack } from '../aws/stack';
import { FLAGS, synthesize } from '../aws/synthesis';
import { alarmFaults, type Templates } from '../support/alarm-faults';

/** Values that no template can refer to. */
const CONSTANTS = ['UpdateItem', 'LeaseOwnerToLeaseKeyIndex'];
const ENVIRONMENTS = [undefined, { account: '123456789012', region: 'cn-north-1' }];

const templatesOf = (...stacks: readonly Stack[]): Templates => {
  const assembly = Stack.of(stacks[0]!).node.root as unknown as {
    synth(): { stacks: { stackName: string; template: unknown }[] };
  };
  return Object.fromEntries(
    assembly.synth().stacks.map(({ stackName, template }) => [stackName, template]),
  ) as Templates;
};

/** The value of the workers' one dimension, as their container is told. */
function servicesOf(templates: Templates): string[] {
  return [...JSON.stringify(templates).matchAll(/"Name":"METRICS_SERVICE","Value":"([^"]+)"/g)].map(
    ([, name]) => name ?? '',
  );
}

const faultsIn = (templates: Templates, ...given: readonly string[]) =>
  alarmFaults(templates, [...CONSTANTS, ...servicesOf(templates), ...given]);

describe('every alarm watches something that exists, and says what silence means', () => {
  for (const [flags, context] of Object.entries(FLAGS)) {
    for (const env of ENVIRONMENTS) {
      it.each(Object.entries(SHAPES) as [string, Shape][])(
        `${flags}, ${env?.region ?? 'no environment'}: %s`,
        (_, shape) => {
          const { templates } = synthesize(shape, { context, ...(env && { env }) });
          expect(JSON.stringify(templates)).toContain('AWS::CloudWatch::Alarm');
          expect(faultsIn(templates, 'shared')).toEqual([]);
        },
      );
    }
  }

  it('also when every part is imported', () => {
    const { stack } = monitored({
      parts: (given, scope) => ({
        ...given,
        stream: BillingStream.fromStream(
          scope,
          'S',
          kinesis.Stream.fromStreamArn(scope, 'Events', arn('kinesis', 'stream/events')),
        ),
        leaseTable: LeaseTable.fromTable(
          scope,
          'T',
          dynamodb.TableV2.fromTableArn(scope, 'Table', arn('dynamodb', 'table/leases')),
        ),
        ledger: LedgerDatabase.fromInstance(scope, 'L', databaseIn(scope), { ownerSecret: ownerIn(scope) }),
      }),
    });
    const templates = templatesOf(stack);
    expect(faultsIn(templates, 'events', 'leases', 'billing')).toEqual([]);
    expect(faultsIn(templates, 'leases', 'billing')).toHaveLength(5);
    expect(faultsIn(templates, 'events', 'billing')).toHaveLength(4);
    expect(faultsIn(templates, 'events', 'leases')).toHaveLength(4);
  });

  it('also in another stack than the consumer’s', () => {
    let parts = {};
    const { consumer } = consumerStack((props) => {
      parts = { stream: props.stream, leaseTable: props.leaseTable, ledger: props.ledger };
      return props;
    });
    const other = new Stack(consumer.node.root as App, 'Watching');
    new BillingMonitoring(other, 'Monitoring', { consumer, ...parts });
    const templates = templatesOf(other);
    expect(Object.values(templates.Watching!.Resources).some(({ Type }) => Type === 'AWS::CloudWatch::Alarm')).toBe(
      true,
    );
    expect(faultsIn(templates)).toEqual([]);
  });
});

describe('twin: the check sees', () => {
  const age = { namespace: 'AWS/Kinesis', metricName: 'GetRecords.IteratorAgeMilliseconds' };
  const quiet = { treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING };

  it.each<[string, cloudwatch.MetricProps, Partial<cloudwatch.CreateAlarmOptions>, string]>([
    ['an alarm without a dimension', age, quiet, 'GetRecords.IteratorAgeMilliseconds has no dimension'],
    [
      'one on a name that nothing has',
      { ...age, dimensionsMap: { StreamName: 'typo' } },
      quiet,
      'GetRecords.IteratorAgeMilliseconds: StreamName is "typo", which names nothing',
    ],
    [
      'one that does not say what no data means',
      { ...age, dimensionsMap: { Operation: 'UpdateItem' } },
      {},
      'does not say what no data means',
    ],
  ])('%s', (_, metric, options, fault) => {
    const { stack } = monitored();
    new cloudwatch.Metric(metric).createAlarm(stack, 'Planted', { threshold: 0, evaluationPeriods: 1, ...options });
    expect(faultsIn(templatesOf(stack))).toEqual([expect.stringMatching(/^Billing\/Planted/)]);
    expect(faultsIn(templatesOf(stack))[0]).toContain(fault);
  });
});

function arn(service: string, resource: string): string {
  return `arn:aws:${service}:eu-west-1:123456789012:${resource}`;
}
