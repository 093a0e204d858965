/** Makes the resource of an alert. */
import * as monitor from '@pulumi/azure-native/monitor';
import * as pulumi from '@pulumi/pulumi';
import { type AlertName, AZURE_ALERT_TEXTS, alertDescription } from '../../shared/alarm-texts-azure';
import type { LogTable } from '../consumer/billing-consumer-args';
import { LOG_FREQUENCY_MINUTES, type LogAlertSpec, type MetricAlertSpec, metricCondition } from './alert-specs';

/** Azure's numbers: 0 critical, 2 warning. */
const SEVERITY = { page: 0, warn: 2 } as const;

/** What all alerts of a component share. */
export interface AlertContext {
  /** Name of the component. */
  readonly name: string;
  readonly resourceGroupName: pulumi.Input<string>;
  readonly tags: pulumi.Input<Record<string, pulumi.Input<string>>> | undefined;
  /** Who is told, by severity. */
  readonly groups: Readonly<Record<'page' | 'warn', readonly pulumi.Input<string>[]>>;
  readonly options: pulumi.CustomResourceOptions;
}

export interface LogAlertContext extends AlertContext {
  readonly workspaceId: pulumi.Input<string>;
  readonly table: LogTable;
  readonly service: pulumi.Input<string>;
}

const minutes = (count: number): string => (count === 60 ? 'PT1H' : `PT${count}M`);
const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const childName = (component: string, alert: AlertName): string => `${component}-${kebab(alert)}`;

export function createLogAlert(spec: LogAlertSpec, context: LogAlertContext): monitor.ScheduledQueryRule {
  const { title, severity } = AZURE_ALERT_TEXTS[spec.name];
  const query = pulumi.output(context.service).apply((service) => spec.query({ table: context.table, service }));
  return new monitor.ScheduledQueryRule(
    childName(context.name, spec.name),
    {
      resourceGroupName: context.resourceGroupName,
      kind: monitor.Kind.LogAlert,
      displayName: `${context.name}: ${title}`,
      description: alertDescription(spec.name, spec.condition),
      severity: SEVERITY[severity],
      enabled: true,
      scopes: [context.workspaceId],
      evaluationFrequency: minutes(LOG_FREQUENCY_MINUTES),
      windowSize: minutes(spec.windowMinutes),
      criteria: {
        allOf: [
          {
            query,
            // A query answers a row while something is wrong. (The SDK's `ConditionOperator` is another API's.)
            timeAggregation: monitor.TimeAggregation.Count,
            operator: monitor.Operator.GreaterThan,
            threshold: 0,
            failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 },
          },
        ],
      },
      autoMitigate: true,
      // The table of a new workspace comes with its first line, which is after this rule.
      skipQueryValidation: true,
      actions: { actionGroups: [...context.groups[severity]] },
      ...(context.tags === undefined ? {} : { tags: context.tags }),
    },
    context.options,
  );
}

export function createMetricAlert(spec: MetricAlertSpec, context: AlertContext): monitor.MetricAlert {
  const { severity } = AZURE_ALERT_TEXTS[spec.name];
  const isAbove = 'above' in spec.limit;
  const criterion = {
    name: spec.name,
    criterionType: 'StaticThresholdCriterion' as const,
    metricNamespace: spec.namespace,
    metricName: spec.metric,
    timeAggregation: monitor.AggregationTypeEnum[spec.aggregation],
    operator: isAbove ? monitor.Operator.GreaterThan : monitor.Operator.LessThan,
    threshold: 'above' in spec.limit ? spec.limit.above : spec.limit.below,
    ...(spec.dimension === undefined
      ? {}
      : {
          dimensions: [
            {
              name: spec.dimension.name,
              operator: monitor.DimensionOperator.Include,
              values: [...spec.dimension.values],
            },
          ],
        }),
  };
  return new monitor.MetricAlert(
    childName(context.name, spec.name),
    {
      resourceGroupName: context.resourceGroupName,
      // Rules over metrics live nowhere in particular.
      location: 'global',
      description: alertDescription(spec.name, metricCondition(spec)),
      severity: SEVERITY[severity],
      enabled: true,
      scopes: [spec.scope],
      evaluationFrequency: minutes(spec.windowMinutes === 60 ? 15 : spec.windowMinutes === 15 ? 5 : 1),
      windowSize: minutes(spec.windowMinutes),
      criteria: {
        odataType: monitor.Odatatype.Microsoft_Azure_Monitor_SingleResourceMultipleMetricCriteria,
        allOf: [criterion],
      },
      autoMitigate: true,
      actions: context.groups[severity].map((actionGroupId) => ({ actionGroupId })),
      ...(context.tags === undefined ? {} : { tags: context.tags }),
    },
    context.options,
  );
}
