/** One alarm as data: which metric, beyond what, for how long, and what silence means. Its text: `shared/alarm-texts.ts`. */
import { Token, Tokenization } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { ALARM_TEXTS, type AlarmName, alarmDescription } from '../../shared/alarm-texts';

export interface AlarmSpec {
  readonly name: AlarmName;
  readonly metric: cloudwatch.Metric;
  /** It breaches above this, or below this. */
  readonly limit: { readonly above: number } | { readonly below: number };
  /** Unit of the limit, for people: `ms` and `bytes` are shown in larger ones. */
  readonly unit: string;
  /** Periods of the metric in a row that must breach. */
  readonly periods: number;
  /** What no data means: `BREACHING` where silence is the fault, `IGNORE` where the last state stands. */
  readonly missing: cloudwatch.TreatMissingData;
  /** What else is to be said of the limit. */
  readonly note?: string;
}

export function createAlarm(scope: Construct, spec: AlarmSpec): cloudwatch.Alarm {
  const { name, metric, limit, periods } = spec;
  const above = 'above' in limit;
  return new cloudwatch.Alarm(scope, constructId(name), {
    metric,
    threshold: above ? limit.above : limit.below,
    comparisonOperator: above
      ? cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
      : cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
    evaluationPeriods: periods,
    treatMissingData: spec.missing,
    alarmDescription: alarmDescription(name, condition(spec)),
  });
}

/** `above 42 h for 3 min, or no data`. */
function condition({ metric, limit, unit, periods, missing, note }: AlarmSpec): string {
  const [word, value] = 'above' in limit ? ['above', limit.above] : ['below', limit.below];
  const silence = missing === cloudwatch.TreatMissingData.BREACHING ? ', or no data' : '';
  const more = note === undefined ? '' : `; ${note}`;
  return `${word} ${amount(value, unit)} for ${metric.period.toMinutes() * periods} min${silence}${more}`;
}

const LARGER: Readonly<Record<string, readonly (readonly [size: number, unit: string])[]>> = {
  ms: [
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ],
  bytes: [
    [1_024 ** 3, 'GiB'],
    [1_024 ** 2, 'MiB'],
  ],
};

/** In the largest unit in which it is a whole number. */
function amount(value: number, unit: string): string {
  if (Token.isUnresolved(value)) return `${Tokenization.stringifyNumber(value)} ${unit}`;
  const [size, shown] = LARGER[unit]?.find(([each]) => value >= each && value % each === 0) ?? [1, unit];
  return `${value / size} ${shown}`.trimEnd();
}

export const isPage = (name: AlarmName): boolean => ALARM_TEXTS[name].severity === 'page';

const constructId = (name: AlarmName): string => name.charAt(0).toUpperCase() + name.slice(1);
