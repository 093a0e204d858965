/** Writes the metrics as one line a minute: CloudWatch's embedded metric format, or plain JSON. */
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
  const time = options.host.now();
  if (options.format === 'json') return { metrics: options.namespace, service: options.service, time, ...figures };
  return {
    _aws: {
      Timestamp: time,
      CloudWatchMetrics: [
        {
          Namespace: options.namespace,
          Dimensions: [['Service']],
          Metrics: Object.keys(figures).map((Name) => ({ Name, Unit: unitOf(Name) })),
        },
      ],
    },
    Service: options.service,
    ...figures,
  };
}

const unitOf = (name: string): string => (name.startsWith('Millis') ? 'Milliseconds' : 'Count');
