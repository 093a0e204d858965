/** The runtime's metrics as they are written in a line: names and kinds, for every cloud. */
import { type LabelledMetricName, METRICS, METRICS_BY_LABEL, type MetricName } from '../../runtime/contract';

/** A metric of the runtime, or one value of its label that is a metric of its own. */
export type ConsumerMetricName = MetricName | LabelledMetricName;

const isLabelled = (name: ConsumerMetricName): name is LabelledMetricName => Object.hasOwn(METRICS_BY_LABEL, name);

/** The name that the workers write. */
export const writtenName = (name: ConsumerMetricName): string =>
  isLabelled(name) ? METRICS_BY_LABEL[name].emf : METRICS[name].emf;

/** Counters are summed over the workers; of gauges the highest counts. */
export const isCounter = (name: ConsumerMetricName): boolean =>
  isLabelled(name) || METRICS[name].prom.endsWith('_total');
