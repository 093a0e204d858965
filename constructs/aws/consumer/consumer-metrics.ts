import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { METRICS_DIMENSION, METRICS_NAMESPACE } from '../../../runtime/contract';
import { type ConsumerMetricName, isCounter, writtenName } from '../../shared/metric-names';

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
    metricName: writtenName(name),
    dimensionsMap: { [METRICS_DIMENSION]: service },
  });
}
