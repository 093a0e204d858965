import type { Stack } from 'aws-cdk-lib';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import * as actions from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as sns from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import type { AlarmName } from '../../constructs/aws';
import { ALARM_NAMES, ALARM_TEXTS } from '../../constructs/shared/alarm-texts';
import { type Alarm, alarmsOf } from '../support/alarms';
import { alarmOf, idOf, monitored, namesOf } from './monitored';
import { att, container, newStack, only, ref, resources } from './stack';

/** `metric > threshold, periods x seconds, statistic, missing`. */
function inShort({ metric, comparison, threshold, periods, periodSeconds, statistic, missing }: Alarm): string {
  const sign = comparison === 'GreaterThanThreshold' ? '>' : '<';
  return `${metric} ${sign} ${threshold}, ${periods}x${periodSeconds}, ${statistic}, ${missing}`;
}

describe('every alarm, by default', () => {
  const { stack, consumer } = monitored();
  const stream = { StreamName: ref('Stream') };
  const table = { TableName: ref('Leases') };
  const service = { ClusterName: ref('ConsumerCluster'), ServiceName: att('ConsumerService', 'Name') };
  const ledger = { DBInstanceIdentifier: ref('Ledger') };
  const own = { Service: consumer.metricsService };
  const index = { ...table, GlobalSecondaryIndexName: 'LeaseOwnerToLeaseKeyIndex' };

  it.each<[AlarmName, string, string, object]>([
    ['lagWarning', 'AWS/Kinesis', 'GetRecords.IteratorAgeMilliseconds > 60000, 5x60, Maximum, breaching', stream],
    ['lagCritical', 'AWS/Kinesis', 'GetRecords.IteratorAgeMilliseconds > 151200000, 3x60, Maximum, breaching', stream],
    ['streamWriteThrottled', 'AWS/Kinesis', 'WriteProvisionedThroughputExceeded > 0, 3x60, Sum, notBreaching', stream],
    ['streamPutFailed', 'AWS/Kinesis', 'PutRecords.FailedRecords > 0, 3x60, Sum, notBreaching', stream],
    ['streamReadThrottled', 'AWS/Kinesis', 'ReadProvisionedThroughputExceeded > 0, 5x60, Sum, notBreaching', stream],
    ['leaseWritesThrottled', 'AWS/DynamoDB', 'WriteThrottleEvents > 0, 1x60, Sum, notBreaching', table],
    ['leaseReadsThrottled', 'AWS/DynamoDB', 'ReadThrottleEvents > 0, 1x60, Sum, notBreaching', table],
    ['leaseIndexThrottled', 'AWS/DynamoDB', 'WriteThrottleEvents > 0, 1x60, Sum, notBreaching', index],
    [
      'leaseTableErrors',
      'AWS/DynamoDB',
      'SystemErrors > 0, 3x60, Sum, notBreaching',
      { ...table, Operation: 'UpdateItem' },
    ],
    ['workersGone', 'chargeonce', 'Ready < 1, 5x60, Sum, breaching', own],
    ['leasesUnowned', 'chargeonce', 'LeasesUnowned > 0, 3x60, Maximum, ignore', own],
    ['checkpointStalled', 'chargeonce', 'CheckpointStall > 900000, 3x60, Maximum, ignore', own],
    ['unresolvedRows', 'chargeonce', 'UnresolvedRows > 0, 10x60, Maximum, ignore', own],
    ['stripeRefusesKey', 'chargeonce', 'Halted > 0, 2x60, Maximum, ignore', own],
    ['impossibleAnswers', 'chargeonce', 'Alarms > 0, 1x60, Sum, notBreaching', own],
    ['capBlocked', 'chargeonce', 'ChargesCapBlocked > 0, 1x60, Sum, notBreaching', own],
    ['ledgerUnavailable', 'chargeonce', 'LedgerFailures > 0, 5x60, Sum, notBreaching', own],
    ['leasesLost', 'chargeonce', 'LeasesLost > 0, 2x60, Sum, notBreaching', own],
    ['deadLetters', 'chargeonce', 'DeadLetters > 0, 1x300, Sum, notBreaching', own],
    ['conflicts', 'chargeonce', 'Conflicts > 0, 1x300, Sum, notBreaching', own],
    ['rejectedCharges', 'chargeonce', 'ChargesRejected > 0, 1x300, Sum, notBreaching', own],
    ['eventLoopSlow', 'chargeonce', 'EventLoopDelay > 2000, 3x60, Maximum, ignore', own],
    ['renewalsSlow', 'chargeonce', 'LeaseRenewalTime > 3333, 2x60, Maximum, ignore', own],
    ['memoryHigh', 'AWS/ECS', 'MemoryUtilization > 80, 5x60, Maximum, notBreaching', service],
    ['tasksMissing', 'ECS/ContainerInsights', 'RunningTaskCount < 2, 5x60, Minimum, breaching', service],
    ['ledgerStorageLow', 'AWS/RDS', 'FreeStorageSpace < 2147483648, 3x300, Minimum, ignore', ledger],
    ['ledgerCpuHigh', 'AWS/RDS', 'CPUUtilization > 80, 3x300, Average, ignore', ledger],
    ['ledgerConnectionsHigh', 'AWS/RDS', 'DatabaseConnections > 80, 3x300, Maximum, ignore', ledger],
    ['ledgerMemoryLow', 'AWS/RDS', 'FreeableMemory < 268435456, 3x300, Minimum, ignore', ledger],
  ])('%s', (name, namespace, short, dimensions) => {
    const found = alarmOf(stack, name);
    expect([found.namespace, inShort(found)]).toEqual([namespace, short]);
    expect(found.dimensions).toEqual(dimensions);
  });

  it('is in the table above, has a text, and is a member by its name', () => {
    expect(namesOf(stack).sort()).toEqual([...ALARM_NAMES].sort());
  });

  it('says what it means and what to do first, within what CloudWatch keeps', () => {
    for (const { description } of alarmsOf(stack)) {
      expect(description).toMatch(/^\[(page|warn)\] .+ \((above|below) .+\)\. .+ First: .+\.$/);
      expect(description.length).toBeLessThanOrEqual(1024);
      // CloudFormation writes question marks in place of other letters.
      expect(description).toMatch(/^[\x20-\x7e]*$/);
    }
    expect(alarmOf(stack, 'lagCritical').description).toContain('(above 42 h for 3 min, or no data)');
    expect(alarmOf(stack, 'ledgerStorageLow').description).toContain('(below 2 GiB for 15 min)');
  });

  it('takes silence for a fault only once the service runs', () => {
    const waiting = Object.entries(resources(stack, 'AWS::CloudWatch::Alarm')).filter(([, { DependsOn }]) => DependsOn);
    expect(waiting.map(([id]) => id.replace(/.{8}$/, '')).sort()).toEqual(
      ['lagCritical', 'lagWarning', 'workersGone'].map(idOf).sort(),
    );
    for (const [, { DependsOn }] of waiting) expect(DependsOn).toEqual([expect.stringMatching(/^ConsumerService/)]);
  });
});

