/** CloudWatch namespace (EMF); name and default value of the one dimension that every metric carries. */
export const METRICS_NAMESPACE = 'chargeonce';
export const METRICS_DIMENSION = 'Service';
export const METRICS_SERVICE = 'chargeonce';

/**
 * Metrics the runtime emits: Prometheus name (key `prom`) and EMF name (key `emf`). A name in `_total` is a counter, any
 * other a gauge. `unit` is CloudWatch's; absent: Count. `peak`: a line of metrics has the highest value since the line
 * before. Each one is written in every line, as 0 when nothing happened: a missing figure means that the worker is gone.
 */
export const METRICS = {
  ready: { prom: 'chargeonce_ready', emf: 'Ready', help: 'Gauge: 1 while the worker is ready', labels: [] },
  events: {
    prom: 'chargeonce_events_total',
    emf: 'Events',
    help: 'Deliveries decoded, by outcome',
    labels: ['outcome'],
  },
  charges: { prom: 'chargeonce_charges_total', emf: 'Charges', help: 'Rows ended, by status', labels: ['status'] },
  unknown: {
    prom: 'chargeonce_unknown_outcomes_total',
    emf: 'UnknownOutcomes',
    help: 'Stripe calls whose outcome is not known',
    labels: [],
  },
  duplicates: {
    prom: 'chargeonce_duplicates_total',
    emf: 'Duplicates',
    help: 'Deliveries of an identity already billed',
    labels: [],
  },
  conflicts: {
    prom: 'chargeonce_conflicts_total',
    emf: 'Conflicts',
    help: 'Deliveries with another amount or currency than the billed one',
    labels: [],
  },
  deadLetters: {
    prom: 'chargeonce_dead_letters_total',
    emf: 'DeadLetters',
    help: 'Deliveries that are no event',
    labels: [],
  },
  alarms: {
    prom: 'chargeonce_alarms_total',
    emf: 'Alarms',
    help: 'Answers that must not happen, by name',
    labels: ['name'],
  },
  parked: { prom: 'chargeonce_parked_total', emf: 'Parked', help: 'Pending rows the checkpoint passed', labels: [] },
  halted: { prom: 'chargeonce_halted', emf: 'Halted', help: 'Gauge: 1 while Stripe refuses the key', labels: [] },
  inFlight: {
    prom: 'chargeonce_charges_in_flight',
    emf: 'ChargesInFlight',
    help: 'Gauge: charges being made now',
    labels: [],
  },
  stripeCalls: {
    prom: 'chargeonce_stripe_calls_total',
    emf: 'StripeCalls',
    help: 'Requests sent to Stripe, by endpoint and answer',
    labels: ['endpoint', 'answer'],
  },
  ledgerStatements: {
    prom: 'chargeonce_ledger_statements_total',
    emf: 'LedgerStatements',
    help: 'Statements sent to the ledger, by name',
    labels: ['statement'],
  },
  leasesHeld: {
    prom: 'chargeonce_leases_held',
    emf: 'LeasesHeld',
    help: 'Gauge: leases held by this worker',
    labels: [],
  },
  leasesLost: {
    prom: 'chargeonce_leases_lost_total',
    emf: 'LeasesLost',
    help: 'Leases lost to another worker or to the clock',
    labels: ['reason'],
  },
  leasesTaken: {
    prom: 'chargeonce_leases_taken_total',
    emf: 'LeasesTaken',
    help: 'Leases taken, by how',
    labels: ['how'],
  },
  leaseRenewals: {
    prom: 'chargeonce_lease_renewals_total',
    emf: 'LeaseRenewals',
    help: 'Renewals, by result',
    labels: ['result'],
  },
  foreignItems: {
    prom: 'chargeonce_lease_table_foreign_items',
    emf: 'ForeignLeaseItems',
    help: 'Gauge: items of the lease table that are no lease',
    labels: [],
  },
  millisBehindLatest: {
    prom: 'chargeonce_millis_behind_latest',
    emf: 'MillisBehindLatest',
    help: 'Gauge: how far the slowest partition is behind',
    labels: [],
    unit: 'Milliseconds',
  },
  checkpoints: { prom: 'chargeonce_checkpoints_total', emf: 'Checkpoints', help: 'Checkpoints written', labels: [] },
  checkpointFailures: {
    prom: 'chargeonce_checkpoint_failures_total',
    emf: 'CheckpointFailures',
    help: 'Checkpoints that the store did not take; the write is made again with the position of then',
    labels: [],
  },
  silentPartitions: {
    prom: 'chargeonce_silent_partitions_total',
    emf: 'SilentPartitions',
    help: 'Partitions that delivered nothing although the hub had more; the connection was made anew',
    labels: [],
  },
  consumerLag: {
    prom: 'chargeonce_consumer_lag',
    emf: 'ConsumerLag',
    help: 'Gauge: events behind the checkpoint of a partition, the largest',
    labels: [],
  },
  checkpointStall: {
    prom: 'chargeonce_checkpoint_stall_ms',
    emf: 'CheckpointStall',
    help: 'Gauge: how long the checkpoint of a partition has not moved although deliveries wait, the longest',
    labels: [],
    unit: 'Milliseconds',
  },
  leasesUnowned: {
    prom: 'chargeonce_leases_unowned',
    emf: 'LeasesUnowned',
    help: 'Gauge: shards that have no lease, or whose lease nobody holds, as this worker sees the table',
    labels: [],
  },
  leaseRenewalTime: {
    prom: 'chargeonce_lease_renewal_ms',
    emf: 'LeaseRenewalTime',
    help: 'Gauge: how long the last renewal of a lease took, its repeats included',
    labels: [],
    unit: 'Milliseconds',
    peak: true,
  },
  unresolvedRows: {
    prom: 'chargeonce_unresolved_rows',
    emf: 'UnresolvedRows',
    help: 'Gauge: rows of the whole ledger whose outcome has been open for longer than PARK_AFTER_MS',
    labels: [],
  },
  ledgerFailures: {
    prom: 'chargeonce_ledger_failures_total',
    emf: 'LedgerFailures',
    help: 'Statements that the ledger did not answer; each is repeated',
    labels: [],
  },
  eventLoopDelay: {
    prom: 'chargeonce_event_loop_delay_ms',
    emf: 'EventLoopDelay',
    help: 'Gauge: how long the process stood still, the longest since it was last asked',
    labels: [],
    unit: 'Milliseconds',
    peak: true,
  },
} as const;
export type MetricName = keyof typeof METRICS;

