/** The alarms of a synthesized stack, and what CloudWatch would say of a figure. */
import type { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Figure } from './emf';

export interface Alarm {
  /** Logical id. */
  readonly id: string;
  readonly namespace: string;
  readonly metric: string;
  /** Values are texts, or references as the template has them. */
  readonly dimensions: Readonly<Record<string, unknown>>;
  readonly threshold: number;
  readonly comparison: string;
  readonly missing: string | undefined;
  readonly periods: number;
  readonly periodSeconds: number;
  readonly statistic: string;
  readonly description: string;
}

interface Properties {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
  readonly Threshold: number;
  readonly ComparisonOperator: string;
  readonly TreatMissingData?: string;
  readonly EvaluationPeriods: number;
  readonly Period: number;
  readonly Statistic: string;
  readonly AlarmDescription: string;
}

export function alarmsOf(stack: Stack): Alarm[] {
  const found = Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm');
  return Object.entries(found).map(([id, resource]) => alarm(id, (resource as { Properties: Properties }).Properties));
}

function alarm(id: string, properties: Properties): Alarm {
  return {
    id,
    namespace: properties.Namespace,
    metric: properties.MetricName,
    dimensions: Object.fromEntries((properties.Dimensions ?? []).map(({ Name, Value }) => [Name, Value])),
    threshold: properties.Threshold,
    comparison: properties.ComparisonOperator,
    missing: properties.TreatMissingData,
    periods: properties.EvaluationPeriods,
    periodSeconds: properties.Period,
    statistic: properties.Statistic,
    description: properties.AlarmDescription,
  };
}

/** Whether the alarm watches this figure: namespace, name and the whole set of dimensions are the same. */
export function watches(alarm: Alarm, figure: Figure): boolean {
  const same =
    JSON.stringify(Object.entries(alarm.dimensions).sort()) ===
    JSON.stringify(Object.entries(figure.dimensions).sort());
  return alarm.namespace === figure.namespace && alarm.metric === figure.name && same;
}

export function breaches({ comparison, threshold }: Alarm, value: number): boolean {
  switch (comparison) {
    case 'GreaterThanThreshold':
      return value > threshold;
    case 'LessThanThreshold':
      return value < threshold;
    default:
      throw new Error(`${comparison} is not a comparison that the constructs use`);
  }
}
