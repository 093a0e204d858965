/**
 * Kusto queries over the workers' JSON metric lines. Azure's alert service accepts queries that begin with one table and
 * know no `union`, so a query names the one table that the environment writes to.
 */
import { METRICS_NAMESPACE } from '../../../runtime/contract';
import { type ConsumerMetricName, isCounter, writtenName } from '../../shared/metric-names';
import type { LogTable } from '../consumer/billing-consumer-args';

/**
 * Where the console log of a Container Apps environment arrives, by its log destination, and the column that has the
 * line: `azure-monitor` (with a diagnostic setting) and `log-analytics`.
 */
const LINE_COLUMN: Readonly<Record<LogTable, string>> = {
  ContainerAppConsoleLogs: 'Log',
  ContainerAppConsoleLogs_CL: 'Log_s',
};

/** Which lines: of the workers that have this value of METRICS_SERVICE. */
export interface MetricLines {
  readonly table: LogTable;
  readonly service: string;
}

/** The lines of these workers, as the dynamic column `line`. */
function linesOf({ table, service }: MetricLines): string[] {
  const column = LINE_COLUMN[table];
  return [
    table,
    // Cheap, by the index of words; what passes is parsed.
    `| where ${column} has ${quoted(METRICS_NAMESPACE)} and ${column} has ${quoted(service)}`,
    `| extend line = parse_json(${column})`,
    `| where tostring(line.metrics) == ${quoted(METRICS_NAMESPACE)} and tostring(line.service) == ${quoted(service)}`,
  ];
}

/** The fleet's figure of each minute, as the columns `minute` and `value`. */
export function figureByMinute(lines: MetricLines, name: ConsumerMetricName): string[] {
  return [...linesOf(lines), `| summarize value = ${fleetFigure(name)} by minute = bin(TimeGenerated, 1m)`];
}

const fleetFigure = (name: ConsumerMetricName): string =>
  `${isCounter(name) ? 'sum' : 'max'}(todouble(line.${writtenName(name)}))`;

export interface Beyond {
  readonly name: ConsumerMetricName;
  readonly above: number;
  /** Of the window's minutes, so many must be beyond the limit. */
  readonly minutes: number;
}

/** One row while the figure is beyond its limit for long enough, none otherwise. */
export function beyondQuery(lines: MetricLines, { name, above, minutes }: Beyond): string {
  return [
    ...figureByMinute(lines, name),
    `| where value > ${above}`,
    '| summarize minutes = count()',
    `| where minutes >= ${minutes}`,
  ].join('\n');
}

/** One row when no line in the window says that its worker is ready; also when there is no line at all. */
export function nobodyReadyQuery(lines: MetricLines): string {
  return [
    ...linesOf(lines),
    `| where todouble(line.${writtenName('ready')}) >= 1`,
    // Without "by", Kusto answers a row for an empty input too: that is what lets silence be seen.
    '| summarize ready = count()',
    '| where ready < 1',
  ].join('\n');
}

/** Several figures by minute, each as a column: what a chart of the workbook draws. */
export function chartQuery(lines: MetricLines, figures: Readonly<Record<string, ConsumerMetricName>>): string {
  const columns = Object.entries(figures).map(([label, name]) => `['${label}'] = ${fleetFigure(name)}`);
  return [...linesOf(lines), `| summarize ${columns.join(', ')} by bin(TimeGenerated, 1m)`].join('\n');
}

/** A string of Kusto: names of services have no control characters, quotes and backslashes are escaped. */
const quoted = (text: string): string => JSON.stringify(text);
