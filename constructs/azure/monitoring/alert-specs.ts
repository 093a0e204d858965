/** An alert as data: what is looked at, beyond what, for how long. Its text: `shared/alarm-texts-azure.ts`. */
import type * as pulumi from '@pulumi/pulumi';
import type { AlertName } from '../../shared/alarm-texts-azure';
import { type Beyond, type MetricLines, nobodyReadyQuery } from './metric-lines-query';

/** Over the workers' own lines in the workspace. */
export interface LogAlertSpec {
  readonly kind: 'log';
  readonly name: AlertName;
  readonly query: (lines: MetricLines) => string;
  /** What the query looks for, in words: `above 5 min for 5 of 10 min`. */
  readonly condition: string;
  readonly windowMinutes: LogWindow;
  /** Which figure has to be beyond what. Absent: it is about silence. */
  readonly beyond?: Beyond;
}

/** Lines arrive minutes late, and each one must be inside a window that is looked at after it arrived. */
export type LogWindow = 10 | 15;
export const LOG_FREQUENCY_MINUTES = 5;

/** Over what Azure measures of a resource. No data is no alert: Azure keeps the last state. */
export interface MetricAlertSpec {
  readonly kind: 'metric';
  readonly name: AlertName;
  /** Id of the resource. */
  readonly scope: pulumi.Input<string>;
  readonly namespace: string;
  readonly metric: string;
  readonly aggregation: 'Average' | 'Maximum' | 'Total';
  readonly limit: { readonly above: number } | { readonly below: number };
  /** Unit of the limit, for people. */
  readonly unit: string;
  readonly windowMinutes: MetricWindow;
  readonly dimension?: { readonly name: string; readonly values: readonly pulumi.Input<string>[] };
}

export type MetricWindow = 5 | 15 | 60;

export type AlertSpec = LogAlertSpec | MetricAlertSpec;

/** `above 80 % in 15 min`. */
export function metricCondition({ limit, unit, aggregation, windowMinutes }: MetricAlertSpec): string {
  const [word, value] = 'above' in limit ? ['above', limit.above] : ['below', limit.below];
  return `${aggregation.toLowerCase()} ${word} ${value} ${unit} in ${windowMinutes} min`.replace('  ', ' ');
}

export const WORKERS_GONE: LogAlertSpec = {
  kind: 'log',
  name: 'workersGone',
  query: nobodyReadyQuery,
  condition: 'no line in 10 min that says ready',
  windowMinutes: 10,
};