/** The names of the alarms of which the rule of the composite speaks. */
function paging(stack: Stack): string[] {
  const { AlarmRule } = only(stack, 'AWS::CloudWatch::CompositeAlarm').Properties;
  const ids = JSON.stringify(AlarmRule).matchAll(/"(Monitoring[A-Za-z0-9]+)","Arn"/g);
  return [...ids].map(([, id]) => ALARM_NAMES.find((name) => id?.startsWith(idOf(name))) ?? String(id)).sort();
}

const PAGES = ALARM_NAMES.filter((name) => ALARM_TEXTS[name].severity === 'page').sort();

describe('the composite alarm', () => {
  it('is raised by every alarm of severity page, and by no other', () => {
    expect(paging(monitored().stack)).toEqual(PAGES);
    const { AlarmRule } = only(monitored().stack, 'AWS::CloudWatch::CompositeAlarm').Properties;
    const rule = (AlarmRule['Fn::Join'][1] as unknown[])
      .map((part) => (typeof part === 'string' ? part : 'ARN'))
      .join('');
    expect(rule).toBe(`(${PAGES.map(() => 'ALARM("ARN")').join(' OR ')})`);
  });

  it('stays a rule when alarms are disabled, down to the last one', () => {
    const disable = PAGES.filter((name) => name !== 'workersGone');
    const { stack } = monitored({ props: { disable } });
    expect(paging(stack)).toEqual(['workersGone']);
    expect(JSON.stringify(only(stack, 'AWS::CloudWatch::CompositeAlarm').Properties.AlarmRule)).toContain('ALARM(');
  });

  it('is not made of nothing: all of them disabled is an error', () => {
    expect(() => monitored({ props: { disable: PAGES } })).toThrow(
      /disable is .*workersGone.*; allowed: any but all of lagCritical, .*Nothing would ever page anybody/,
    );
  });

  it('has a name of its own stack, so that two stacks of one app differ', () => {
    const nameIn = (stackName: string) =>
      only(monitored({ stack: newStack('Billing', { stackName }) }).stack, 'AWS::CloudWatch::CompositeAlarm').Properties
        .AlarmName;
    expect(nameIn('billing-prod')).toMatch(/^billingprod-Monitoring/);
    expect(nameIn('billing-dev')).not.toBe(nameIn('billing-prod'));
  });
});

