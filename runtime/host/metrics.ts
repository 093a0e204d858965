/** The runtime's metrics on a registry of its own, with the figures of the process (memory, event-loop delay). */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { METRICS, METRICS_BY_LABEL, type MetricName } from '../contract';
import type { Metrics } from '../processor/ports';
import { watchEventLoop } from './event-loop';

export interface ProcessMetrics extends Metrics {
  /** Prometheus text exposition. */
  text(): Promise<string>;
  readonly contentType: string;
  /** From now on the gauge is what `read` answers when a line is written or /metrics is read. */
  observe(name: MetricName, read: () => number): void;
  readonly build: BuildInfo;
  /**
   * By EMF name: counters since the last call, summed over labels, and those of a label that have a name of their own;
   * gauges as they stand; peaks since the last call.
   */
  drain(): Record<string, number>;
}

/** What runs: the package's version, and the schema it was made for. */
export interface BuildInfo {
  readonly version: string;
  readonly schema: string;
}

/** Some metrics of the contract have these, most do not. */
interface Traits {
  readonly prom: string;
  readonly peak?: boolean;
}

const isGauge = (name: MetricName): boolean => !METRICS[name].prom.endsWith('_total');
const isPeak = (name: MetricName): boolean => (METRICS[name] satisfies Traits as Traits).peak ?? false;

/** @param build shown with every figure, so that a change of a figure can be laid beside a deploy. */
export function createMetrics(build: BuildInfo = { version: 'unknown', schema: 'unknown' }): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'chargeonce_build_info',
    help: 'Gauge: 1, with what runs as labels',
    labelNames: ['version', 'schema'],
    registers: [registry],
  }).set({ ...build }, 1);
  const counters = new Map<MetricName, Counter>();
  const gauges = new Map<MetricName, Gauge>();
  const figures = new Figures();
  for (const name of Object.keys(METRICS) as MetricName[]) {
    const { prom, help, labels } = METRICS[name];
    const options = { name: prom, help, labelNames: [...labels], registers: [registry] };
    if (isGauge(name)) gauges.set(name, new Gauge(options));
    else counters.set(name, new Counter(options));
  }
  // Two readers with a memory each: a scrape must not take away what the next line would have told.
  const [stallForScrape, stallForLine] = watchEventLoop();
  const observed = new Map<MetricName, () => number>();
  const observe = () => {
    for (const [name, read] of observed) metrics.gauge(name, read());
  };
  const metrics: ProcessMetrics = {
    count(name, labels = {}, by = 1) {
      const counter = counters.get(name);
      if (counter === undefined) throw new TypeError(`${name} is a gauge: set it with gauge()`);
      const known = declared(name, labels);
      counter.inc(known, by);
      figures.add(name, known, by);
    },
    gauge(name, value) {
      const gauge = gauges.get(name);
      if (gauge === undefined) throw new TypeError(`${name} is a counter: raise it with count()`);
      gauge.set(value);
      figures.set(name, value);
    },
    text() {
      observe();
      gauges.get('eventLoopDelay')?.set(stallForScrape());
      return registry.metrics();
    },
    contentType: registry.contentType,
    build,
    observe(name, read) {
      observed.set(name, read);
    },
    drain() {
      observe();
      figures.set('eventLoopDelay', stallForLine());
      return figures.drain();
    },
  };
  return metrics;
}

/** What the next line will say. */
class Figures {
  private readonly sums = new Map<MetricName, number>();
  /** By name, label and value. */
  private readonly labelled = new Map<string, number>();

  add(name: MetricName, labels: Readonly<Record<string, string>>, by: number): void {
    this.sums.set(name, (this.sums.get(name) ?? 0) + by);
    for (const [label, value] of Object.entries(labels)) {
      const key = labelKey(name, label, value);
      this.labelled.set(key, (this.labelled.get(key) ?? 0) + by);
    }
  }

  set(name: MetricName, value: number): void {
    this.sums.set(name, isPeak(name) ? Math.max(value, this.sums.get(name) ?? 0) : value);
  }

  drain(): Record<string, number> {
    const line: Record<string, number> = {};
    for (const name of Object.keys(METRICS) as MetricName[]) {
      line[METRICS[name].emf] = this.sums.get(name) ?? 0;
      if (!isGauge(name) || isPeak(name)) this.sums.set(name, 0);
    }
    for (const { of, label, value, emf } of Object.values(METRICS_BY_LABEL)) {
      line[emf] = this.labelled.get(labelKey(of, label, value)) ?? 0;
    }
    this.labelled.clear();
    return line;
  }
}

const labelKey = (name: MetricName, label: string, value: string): string => `${name} ${label} ${value}`;

/** Exactly the labels the contract names: an unknown one would make the registry throw in the middle of a charge. */
function declared(name: MetricName, labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(METRICS[name].labels.map((label) => [label, labels[label] ?? '']));
}
