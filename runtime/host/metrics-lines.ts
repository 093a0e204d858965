/** Writes the metrics as one line a minute: CloudWatch's embedded metric format, or plain JSON. */
import { METRICS, METRICS_DIMENSION } from '../contract';
import type { Host } from './host';
import type { ProcessMetrics } from './metrics';

export interface MetricsLinesOptions {
  readonly format: 'emf' | 'json';
  readonly namespace: string;
  /** The one dimension every metric carries. */
  readonly service: string;
  readonly metrics: ProcessMetrics;
  readonly host: Host;
  readonly write: (line: string) => void;
  /** Absent: 60000. */
  readonly intervalMs?: number;
}

/** Runs until the signal aborts, then writes a last line, so that a short life is counted too. */
export async function writeMetricsLines(options: MetricsLinesOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await options.host.sleep(options.intervalMs ?? 60_000, signal);
    options.write(`${JSON.stringify(metricsLine(options))}\n`);
  }
}

function metricsLine(options: MetricsLinesOptions): object {
  const figures = options.metrics.drain();
  const { version, schema } = options.metrics.build;
  const time = Math.floor(options.host.now());
  const build = { Version: version, SchemaVersion: schema };
  if (options.format === 'json') {
    return { metrics: options.namespace, service: options.service, time, ...build, ...figures };
  }
  return {
    _aws: {
      Timestamp: time,
      CloudWatchMetrics: [
        {
          Namespace: options.namespace,
          Dimensions: [[METRICS_DIMENSION]],
          Metrics: Object.keys(figures).map((Name) => ({ Name, Unit: UNITS.get(Name) ?? 'Count' })),
        },
      ],
    },
    // Properties, not dimensions: a new version must not begin a new series, which no alarm would watch.
    ...build,
    [METRICS_DIMENSION]: options.service,
    ...figures,
  };
}

/** Units other than Count, by EMF name. */
const UNITS: ReadonlyMap<string, string> = new Map(
  Object.values(METRICS).flatMap((metric) => ('unit' in metric ? [[metric.emf, metric.unit] as const] : [])),
);
