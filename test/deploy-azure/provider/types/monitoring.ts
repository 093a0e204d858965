/** Logs, alerts and the workbook. */
import type { AzureTypes } from '../azure-type';
import { guid } from '../ids';
import { between, isDuration, isGlobal, isGuid, list, matches, oneOf, required, together } from '../rules';
import { text } from '../values';

const CLIENT = '@azure/arm-monitor';

export const MONITORING: AzureTypes = {
  'azure-native:operationalinsights:Workspace': {
    arm: 'Microsoft.OperationalInsights/workspaces',
    names: ['workspaceName'],
    regional: true,
    replacedOn: ['location'],
    rules: [
      matches('workspaceName', /^[A-Za-z0-9][A-Za-z0-9-]{2,61}[A-Za-z0-9]$/, '4 to 63 letters, digits and hyphens'),
      between('retentionInDays', 30, 730),
    ],
    outputs: (_props, id) => ({ customerId: guid(id), provisioningState: 'Succeeded' }),
  },
  'azure-native:monitor:ActionGroup': {
    arm: 'Microsoft.Insights/actionGroups',
    names: ['actionGroupName'],
    regional: true,
    replacedOn: ['location'],
    body: { client: CLIENT, mapper: 'ActionGroupResource' },
    rules: [isGlobal, matches('groupShortName', /^.{1,12}$/, '1 to 12 characters')],
  },
  'azure-native:monitor:MetricAlert': {
    arm: 'Microsoft.Insights/metricAlerts',
    names: ['ruleName'],
    regional: true,
    replacedOn: ['location'],
    body: { client: CLIENT, mapper: 'MetricAlertResource' },
    rules: [
      isGlobal,
      between('severity', 0, 4),
      oneOf('evaluationFrequency', 'PT1M', 'PT5M', 'PT15M', 'PT30M', 'PT1H'),
      oneOf('windowSize', 'PT1M', 'PT5M', 'PT15M', 'PT30M', 'PT1H', 'PT6H', 'PT12H', 'P1D'),
    ],
  },
  'azure-native:monitor:ScheduledQueryRule': {
    arm: 'Microsoft.Insights/scheduledQueryRules',
    names: ['ruleName'],
    regional: true,
    replacedOn: ['location'],
    rules: [
      between('severity', 0, 4),
      isDuration('evaluationFrequency'),
      isDuration('windowSize'),
      isDuration('muteActionsDuration'),
      isDuration('overrideQueryTimeRange'),
      required('criteria', 'it says what to look for'),
      required('scopes', 'it says where to look'),
      together('muteActionsDuration', (props) =>
        props.autoMitigate === true && props.muteActionsDuration !== undefined
          ? 'muteActionsDuration is refused beside autoMitigate'
          : undefined,
      ),
      together('criteria.allOf', (props) => {
        const [criterion, second] = list(props, 'criteria.allOf');
        if (second !== undefined) return 'a log alert has one criterion';
        if (criterion?.timeAggregation === 'Count') return undefined;
        return criterion?.metricMeasureColumn === undefined
          ? `${text(criterion?.timeAggregation)} needs metricMeasureColumn`
          : undefined;
      }),
    ],
  },
  'azure-native:monitor:DiagnosticSetting': {
    arm: 'Microsoft.Insights/diagnosticSettings',
    names: ['name'],
    extends: 'resourceUri',
    body: { client: CLIENT, mapper: 'DiagnosticSettingsResource' },
  },
  'azure-native:applicationinsights:Workbook': {
    arm: 'Microsoft.Insights/workbooks',
    names: ['resourceName'],
    regional: true,
    replacedOn: ['location'],
    rules: [isGuid('resourceName'), matches('serializedData', /^\{/, 'the JSON of a workbook')],
  },
};