/** Values of a label that are EMF metrics of their own: CloudWatch sees sums over labels only. */
export const METRICS_BY_LABEL = {
  chargesCharged: { of: 'charges', label: 'status', value: 'charged', emf: 'ChargesCharged' },
  chargesProcessing: { of: 'charges', label: 'status', value: 'processing', emf: 'ChargesProcessing' },
  chargesActionRequired: { of: 'charges', label: 'status', value: 'action_required', emf: 'ChargesActionRequired' },
  chargesDeclined: { of: 'charges', label: 'status', value: 'card_declined', emf: 'ChargesDeclined' },
  chargesRejected: { of: 'charges', label: 'status', value: 'rejected', emf: 'ChargesRejected' },
  chargesCapBlocked: { of: 'charges', label: 'status', value: 'cap_blocked', emf: 'ChargesCapBlocked' },
  renewalsThrottled: { of: 'leaseRenewals', label: 'result', value: 'throttled', emf: 'LeaseRenewalsThrottled' },
  stripeRateLimited: { of: 'stripeCalls', label: 'answer', value: 'busy_rate', emf: 'StripeRateLimited' },
  stripeServerErrors: { of: 'stripeCalls', label: 'answer', value: 'server_error', emf: 'StripeServerErrors' },
  stripeSilence: { of: 'stripeCalls', label: 'answer', value: 'no_answer', emf: 'StripeNoAnswer' },
} as const satisfies Readonly<Record<string, { of: MetricName; label: string; value: string; emf: string }>>;
export type LabelledMetricName = keyof typeof METRICS_BY_LABEL;
