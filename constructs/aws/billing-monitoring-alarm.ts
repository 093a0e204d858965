/** One alarm as data: which metric, beyond what, for how long, and what silence means. Its text: `shared/alarm-texts.ts`. */
import { Token, Tokenization } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { ALARM_TEXTS, type AlarmName, alarmDescription } from '../shared/alarm-texts';

export interface AlarmSpec {
  readonly name: AlarmName;
  readonly metric: cloudwatch.Metric;
  /** It breaches above this, or below this. */
  readonly limit: { readonly above: number } | { readonly below: number };
  /** Unit of the limit, for people. */
  readonly unit: string;
  /** Periods of the metric in a row that must breach. */
  readonly periods: number;
  /** What no data means: `BREACHING` where silence is the fault, `IGNORE` where the last state stands. */
  readonly missing: cloudwatch.TreatMissingData;
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

/** `above 60000 ms for 5 min`, and what silence means. */
function condition({ metric, limit, unit, periods, missing }: AlarmSpec): string {
  const [word, value] = 'above' in limit ? ['above', limit.above] : ['below', limit.below];
  const shown = Token.isUnresolved(value) ? Tokenization.stringifyNumber(value) : String(value);
  const silence = missing === cloudwatch.TreatMissingData.BREACHING ? ', or no data' : '';
  return `${word} ${shown} ${unit} for ${metric.period.toMinutes() * periods} min${silence}`;
}

export const isPage = (name: AlarmName): boolean => ALARM_TEXTS[name].severity === 'page';

const constructId = (name: AlarmName): string => name.charAt(0).toUpperCase() + name.slice(1);
