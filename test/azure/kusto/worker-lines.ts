/** What workers really write, as the workspace has it. */

import type { ConsumerMetricName } from '../../../constructs/shared/metric-names';
import { METRICS, METRICS_BY_LABEL, METRICS_NAMESPACE } from '../../../runtime/contract';
import type { Host } from '../../../runtime/host/host';
import { createMetrics, type ProcessMetrics } from '../../../runtime/host/metrics';
import { writeMetricsLines } from '../../../runtime/host/metrics-lines';

export const SERVICE = 'usage-app-1a2b3c4d';
const MINUTE_MS = 60_000;

export interface Written {
  readonly TimeGenerated: number;
  readonly text: string;
}

export interface LinesOptions {
  readonly minutes: number;
  readonly service?: string;
  /** What happens in each of these minutes, before its line is written. */
  readonly happens?: (metrics: ProcessMetrics) => void;
}

/** The lines of one worker, one a minute, by the runtime's own code on a clock that is turned by hand. */
export async function writtenLines({ minutes, service = SERVICE, happens }: LinesOptions): Promise<Written[]> {
  const metrics = createMetrics();
  const written: Written[] = [];
  const ended = new AbortController();
  let now = 0;
  const host = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
      happens?.(metrics);
      if (now >= minutes * MINUTE_MS) ended.abort();
    },
  } as Host;
  const write = (text: string) => written.push({ TimeGenerated: now, text: text.trimEnd() });
  const options = { format: 'json', namespace: METRICS_NAMESPACE, service, metrics, host, write } as const;
  await writeMetricsLines(options, ended.signal);
  return written;
}

/** Lets a figure be so high in the next line: counters are raised, gauges are set. */
export function raise(metrics: ProcessMetrics, name: ConsumerMetricName, to: number): void {
  if (name in METRICS_BY_LABEL) {
    const { of, label, value } = METRICS_BY_LABEL[name as keyof typeof METRICS_BY_LABEL];
    metrics.count(of, { [label]: value }, to);
    return;
  }
  const metric = name as keyof typeof METRICS;
  if (METRICS[metric].prom.endsWith('_total')) metrics.count(metric, {}, to);
  else metrics.gauge(metric, to);
}

/** Both tables, of which the environment writes to one, among the lines of a log. */
export function tables(lines: readonly Written[], table: string) {
  const log = { TimeGenerated: 0, text: '{"level":"info","msg":"ready"}' };
  const plain = { TimeGenerated: 0, text: `not JSON, but it names chargeonce and ${SERVICE}` };
  const all = [log, plain, ...lines];
  const rows = {
    ContainerAppConsoleLogs: all.map(({ text, ...row }) => ({ ...row, Log: text })),
    ContainerAppConsoleLogs_CL: all.map(({ text, ...row }) => ({ ...row, Log_s: text })),
  };
  return { ContainerAppConsoleLogs: [], ContainerAppConsoleLogs_CL: [], [table]: rows[table as keyof typeof rows] };
}
