/**
 * A lease table provisioned with 10 units throttled its renewals, leases were lost again and again, and up to 5 % of the
 * records were processed twice; nobody was told, for there was no alarm on the table. So the default is on demand, and
 * every way in which that very table can throttle has an alarm.
 */
import type { Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { BillingMonitoring, LeaseTable } from '../../constructs/aws';
import { monitored } from '../aws/monitored';
import { consumerStack, container, only, resources } from '../aws/stack';
import { alarmsOf } from '../support/alarms';

const THROTTLES = ['ReadThrottleEvents', 'WriteThrottleEvents', 'WriteThrottleEvents of LeaseOwnerToLeaseKeyIndex'];

/** The throttles of the worker's own lease table that have an alarm. */
function guarded(stack: Stack): string[] {
  const { LEASE_TABLE_NAME } = container(stack, 'worker').environment;
  return alarmsOf(stack)
    .filter(({ metric, dimensions: { TableName } }) => {
      return metric.endsWith('ThrottleEvents') && JSON.stringify(TableName) === JSON.stringify(LEASE_TABLE_NAME);
    })
    .map(({ metric, dimensions: { GlobalSecondaryIndexName: index } }) =>
      index ? `${metric} of ${String(index)}` : metric,
    )
    .sort();
}

describe('the lease table', () => {
  it('is on demand unless it was sized, index and all', () => {
    const { stack } = monitored();
    const { Properties } = only(stack, 'AWS::DynamoDB::GlobalTable');
    expect(Properties.BillingMode).toBe('PAY_PER_REQUEST');
    expect(JSON.stringify(Properties)).not.toContain('Provisioned');
    expect(Object.keys(resources(stack, 'AWS::ApplicationAutoScaling::ScalableTarget'))).toEqual([]);
  });

  it('twin: a sized one is provisioned', () => {
    const { stack } = monitored({
      parts: (given, scope) => ({ ...given, leaseTable: new LeaseTable(scope, 'Small', { maxShards: 7 }) }),
    });
    const [small] = Object.entries(resources(stack, 'AWS::DynamoDB::GlobalTable')).filter(([id]) =>
      id.startsWith('Small'),
    );
    expect(small?.[1].Properties.BillingMode).toBe('PROVISIONED');
    expect(guarded(stack)).toEqual(THROTTLES);
  });

  it('has an alarm on each way to throttle, at the first throttled request', () => {
    const { stack } = monitored();
    expect(guarded(stack)).toEqual(THROTTLES);
    for (const alarm of alarmsOf(stack).filter(({ metric }) => metric.endsWith('ThrottleEvents'))) {
      expect([alarm.threshold, alarm.periods, alarm.periodSeconds]).toEqual([0, 1, 60]);
    }
  });

  it('twin: alarms on another table than the worker’s count for nothing', () => {
    const { stack, consumer } = consumerStack();
    new BillingMonitoring(stack, 'Monitoring', { consumer, leaseTable: new LeaseTable(stack, 'Other') });
    expect(alarmsOf(stack).filter(({ metric }) => metric.endsWith('ThrottleEvents'))).toHaveLength(3);
    expect(guarded(stack)).toEqual([]);
  });
});