describe('alarmActions', () => {
  const topicIn = (stack: Stack) => new sns.Topic(stack, 'Pager') as sns.ITopic;
  const pager = (stack: Stack) => ({ alarmActions: [new actions.SnsAction(topicIn(stack))] });
  const warning = Match.stringLikeRegexp('nobody is told when billing stands still');

  it('are told by the composite, of ALARM and of OK, and by nothing else', () => {
    const { stack } = monitored({ props: pager });
    const { AlarmActions, OKActions } = only(stack, 'AWS::CloudWatch::CompositeAlarm').Properties;
    expect([AlarmActions, OKActions]).toEqual([[ref('Pager')], [ref('Pager')]]);
    for (const { Properties } of Object.values(resources(stack, 'AWS::CloudWatch::Alarm'))) {
      expect(Properties.AlarmActions).toBeUndefined();
    }
    Annotations.fromStack(stack).hasNoWarning('*', warning);
  });

  it('without any: a warning, which addAlarmAction ends', () => {
    const silent = monitored();
    Annotations.fromStack(silent.stack).hasWarning('/Billing/Monitoring', warning);
    const told = monitored();
    told.monitoring.addAlarmAction(new actions.SnsAction(topicIn(told.stack)));
    Annotations.fromStack(told.stack).hasNoWarning('*', warning);
    expect(only(told.stack, 'AWS::CloudWatch::CompositeAlarm').Properties.OKActions).toEqual([ref('Pager')]);
  });
});

describe('disable', () => {
  it.each(ALARM_NAMES)('%s', (name) => {
    const { stack, monitoring } = monitored({ props: { disable: [name] } });
    expect(namesOf(stack).sort()).toEqual(ALARM_NAMES.filter((each) => each !== name).sort());
    expect(monitoring.alarms[name]).toBeUndefined();
    expect(JSON.stringify(resources(stack, 'AWS::CloudWatch::Dashboard'))).not.toContain(idOf(name));
  });

  it('refuses a name that it does not know, and names those that there are', () => {
    const disable = ['deadLetter', 'conflicts'] as unknown as AlarmName[];
    expect(() => monitored({ props: { disable } })).toThrow(
      /\[Billing\/Monitoring\] disable is deadLetter; allowed: lagWarning, .*deadLetters, .*would go on paging/,
    );
  });
});

describe('the runtime’s own alarms', () => {
  it('carry the one dimension whose value the worker of the same template is told', () => {
    const { stack } = monitored();
    const { METRICS_FORMAT, METRICS_SERVICE, METRICS_NAMESPACE } = container(stack, 'worker').environment;
    const own = alarmsOf(stack).filter(({ namespace }) => namespace === (METRICS_NAMESPACE ?? 'chargeonce'));
    expect(METRICS_FORMAT).toBe('emf');
    expect(own.length).toBe(14);
    for (const { dimensions } of own) expect(dimensions).toEqual({ Service: METRICS_SERVICE });
  });
});
