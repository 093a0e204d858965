/** Alerts on what the workers say of themselves, in the line that each of them writes every minute. */
import { lagCriticalMs, STALL_LIMIT_MS, standstillLimitMs } from '../../shared/alarm-limits';
import type { AlertName } from '../../shared/alarm-texts-azure';
import type { ConsumerMetricName } from '../../shared/metric-names';
import { type LogAlertSpec, type LogWindow, WORKERS_GONE } from './alert-specs';
import { beyondQuery } from './metric-lines-query';

const MINUTE_MS = 60_000;
/** Others may take a worker's partitions when it has not renewed for so long. */
const OWNERSHIP_MS = 60_000;
/** The shortest retention that Event Hubs knows of a hub; of one that was not given nothing more is known. */
const ASSUMED_RETENTION_HOURS = 24;

export interface LagLimits {
  readonly warningMs: number;
  readonly criticalMs: number;
}

/** Pages when a quarter of the retention is gone. */
export function lagLimits(lagMinutes: number, retentionHours = ASSUMED_RETENTION_HOURS): LagLimits {
  return { warningMs: lagMinutes * MINUTE_MS, criticalMs: lagCriticalMs(retentionHours) };
}

interface Rule {
  readonly of: ConsumerMetricName;
  /** Beyond zero when not given. */
  readonly above?: number;
  readonly unit?: string;
  readonly minutes: number;
  readonly window?: LogWindow;
}

const ROOM: LogWindow = 10;

/** A missing figure means no worker, which is the business of `workersGone` alone. */
export function workerAlerts({ warningMs, criticalMs }: LagLimits): LogAlertSpec[] {
  const rules: Partial<Record<AlertName, Rule>> = {
    lagWarning: { of: 'millisBehindLatest', above: warningMs, unit: 'ms', minutes: 5 },
    lagCritical: { of: 'millisBehindLatest', above: criticalMs, unit: 'ms', minutes: 3 },
    partitionsUnowned: { of: 'leasesUnowned', unit: 'partitions', minutes: 5 },
    checkpointStalled: { of: 'checkpointStall', above: STALL_LIMIT_MS, unit: 'ms', minutes: 3 },
    unresolvedRows: { of: 'unresolvedRows', unit: 'rows', minutes: 10, window: 15 },
    stripeRefusesKey: { of: 'halted', unit: 'workers', minutes: 2 },
    impossibleAnswers: { of: 'alarms', minutes: 1 },
    capBlocked: { of: 'chargesCapBlocked', minutes: 1 },
    ledgerUnavailable: { of: 'ledgerFailures', minutes: 5 },
    partitionSilent: { of: 'silentPartitions', minutes: 1 },
    partitionsLost: { of: 'leasesLost', minutes: 5, window: 15 },
    checkpointFailures: { of: 'checkpointFailures', minutes: 5 },
    deadLetters: { of: 'deadLetters', minutes: 1 },
    conflicts: { of: 'conflicts', minutes: 1 },
    rejectedCharges: { of: 'chargesRejected', minutes: 1 },
    eventLoopSlow: { of: 'eventLoopDelay', above: standstillLimitMs(OWNERSHIP_MS), unit: 'ms', minutes: 3 },
  };
  const made = Object.entries(rules) as [AlertName, Rule][];
  return [WORKERS_GONE, ...made.map(([name, rule]) => alert(name, rule))];
}

function alert(name: AlertName, { of, above = 0, unit = '', minutes, window = ROOM }: Rule): LogAlertSpec {
  const beyond = { name: of, above, minutes };
  return {
    kind: 'log',
    name,
    beyond,
    query: (lines) => beyondQuery(lines, beyond),
    condition: `above ${amount(above, unit)} for ${minutes} of ${window} min`,
    windowMinutes: window,
  };
}

const LARGER = [
  [3_600_000, 'h'],
  [MINUTE_MS, 'min'],
  [1_000, 's'],
] as const;

/** Milliseconds in the largest unit in which they are a whole number. */
function amount(value: number, unit: string): string {
  const [size, shown] = (unit === 'ms' && LARGER.find(([each]) => value >= each && value % each === 0)) || [1, unit];
  return `${value / size} ${shown}`.trimEnd();
}
