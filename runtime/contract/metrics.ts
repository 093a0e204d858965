/** CloudWatch namespace (EMF) and the one dimension every metric carries. */
export const METRICS_NAMESPACE = 'chargeonce';
export const METRICS_SERVICE = 'chargeonce';

/** Metrics the runtime emits: Prometheus name (key `prom`) and EMF name (key `emf`). Counters unless said otherwise. */
export const METRICS = {
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
  },
  checkpoints: { prom: 'chargeonce_checkpoints_total', emf: 'Checkpoints', help: 'Checkpoints written', labels: [] },
} as const;
export type MetricName = keyof typeof METRICS;
