/** Alerts on what Azure measures of the event hub, the checkpoint account, the container app and the database. */
import * as pulumi from '@pulumi/pulumi';
import { BUSY_PERCENT, connectionsLimit } from '../../shared/alarm-limits';
import type { AlertName } from '../../shared/alarm-texts-azure';
import type { MetricAlertSpec } from './alert-specs';
import type {
  WatchedCheckpointStore,
  WatchedConsumer,
  WatchedEventHub,
  WatchedLedger,
} from './billing-monitoring-args';

export const METRIC_NAMESPACES = {
  eventHub: 'Microsoft.EventHub/namespaces',
  blobs: 'Microsoft.Storage/storageAccounts/blobServices',
  app: 'Microsoft.App/containerApps',
  ledger: 'Microsoft.DBforPostgreSQL/flexibleServers',
} as const;

/** Event Hubs' own name for requests that reached no hub, such as those of a client without rights. */
const NO_HUB = '-NamespaceOnlyMetric-';
/** A few happen whenever a namespace grows by itself or a client connects again. */
const A_FEW = 10;
/** Azure's baseline: events that a capture of a few minutes has in hand stay below it. */
const CAPTURE_BACKLOG = 50_000_000;

type Limit = Pick<MetricAlertSpec, 'limit' | 'unit'>;
const above = (value: number, unit = ''): Limit => ({ limit: { above: value }, unit });
const below = (value: number, unit = ''): Limit => ({ limit: { below: value }, unit });

export function eventHubAlerts({
  namespaceId,
  eventHub,
  partitionCount,
  capturing,
}: WatchedEventHub): MetricAlertSpec[] {
  const hub = (name: AlertName, metric: string, limit: Limit): MetricAlertSpec => ({
    ...{ kind: 'metric', name, scope: namespaceId, namespace: METRIC_NAMESPACES.eventHub, metric, ...limit },
    aggregation: 'Total',
    windowMinutes: 15,
    dimension: { name: 'EntityName', values: [eventHub.name, NO_HUB] },
  });
  const capture: MetricAlertSpec = {
    ...hub('captureBacklog', 'CaptureBacklog', above(CAPTURE_BACKLOG)),
    aggregation: 'Average',
    windowMinutes: 60,
    dimension: { name: 'EntityName', values: [eventHub.name] },
  };
  return [
    hub('hubThrottled', 'ThrottledRequests', above(A_FEW, 'requests')),
    hub('hubServerErrors', 'ServerErrors', above(A_FEW, 'requests')),
    // A reader that gives a partition away ends with such an error, twice when it comes back.
    hub('hubUserErrors', 'UserErrors', above(A_FEW + 2 * partitionCount, 'requests')),
    hub('hubQuotaExceeded', 'QuotaExceededErrors', above(0, 'requests')),
    ...(capturing === true ? [capture] : []),
  ];
}

/** As Azure Storage names answers that say "too much". */
const THROTTLED = [
  'ServerBusyError',
  'ClientThrottlingError',
  'ClientAccountRequestThrottlingError',
  'ClientAccountBandwidthThrottlingError',
];

export function checkpointStoreAlerts({ accountId }: WatchedCheckpointStore): MetricAlertSpec[] {
  const scope = pulumi.interpolate`${accountId}/blobServices/default`;
  const blobs = { kind: 'metric', scope, namespace: METRIC_NAMESPACES.blobs, windowMinutes: 15 } as const;
  return [
    { ...blobs, name: 'storageUnavailable', metric: 'Availability', aggregation: 'Average', ...below(99, '%') },
    {
      ...{
        ...blobs,
        name: 'storageThrottled',
        metric: 'Transactions',
        aggregation: 'Total',
        ...above(A_FEW, 'requests'),
      },
      dimension: { name: 'ResponseType', values: THROTTLED },
    },
  ];
}

/** Azure counts restarts for the life of a replica. */
const RESTARTS = 3;

export function appAlerts({ app, minReplicas }: WatchedConsumer): MetricAlertSpec[] {
  const own = { kind: 'metric', scope: app.id, namespace: METRIC_NAMESPACES.app, aggregation: 'Maximum' } as const;
  return [
    { ...own, name: 'replicasMissing', metric: 'Replicas', windowMinutes: 15, ...below(minReplicas, 'replicas') },
    { ...own, name: 'replicasRestart', metric: 'RestartCount', windowMinutes: 15, ...above(RESTARTS, 'restarts') },
    { ...own, name: 'memoryHigh', metric: 'MemoryPercentage', windowMinutes: 5, ...above(BUSY_PERCENT, '%') },
  ];
}

/** Azure grows a disk by itself at four fifths: above this it did not. At 95 % it makes the server read-only. */
const STORAGE_PERCENT = 85;
const MEMORY_PERCENT = 90;

export function ledgerAlerts({ serverId }: WatchedLedger, maxReplicas: number): MetricAlertSpec[] {
  const own = { kind: 'metric', scope: serverId, namespace: METRIC_NAMESPACES.ledger, windowMinutes: 15 } as const;
  const most = { ...own, aggregation: 'Maximum' } as const;
  const usual = { ...own, aggregation: 'Average' } as const;
  return [
    { ...most, name: 'ledgerDown', metric: 'is_db_alive', ...below(1), windowMinutes: 5 },
    { ...most, name: 'ledgerStorageLow', metric: 'storage_percent', ...above(STORAGE_PERCENT, '%') },
    { ...usual, name: 'ledgerCpuHigh', metric: 'cpu_percent', ...above(BUSY_PERCENT, '%') },
    {
      ...{ ...most, name: 'ledgerConnectionsHigh', metric: 'active_connections' },
      ...above(connectionsLimit(maxReplicas), 'connections'),
    },
    { ...usual, name: 'ledgerMemoryLow', metric: 'memory_percent', ...above(MEMORY_PERCENT, '%') },
  ];
}
