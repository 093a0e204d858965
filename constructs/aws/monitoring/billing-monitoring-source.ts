/** Alarms on what AWS says of the stream and of the lease table. */
import { Duration, Token } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { lagCriticalMs } from '../../shared/alarm-limits';
import type { AlarmName } from '../../shared/alarm-texts';
import { wrongProp } from '../../shared/check';
import { type ILeaseTable, OWNER_INDEX } from '../lease-table/lease-table-base';
import type { IBillingStream } from '../stream/billing-stream-base';
import type { AlarmSpec } from './billing-monitoring-alarm';

const { BREACHING, NOT_BREACHING } = cloudwatch.TreatMissingData;
const EACH_MINUTE = { period: Duration.minutes(1), statistic: cloudwatch.Stats.SUM };

/** What Kinesis does unless it is told otherwise; so much is assumed of a stream whose retention is not known. */
const ASSUMED_RETENTION = Duration.hours(24);

export interface LagLimits {
  readonly warning: Duration;
  readonly critical: Duration;
  /** What was taken for granted. */
  readonly note?: string;
}

/** @throws when the warning would not come before the page, or the page not before events are lost */
export function lagLimits(path: string, stream: IBillingStream, given: Partial<LagLimits>): LagLimits {
  const known = stream.retentionPeriod?.isUnresolved() === false ? stream.retentionPeriod : undefined;
  const retention = known ?? ASSUMED_RETENTION;
  const limits = {
    warning: given.warning ?? Duration.minutes(1),
    critical: given.critical ?? Duration.millis(lagCriticalMs(retention.toHours())),
  };
  checkOrder(path, limits, known);
  if (given.critical !== undefined || known !== undefined) return limits;
  return { ...limits, note: 'a quarter of 24 h, which any stream keeps: the retention of this one is not known' };
}

function checkOrder(path: string, { warning, critical }: LagLimits, retention: Duration | undefined): void {
  const [sooner, later] = [warning.toMilliseconds(), critical.toMilliseconds()];
  if (Token.isUnresolved(sooner) || Token.isUnresolved(later)) return;
  const most = retention?.toMilliseconds() ?? Number.POSITIVE_INFINITY;
  if (sooner < later && later < most) return;
  throw wrongProp({
    path,
    prop: 'lagCritical',
    received: critical.toHumanString(),
    allowed: `more than lagWarning (${warning.toHumanString()})${retention ? ` and less than the retention (${retention.toHumanString()})` : ''}`,
    wayOut: 'Leave it out for a quarter of the retention: the rest is the time to repair what is wrong.',
  });
}

export function streamAlarms(stream: IBillingStream, { warning, critical, note }: LagLimits): AlarmSpec[] {
  const lag = { metric: stream.metricIteratorAge(), unit: 'ms', missing: BREACHING };
  const assumed = note === undefined ? {} : { note };
  const refused = (name: AlarmName, metric: cloudwatch.Metric, periods: number): AlarmSpec => ({
    name,
    metric,
    limit: { above: 0 },
    unit: '',
    periods,
    missing: NOT_BREACHING,
  });
  return [
    { ...lag, name: 'lagWarning', limit: { above: warning.toMilliseconds() }, periods: 5 },
    { ...lag, ...assumed, name: 'lagCritical', limit: { above: critical.toMilliseconds() }, periods: 3 },
    refused('streamWriteThrottled', stream.metricWriteThrottled(), 3),
    refused('streamPutFailed', stream.metricPutRecordsFailed(), 3),
    refused('streamReadThrottled', stream.stream.metric('ReadProvisionedThroughputExceeded', EACH_MINUTE), 5),
  ];
}

/** One alarm for each way to throttle, so that none depends on metrics that exist only once something went wrong. */
export function leaseTableAlarms({ table }: ILeaseTable): AlarmSpec[] {
  const onTable = (metricName: string, more: Record<string, string> = {}) =>
    table.metric(metricName, { ...EACH_MINUTE, dimensionsMap: { TableName: table.tableName, ...more } });
  const refused = (name: AlarmName, metric: cloudwatch.Metric, periods = 1): AlarmSpec => ({
    name,
    metric,
    limit: { above: 0 },
    unit: '',
    periods,
    missing: NOT_BREACHING,
  });
  return [
    refused('leaseWritesThrottled', onTable('WriteThrottleEvents')),
    refused('leaseReadsThrottled', onTable('ReadThrottleEvents')),
    refused('leaseIndexThrottled', onTable('WriteThrottleEvents', { GlobalSecondaryIndexName: OWNER_INDEX })),
    refused('leaseTableErrors', onTable('SystemErrors', { Operation: 'UpdateItem' }), 3),
  ];
}
