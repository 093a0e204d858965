/**
 * Names that the constructs and the runtime share. Nothing here imports anything.
 *
 * Glossary (the field's standard terms; each word means one thing everywhere):
 * - event: what the producer meant. Delivery: one arrival of it.
 * - position: sequence number or offset of a delivery, a string. Partition: shard, partition or queue.
 * - lease, ownership: who reads a partition. Claim: who charges a row. Fence: which claim is the newest.
 * - attempt: one intent to charge. Verdict: charged, not charged or unknown.
 * - checkpoint: the position below which everything in a partition is finished.
 * - dead letter: a delivery that is no event. Conflict: a second amount for a billed identity.
 * - cap: the most a period may cost. Reservation (hold): the part of it that a row keeps for itself.
 */

export { CRASH_POINTS, type CrashPoint } from './crash-points';
export { ENVIRONMENT, type EnvironmentName } from './environment';
export { EVENT_VERSION } from './event';
export {
  fitsOneTable,
  kclWrites,
  LEASES_PER_SHARD,
  type LeaseTableLoad,
  type LeaseTableSize,
  leaseTableSize,
  mostShards,
  ON_DEMAND_START_WRITES,
  onDemandShards,
  renewalSeconds,
  scanSeconds,
  TABLE_QUOTA,
} from './lease-table-size';
export {
  type LabelledMetricName,
  METRICS,
  METRICS_BY_LABEL,
  METRICS_DIMENSION,
  METRICS_NAMESPACE,
  METRICS_SERVICE,
  type MetricName,
} from './metrics';
export { RDS_ROOT_REGIONS } from './rds-roots';
export { MIN_RETENTION_HOURS } from './retention';
export { ROW_STATUSES, type RowStatus } from './row-status';
