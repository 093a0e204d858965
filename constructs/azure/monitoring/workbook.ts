/** The workbook: what is wrong on top, then the journey of an event, with the figures that the alerts look at. */
import type { ConsumerMetricName } from '../../shared/metric-names';
import { nameUuid } from '../shared/name-uuid';
import { chartQuery, type MetricLines } from './metric-lines-query';
import { METRIC_NAMESPACES } from './resource-alerts';
import {
  alertsItem,
  logChartItem,
  type MetricChart,
  metricChartItem,
  textItem,
  timeRangeItem,
  type WorkbookItem,
  workbookJson,
} from './workbook-items';

/** What is drawn; each part is known, which it is at deploy at the latest. */
export interface WorkbookParts {
  /** Name of the component. */
  readonly name: string;
  readonly workspaceId: string;
  /** Ids of the alerts. */
  readonly ruleIds: readonly string[];
  readonly consumer?: { readonly lines: MetricLines; readonly appId: string; readonly opsCommand: string };
  readonly eventHub?: { readonly namespaceId: string; readonly hub: string };
  readonly checkpointStore?: { readonly accountId: string };
  readonly ledger?: { readonly serverId: string };
}

export function workbookContent(parts: WorkbookParts): string {
  const { name, workspaceId, ruleIds, consumer } = parts;
  const items: WorkbookItem[] = [
    textItem('help', help(consumer?.opsCommand)),
    timeRangeItem(nameUuid(name, 'time-range')),
    ...(ruleIds.length === 0 ? [] : [alertsItem('alerts', 'Alerts that are fired', ruleIds)]),
    ...(consumer === undefined ? [] : workerCharts(consumer.lines, workspaceId)),
    ...resourceCharts(parts).map(metricChartItem),
  ];
  return workbookJson(items, workspaceId);
}

function help(opsCommand: string | undefined): string {
  const text = [
    '## Billing',
    'Waiting is safe: whatever stands still, events wait in the event hub and nobody is charged twice. The description of',
    'an alert says what it means and what to do first; all of them: `docs/operations.md` of chargeonce.',
  ];
  if (opsCommand === undefined) return text.join('\n');
  return [...text, '', 'Verbs next to the ledger:', '', '```', opsCommand, '```'].join('\n');
}

/** Charts of the workers' own figures: title → figures by label. */
const CHARTS: Readonly<Record<string, Readonly<Record<string, ConsumerMetricName>>>> = {
  'Lag, in ms': { behind: 'millisBehindLatest' },
  'Lag, in events of the slowest partition': { 'not yet past the checkpoint': 'consumerLag' },
  'Deliveries a minute': { read: 'events', 'already billed': 'duplicates' },
  'Charges by outcome': {
    charged: 'chargesCharged',
    processing: 'chargesProcessing',
    'action required': 'chargesActionRequired',
    declined: 'chargesDeclined',
  },
  'For a person to look at': {
    'cap blocked': 'chargesCapBlocked',
    rejected: 'chargesRejected',
    'dead letters': 'deadLetters',
    conflicts: 'conflicts',
    impossible: 'alarms',
  },
  'Outcome not known': { unresolved: 'unresolvedRows', parked: 'parked', 'without a verdict': 'unknown' },
  Partitions: {
    'without a reader': 'leasesUnowned',
    lost: 'leasesLost',
    taken: 'leasesTaken',
    silent: 'silentPartitions',
  },
  'Checkpoints a minute': { written: 'checkpoints', failed: 'checkpointFailures' },
  'Longest stop of a checkpoint, in ms': { stands: 'checkpointStall' },
  'Requests to Stripe': {
    all: 'stripeCalls',
    'rate limited': 'stripeRateLimited',
    'server errors': 'stripeServerErrors',
    'without answer': 'stripeSilence',
  },
  'Charges in flight': { 'in flight': 'inFlight', 'key refused': 'halted' },
  'Statements of the ledger': { sent: 'ledgerStatements', 'without answer': 'ledgerFailures' },
};

function workerCharts(lines: MetricLines, workspaceId: string): WorkbookItem[] {
  return Object.entries(CHARTS).map(([title, figures], index) =>
    logChartItem({ name: `workers-${index + 1}`, title, query: chartQuery(lines, figures), workspaceId }),
  );
}

function resourceCharts({ consumer, eventHub, checkpointStore, ledger }: WorkbookParts): MetricChart[] {
  const charts: (MetricChart | undefined)[] = [
    eventHub && {
      ...{ name: 'hub-traffic', title: 'Event hub: events', namespace: METRIC_NAMESPACES.eventHub },
      ...{ resourceId: eventHub.namespaceId, hub: eventHub.hub },
      figures: total('IncomingMessages', 'OutgoingMessages'),
    },
    eventHub && {
      ...{ name: 'hub-refusals', title: 'Event Hubs: refused requests', namespace: METRIC_NAMESPACES.eventHub },
      resourceId: eventHub.namespaceId,
      figures: total('ThrottledRequests', 'ServerErrors', 'UserErrors', 'QuotaExceededErrors'),
    },
    checkpointStore && {
      ...{ name: 'storage', title: 'Checkpoint storage: requests', namespace: METRIC_NAMESPACES.blobs },
      resourceId: `${checkpointStore.accountId}/blobServices/default`,
      figures: total('Transactions'),
    },
    consumer && {
      ...{ name: 'replicas', title: 'Replicas and restarts', namespace: METRIC_NAMESPACES.app },
      resourceId: consumer.appId,
      figures: most('Replicas', 'RestartCount'),
    },
    ledger && {
      ...{ name: 'ledger-load', title: 'Ledger: load in percent', namespace: METRIC_NAMESPACES.ledger },
      resourceId: ledger.serverId,
      figures: most('cpu_percent', 'memory_percent', 'storage_percent'),
    },
    ledger && {
      ...{ name: 'ledger-connections', title: 'Ledger: connections', namespace: METRIC_NAMESPACES.ledger },
      resourceId: ledger.serverId,
      figures: most('active_connections'),
    },
  ];
  return charts.filter((chart) => chart !== undefined);
}

const total = (...metrics: string[]) => metrics.map((metric) => ({ metric, aggregation: 'Total' as const }));
const most = (...metrics: string[]) => metrics.map((metric) => ({ metric, aggregation: 'Maximum' as const }));
