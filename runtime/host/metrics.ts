/** The runtime's metrics on a registry of its own, with the figures of the process (memory, event-loop delay). */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { METRICS, type MetricName } from '../contract';
import type { Metrics } from '../processor/ports';

export interface ProcessMetrics extends Metrics {
  /** Prometheus text exposition. */
  text(): Promise<string>;
  readonly contentType: string;
  /** Counters since the last call and gauges as they stand, summed over labels, by EMF name. */
  drain(): Record<string, number>;
}

const isGauge = (name: MetricName): boolean => !METRICS[name].prom.endsWith('_total');

export function createMetrics(): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counters = new Map<MetricName, Counter>();
  const gauges = new Map<MetricName, Gauge>();
  const sums = new Map<MetricName, number>();
  for (const name of Object.keys(METRICS) as MetricName[]) {
    const { prom, help, labels } = METRICS[name];
    const options = { name: prom, help, labelNames: [...labels], registers: [registry] };
    if (isGauge(name)) gauges.set(name, new Gauge(options));
    else counters.set(name, new Counter(options));
    sums.set(name, 0);
  }
  return {
    count(name, labels = {}, by = 1) {
      const counter = counters.get(name);
      if (counter === undefined) throw new TypeError(`${name} is a gauge: set it with gauge()`);
      counter.inc(declared(name, labels), by);
      sums.set(name, (sums.get(name) ?? 0) + by);
    },
    gauge(name, value) {
      const gauge = gauges.get(name);
      if (gauge === undefined) throw new TypeError(`${name} is a counter: raise it with count()`);
      gauge.set(value);
      sums.set(name, value);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
    drain() {
      const figures: Record<string, number> = {};
      for (const [name, sum] of sums) {
        figures[METRICS[name].emf] = sum;
        if (!isGauge(name)) sums.set(name, 0);
      }
      return figures;
    },
  };
}

/** Exactly the labels the contract names: an unknown one would make the registry throw in the middle of a charge. */
function declared(name: MetricName, labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(METRICS[name].labels.map((label) => [label, labels[label] ?? '']));
}
