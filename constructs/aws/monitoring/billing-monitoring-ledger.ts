/** Alarms on what RDS says of the ledger. A database that is known by its secret alone has no metrics of its own. */
import { Duration, Size } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { BUSY_PERCENT, connectionsLimit } from '../../shared/alarm-limits';
import type { AlarmName } from '../../shared/alarm-texts';
import type { ILedgerDatabase } from '../ledger/ledger-login';
import type { AlarmSpec } from './billing-monitoring-alarm';

/** RDS grows a disk by itself when a tenth is free, 2 GiB of the smallest: below that it did not. */
const STORAGE_LIMIT = Size.gibibytes(2);
const MEMORY_LIMIT = Size.mebibytes(256);

type Figure = (options: cloudwatch.MetricOptions) => cloudwatch.Metric;

/** The figures that both kinds of server have, and the free disk that only an instance has. */
export interface LedgerFigures {
  readonly cpu: Figure;
  readonly connections: Figure;
  readonly memory: Figure;
  readonly storage?: Figure;
}

/** Undefined: CloudWatch cannot be asked about this database. */
export function ledgerFigures({ instance, cluster }: ILedgerDatabase): LedgerFigures | undefined {
  const server = instance ?? cluster;
  if (server === undefined) return undefined;
  return {
    cpu: (options) => server.metricCPUUtilization(options),
    connections: (options) => server.metricDatabaseConnections(options),
    memory: (options) => server.metricFreeableMemory(options),
    ...(instance === undefined ? {} : { storage: (options) => instance.metricFreeStorageSpace(options) }),
  };
}

export function ledgerAlarms(figures: LedgerFigures, desiredCount: number): AlarmSpec[] {
  const period = Duration.minutes(5);
  const alarm = (name: AlarmName, metric: cloudwatch.Metric, limit: AlarmSpec['limit'], unit: string): AlarmSpec => ({
    name,
    metric,
    limit,
    unit,
    periods: 3,
    missing: cloudwatch.TreatMissingData.IGNORE,
  });
  const least = { period, statistic: cloudwatch.Stats.MINIMUM };
  const usual = { period, statistic: cloudwatch.Stats.AVERAGE };
  const most = { period, statistic: cloudwatch.Stats.MAXIMUM };
  const connections = { above: connectionsLimit(desiredCount) };
  return [
    ...(figures.storage === undefined
      ? []
      : [alarm('ledgerStorageLow', figures.storage(least), { below: STORAGE_LIMIT.toBytes() }, 'bytes')]),
    alarm('ledgerCpuHigh', figures.cpu(usual), { above: BUSY_PERCENT }, '%'),
    alarm('ledgerConnectionsHigh', figures.connections(most), connections, 'connections'),
    alarm('ledgerMemoryLow', figures.memory(least), { below: MEMORY_LIMIT.toBytes() }, 'bytes'),
  ];
}
