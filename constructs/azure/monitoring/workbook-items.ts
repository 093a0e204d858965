/** The items of an Azure workbook, as its JSON has them. */

const WORKSPACE = 'microsoft.operationalinsights/workspaces';
const RANGE = 'TimeRange';
const HOUR_MS = 3_600_000;
/** The figures that Azure writes for the ways to sum up. */
const AGGREGATIONS = { Total: 1, Maximum: 3, Average: 4 } as const;

export type WorkbookItem = Readonly<Record<string, unknown>>;

export const textItem = (name: string, markdown: string): WorkbookItem => ({
  type: 1,
  content: { json: markdown },
  name,
});

/** Chooses the time that every chart shows. */
export const timeRangeItem = (id: string): WorkbookItem => ({
  type: 9,
  content: {
    version: 'KqlParameterItem/1.0',
    parameters: [
      {
        ...{ id, version: 'KqlParameterItem/1.0', name: RANGE, label: 'Time range', type: 4, isRequired: true },
        typeSettings: {
          selectableValues: [1, 3, 12, 24, 72, 168].map((hours) => ({ durationMs: hours * HOUR_MS })),
          allowCustom: true,
        },
        value: { durationMs: 3 * HOUR_MS },
      },
    ],
    style: 'pills',
    queryType: 0,
    resourceType: WORKSPACE,
  },
  name: 'time-range',
});

/** The alerts of these rules that are fired now. */
export const alertsItem = (name: string, title: string, ruleIds: readonly string[]): WorkbookItem => ({
  type: 3,
  content: {
    version: 'KqlItem/1.0',
    query: firedQuery(ruleIds),
    ...{ size: 1, title, noDataMessage: 'No alert is fired.', noDataMessageStyle: 3 },
    ...{ queryType: 1, resourceType: 'microsoft.resourcegraph/resources', crossComponentResources: ['value::all'] },
    visualization: 'table',
  },
  name,
});

const firedQuery = (ruleIds: readonly string[]): string =>
  [
    'alertsmanagementresources',
    "| where type =~ 'microsoft.alertsmanagement/alerts'",
    '| extend essentials = properties.essentials',
    "| where tostring(essentials.monitorCondition) == 'Fired'",
    `| where tostring(essentials.alertRule) in~ (${ruleIds.map((id) => JSON.stringify(id)).join(', ')})`,
    '| project Severity = tostring(essentials.severity), Since = todatetime(essentials.startDateTime), Alert = tostring(essentials.description)',
    '| order by Severity asc, Since asc',
  ].join('\n');

export interface LogChart {
  readonly name: string;
  readonly title: string;
  readonly query: string;
  readonly workspaceId: string;
}

export const logChartItem = ({ name, title, query, workspaceId }: LogChart): WorkbookItem => ({
  type: 3,
  content: {
    ...{ version: 'KqlItem/1.0', query, size: 1, title, timeContextFromParameter: RANGE },
    ...{ queryType: 0, resourceType: WORKSPACE, crossComponentResources: [workspaceId] },
    visualization: 'timechart',
  },
  customWidth: '33',
  name,
});

export interface MetricChart {
  readonly name: string;
  readonly title: string;
  readonly namespace: string;
  readonly resourceId: string;
  readonly figures: readonly { readonly metric: string; readonly aggregation: keyof typeof AGGREGATIONS }[];
  /** Shows the figures of one event hub alone. */
  readonly hub?: string;
}

export const metricChartItem = ({ name, title, namespace, resourceId, figures, hub }: MetricChart): WorkbookItem => ({
  type: 10,
  content: {
    ...{ chartId: name, version: 'MetricsItem/2.0', size: 1, chartType: 2, metricScope: 0, title },
    resourceType: namespace.toLowerCase(),
    resourceIds: [resourceId],
    timeContextFromParameter: RANGE,
    timeContext: { durationMs: 0 },
    metrics: figures.map(({ metric, aggregation }) => ({
      namespace: namespace.toLowerCase(),
      metric: `${namespace.toLowerCase()}--${metric}`,
      aggregation: AGGREGATIONS[aggregation],
    })),
    ...(hub === undefined ? {} : { filters: [{ key: 'EntityName', operator: 0, values: [hub] }] }),
  },
  customWidth: '33',
  name,
});

export function workbookJson(items: readonly WorkbookItem[], workspaceId: string): string {
  return JSON.stringify(
    {
      version: 'Notebook/1.0',
      items,
      fallbackResourceIds: [workspaceId],
      $schema: 'https://github.com/Microsoft/Application-Insights-Workbooks/blob/master/schema/workbook.json',
    },
    null,
    2,
  );
}
