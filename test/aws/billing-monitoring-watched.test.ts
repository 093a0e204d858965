/** Which alarms there are depends on what is given: each part adds its own, with limits that follow from it. */
import { Duration, type Stack } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as rds from 'aws-cdk-lib/aws-rds';
import { describe, expect, it } from 'vitest';
import {
  BillingMonitoring,
  BillingStream,
  type ILedgerDatabase,
  LeaseTable,
  LedgerDatabase,
} from '../../constructs/aws';
import { alarmsOf } from '../support/alarms';
import { databaseIn, groupIn, ownerIn } from './imported-database';
import { alarmOf, idOf, type Monitored, type MonitoredOptions, monitored, namesOf } from './monitored';
import { consumerStack } from './stack';

describe('what is watched', () => {
  const only = (...given: readonly ('stream' | 'leaseTable' | 'ledger')[]) => {
    let parts = {};
    const { stack, consumer } = consumerStack((props) => {
      parts = Object.fromEntries(given.map((name) => [name, props[name]]));
      return props;
    });
    new BillingMonitoring(stack, 'Monitoring', { consumer, ...parts });
    return namesOf(stack);
  };

  it('is the consumer at least, and each part that is given', () => {
    const bare = only();
    expect(bare.filter((name) => /^(lag|stream|leaseWrites|leaseReads|leaseIndex|leaseTable)/.test(name))).toEqual([]);
    expect(bare.filter((name) => /^ledger/.test(name))).toEqual(['ledgerUnavailable']);
    const parts = [only('stream'), only('leaseTable'), only('ledger')].map((names) => names.length - bare.length);
    expect(parts).toEqual([5, 4, 4]);
  });

  it.each<[string, (stack: Stack) => ILedgerDatabase, readonly string[], object]>([
    [
      'an imported instance: all that RDS says of it',
      (stack) => LedgerDatabase.fromInstance(stack, 'Imported', databaseIn(stack), { ownerSecret: ownerIn(stack) }),
      ['ledgerStorageLow', 'ledgerCpuHigh', 'ledgerConnectionsHigh', 'ledgerMemoryLow'],
      { DBInstanceIdentifier: 'billing' },
    ],
    [
      'an imported cluster: all but its disk, which grows by itself',
      (stack) => LedgerDatabase.fromCluster(stack, 'Imported', clusterIn(stack), { ownerSecret: ownerIn(stack) }),
      ['ledgerCpuHigh', 'ledgerConnectionsHigh', 'ledgerMemoryLow'],
      { DBClusterIdentifier: 'billing' },
    ],
    [
      'one that is known by its secret: nothing, there is no name to ask CloudWatch for',
      (stack) =>
        LedgerDatabase.fromSecret(stack, 'Imported', { secret: ownerIn(stack), securityGroup: groupIn(stack) }),
      [],
      {},
    ],
  ])('of a ledger is, of %s', (_, ledgerIn, expected, dimensions) => {
    const { stack } = monitored({ parts: (given, scope) => ({ ...given, ledger: ledgerIn(scope) }) });
    const made = alarmsOf(stack).filter(({ namespace }) => namespace === 'AWS/RDS');
    expect(made.map(({ id }) => id.replace(/.{8}$/, ''))).toEqual(expected.map(idOf));
    for (const each of made) expect(each.dimensions).toEqual(dimensions);
  });

  it('tasksMissing needs Container Insights: of the own cluster, or of one that is said to have it', () => {
    const inCluster = (props: MonitoredOptions['props'] = {}) =>
      namesOf(
        monitored({
          parts: ({ vpc, ...given }, stack) => ({
            ...given,
            cluster: new ecs.Cluster(stack, 'Cluster', { vpc: vpc as ec2.IVpc }) as ecs.ICluster,
          }),
          props,
        }).stack,
      );
    expect(inCluster()).not.toContain('tasksMissing');
    expect(inCluster({ containerInsights: true })).toContain('tasksMissing');
    expect(namesOf(monitored({ props: { containerInsights: false } }).stack)).not.toContain('tasksMissing');
  });

  it('tasksMissing follows desiredCount, and connections follow the workers that can run at once', () => {
    const { stack } = monitored({ parts: (given) => ({ ...given, desiredCount: 20, stripeMaxRps: 100 }) });
    expect(alarmOf(stack, 'tasksMissing').threshold).toBe(20);
    expect(alarmOf(stack, 'ledgerConnectionsHigh').threshold).toBe(2 * 20 * 4 * 2);
  });

  it('limits of renewals and of the event loop follow the lease', () => {
    const { stack } = monitored({
      parts: (given, scope) => ({
        ...given,
        leaseTable: new LeaseTable(scope, 'Table', { leaseDuration: Duration.seconds(30) }),
      }),
    });
    expect(alarmOf(stack, 'renewalsSlow').threshold).toBe(10_000);
    expect(alarmOf(stack, 'eventLoopSlow').threshold).toBe(6_000);
  });
});

describe('lag', () => {
  const lags = ({ stack }: Monitored) => [
    alarmOf(stack, 'lagWarning').threshold,
    alarmOf(stack, 'lagCritical').threshold,
  ];
  const retained = (retentionPeriod: Duration): MonitoredOptions => ({
    parts: (given, stack) => ({ ...given, stream: new BillingStream(stack, 'Kept', { retentionPeriod }) }),
  });

  it('is critical at a quarter of the retention', () => {
    expect(lags(monitored(retained(Duration.days(2))))).toEqual([60_000, 12 * 3_600_000]);
  });

  it('of an imported stream is critical at a quarter of what any stream keeps, and the alarm says so', () => {
    const { stack } = monitored({
      parts: (given, scope) => ({
        ...given,
        stream: BillingStream.fromStream(
          scope,
          'Imported',
          kinesis.Stream.fromStreamArn(scope, 'Events', 'arn:aws:kinesis:eu-west-1:123456789012:stream/events'),
        ),
      }),
    });
    expect(alarmOf(stack, 'lagCritical')).toMatchObject({
      threshold: 6 * 3_600_000,
      description: expect.stringContaining('a quarter of 24 h, which any stream keeps'),
    });
  });

  it('lagWarning, lagCritical', () => {
    const given = { lagWarning: Duration.minutes(5), lagCritical: Duration.hours(1) };
    expect(lags(monitored({ props: given }))).toEqual([300_000, 3_600_000]);
  });

  it.each([
    ['the warning after the page', { lagWarning: Duration.hours(2), lagCritical: Duration.hours(1) }, '1 hour'],
    ['the page after the loss', { lagCritical: Duration.days(7) }, '7 days'],
  ])('refuses %s', (_name, props, received) => {
    expect(() => monitored({ props })).toThrow(
      new RegExp(`lagCritical is ${received}; allowed: more than lagWarning .*Leave it out for a quarter`),
    );
  });
});

const clusterIn = (stack: Stack) =>
  rds.DatabaseCluster.fromDatabaseClusterAttributes(stack, 'Database', {
    clusterIdentifier: 'billing',
    clusterResourceIdentifier: 'cluster-ABCDEFGHIJKLMNOPQRSTUVWXYZ',
    clusterEndpointAddress: 'billing.example.test',
    port: 5432,
    securityGroups: [groupIn(stack)],
  });
