import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import {
  type LabelledMetricName,
  METRICS,
  METRICS_BY_LABEL,
  METRICS_DIMENSION,
  METRICS_NAMESPACE,
  type MetricName,
} from '../../../runtime/contract';

/** A metric of the runtime, or one value of its label that is a metric of its own. */
export type ConsumerMetricName = MetricName | LabelledMetricName;

/**
 * A metric that the workers of a service write, each one a figure a minute. Default statistic: the sum over the fleet of
 * a counter, the highest value of any worker of a gauge. Default period: 1 minute.
 * @param service value of METRICS_SERVICE of the workers
 */
export function consumerMetric(
  service: string,
  name: ConsumerMetricName,
  options: cloudwatch.MetricOptions = {},
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    period: Duration.minutes(1),
    statistic: isCounter(name) ? cloudwatch.Stats.SUM : cloudwatch.Stats.MAXIMUM,
    ...options,
    namespace: METRICS_NAMESPACE,
    metricName: emfName(name),
    dimensionsMap: { [METRICS_DIMENSION]: service },
  });
}

const isLabelled = (name: ConsumerMetricName): name is LabelledMetricName => Object.hasOwn(METRICS_BY_LABEL, name);

const emfName = (name: ConsumerMetricName): string =>
  isLabelled(name) ? METRICS_BY_LABEL[name].emf : METRICS[name].emf;

const isCounter = (name: ConsumerMetricName): boolean => isLabelled(name) || METRICS[name].prom.endsWith('_total');
