/** Alarms on what the workers say of themselves, and on what ECS says of them. */
import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import { STALL_LIMIT_MS, standstillLimitMs } from '../../shared/alarm-limits';
import type { AlarmName } from '../../shared/alarm-texts';
import type { ConsumerMetricName } from '../../shared/metric-names';
import { consumerMetric } from '../consumer/consumer-metrics';
import type { AlarmSpec } from './billing-monitoring-alarm';

const { BREACHING, NOT_BREACHING, IGNORE } = cloudwatch.TreatMissingData;

/** How long a lease lasts unless it is told otherwise. */
const ASSUMED_LEASE = Duration.seconds(10);

/** What the workers themselves write. Missing figures mean no worker, which is the business of `workersGone`. */
export function workerAlarms(service: string, leaseDuration: Duration | undefined): AlarmSpec[] {
  const leaseMs = (leaseDuration?.isUnresolved() === false ? leaseDuration : ASSUMED_LEASE).toMilliseconds();
  const own = (name: ConsumerMetricName, period = Duration.minutes(1)) => consumerMetric(service, name, { period });
  const counted = (name: AlarmName, of: ConsumerMetricName, periods: number, period?: Duration): AlarmSpec => ({
    name,
    metric: own(of, period),
    limit: { above: 0 },
    unit: '',
    periods,
    missing: NOT_BREACHING,
  });
  const state = (name: AlarmName, of: ConsumerMetricName, above: number, unit: string, periods: number): AlarmSpec => ({
    name,
    metric: own(of),
    limit: { above },
    unit,
    periods,
    missing: IGNORE,
  });
  const ready = consumerMetric(service, 'ready', { statistic: cloudwatch.Stats.SUM });
  return [
    { name: 'workersGone', metric: ready, limit: { below: 1 }, unit: 'workers ready', periods: 5, missing: BREACHING },
    state('leasesUnowned', 'leasesUnowned', 0, 'shards', 3),
    state('checkpointStalled', 'checkpointStall', STALL_LIMIT_MS, 'ms', 3),
    state('unresolvedRows', 'unresolvedRows', 0, 'rows', 10),
    state('stripeRefusesKey', 'halted', 0, 'workers', 2),
    counted('impossibleAnswers', 'alarms', 1),
    counted('capBlocked', 'chargesCapBlocked', 1),
    counted('ledgerUnavailable', 'ledgerFailures', 5),
    counted('leasesLost', 'leasesLost', 2),
    counted('deadLetters', 'deadLetters', 1, Duration.minutes(5)),
    counted('conflicts', 'conflicts', 1, Duration.minutes(5)),
    counted('rejectedCharges', 'chargesRejected', 1, Duration.minutes(5)),
    state('eventLoopSlow', 'eventLoopDelay', standstillLimitMs(leaseMs), 'ms', 3),
    state('renewalsSlow', 'leaseRenewalTime', Math.round(leaseMs / 3), 'ms', 2),
  ];
}

export interface ServiceToWatch {
  readonly service: ecs.FargateService;
  readonly desiredCount: number;
  /** Whether the cluster counts its tasks for CloudWatch. */
  readonly containerInsights: boolean;
}

export function serviceAlarms({ service, desiredCount, containerInsights }: ServiceToWatch): AlarmSpec[] {
  const period = Duration.minutes(1);
  const memory: AlarmSpec = {
    name: 'memoryHigh',
    metric: service.metricMemoryUtilization({ period, statistic: cloudwatch.Stats.MAXIMUM }),
    limit: { above: 80 },
    unit: '%',
    periods: 5,
    missing: NOT_BREACHING,
  };
  if (!containerInsights) return [memory];
  const running = new cloudwatch.Metric({
    namespace: 'ECS/ContainerInsights',
    metricName: 'RunningTaskCount',
    dimensionsMap: { ClusterName: service.cluster.clusterName, ServiceName: service.serviceName },
    statistic: cloudwatch.Stats.MINIMUM,
    period,
  });
  const tasks = { below: desiredCount };
  return [
    memory,
    { name: 'tasksMissing', metric: running, limit: tasks, unit: 'tasks', periods: 5, missing: BREACHING },
  ];
}
