/**
 * What each alarm means and what to do first: the text that the person on call reads. `page` wakes somebody; `warn` waits
 * for the morning.
 */
export type AlarmSeverity = 'page' | 'warn';

export interface AlarmText {
  readonly severity: AlarmSeverity;
  /** For lists: a few words. */
  readonly title: string;
  readonly means: string;
  readonly firstStep: string;
}

export const ALARM_TEXTS = {
  lagWarning: {
    severity: 'warn',
    title: 'Charging lags behind',
    means: 'Events wait longer than usual before they are charged. Nothing is lost.',
    firstStep:
      'Compare events with charges on the dashboard: more events need more shards and tasks, fewer charges point to Stripe or the ledger.',
  },
  lagCritical: {
    severity: 'page',
    title: 'Events will expire unread',
    means:
      'A large part of the time that the stream keeps events has passed without them being read. What expires unread is lost.',
    firstStep:
      'Raise the retention of the stream at once (up to 365 days, no downtime), then look for the cause in the other alarms.',
  },
  streamWriteThrottled: {
    severity: 'warn',
    title: 'Producers are throttled',
    means: 'The stream refuses writes because a shard is full. A producer that does not retry loses events.',
    firstStep: 'Spread the partition keys or add shards, and check that producers retry the entries that failed.',
  },
  streamPutFailed: {
    severity: 'warn',
    title: 'Records are not accepted',
    means: 'PutRecords answers with failed entries. A producer that does not resend them loses events.',
    firstStep: 'Check that producers retry the entries that failed, and look at the health of Kinesis in this region.',
  },
  streamReadThrottled: {
    severity: 'warn',
    title: 'Reading is throttled',
    means: 'More readers share the stream than its shards can serve (five reads and 2 MB a second each).',
    firstStep: 'Find the other consumers of this stream and move them to enhanced fan-out.',
  },
  leaseWritesThrottled: {
    severity: 'warn',
    title: 'Lease table refuses writes',
    means:
      'Renewals of leases are throttled. When it lasts, workers lose their leases and read again from the last checkpoint; nobody is charged twice.',
    firstStep: 'Raise the write capacity of the lease table, or switch it to on-demand.',
  },
  leaseReadsThrottled: {
    severity: 'warn',
    title: 'Lease table refuses reads',
    means: 'Workers cannot see who holds which shard, so the shards of a dead worker stay unread for longer.',
    firstStep: 'Raise the read capacity of the lease table, or switch it to on-demand.',
  },
  leaseIndexThrottled: {
    severity: 'warn',
    title: 'Lease index refuses writes',
    means: 'A throttled index throttles the table too: leases cannot change hands.',
    firstStep: 'Raise the write capacity of the index by owner, or switch the table to on-demand.',
  },
  leaseTableErrors: {
    severity: 'warn',
    title: 'DynamoDB fails',
    means: 'DynamoDB answers lease renewals with errors of its own. When it lasts, leases are lost.',
    firstStep: 'Look at the health of DynamoDB in this region. Workers retry; there is nothing to restart.',
  },
  workersGone: {
    severity: 'page',
    title: 'No worker is ready',
    means: 'For five minutes no worker has said that it is ready: nothing is charged. Events wait on the stream.',
    firstStep:
      'Look at the events of the ECS service and at the last lines of its log: a task that cannot start or is not ready says why.',
  },
  tasksMissing: {
    severity: 'warn',
    title: 'Fewer tasks than wanted',
    means: 'Fewer tasks run than the service wants. The others read their shards.',
    firstStep: 'Look at the stopped tasks of the ECS service: each one says why it stopped.',
  },
  memoryHigh: {
    severity: 'warn',
    title: 'Memory is running out',
    means: 'The tasks use most of their memory. A task that runs out is killed and replaced; nobody is charged twice.',
    firstStep: 'Raise memoryLimitMiB of the consumer.',
  },
  eventLoopSlow: {
    severity: 'warn',
    title: 'A worker stands still',
    means: 'A worker was unable to do anything for a large part of a lease. A longer stop loses its leases.',
    firstStep:
      'Raise the CPU units of the tasks. If that does not help, report it with a log of that time (LOG_LEVEL debug).',
  },
  renewalsSlow: {
    severity: 'warn',
    title: 'Lease renewals are slow',
    means: 'Renewals take longer than the time between two of them, a third of a lease. Slower ones lose leases.',
    firstStep:
      'Look for throttles of the lease table, then at the network between the tasks and DynamoDB (a gateway endpoint helps).',
  },
  leasesLost: {
    severity: 'warn',
    title: 'Leases are lost',
    means:
      'Workers lose shards to each other or to the clock, again and again. Events are read twice, and charged once.',
    firstStep:
      'Read the reason in the log ("lease lost"): stolen points to workers that come and go, expired to a slow table or a stalled process.',
  },
  leasesUnowned: {
    severity: 'page',
    title: 'Shards are not read',
    means: 'Some shards have had no reader for minutes. Their events wait, and expire at last.',
    firstStep:
      'Check that as many tasks run as are wanted and read "why not ready" of their log; a foreign item in the lease table or a KCL 3 migration makes workers refuse.',
  },
  checkpointStalled: {
    severity: 'page',
    title: 'A shard does not move on',
    means:
      'A shard has events in hand that it has neither charged nor parked for a long time; what lies behind them waits.',
    firstStep: 'Look whether the ledger answers and whether Stripe accepts the key; both stop the work on purpose.',
  },
  unresolvedRows: {
    severity: 'page',
    title: 'Outcomes are not known',
    means:
      'Rows have been pending for so long that their outcome is in doubt. The reconciler asks Stripe about them again and again; none is charged twice.',
    firstStep:
      'Run the verb reconcile in the ops task: it lists the rows with their reasons, and with --apply asks Stripe about each one.',
  },
  stripeRefusesKey: {
    severity: 'page',
    title: 'Stripe refuses the key',
    means:
      'Stripe answers 401 or 403: the key was rolled, has expired or lacks a permission. Charging stands still; nothing is lost.',
    firstStep:
      'Put a valid restricted key into the secret and force a new deployment of the service; the log names the missing permission.',
  },
  impossibleAnswers: {
    severity: 'page',
    title: 'Stripe and the ledger disagree',
    means: 'Stripe answered something that must not happen, such as a successful charge that the row cannot take.',
    firstStep:
      'Search the log for "alarm": it names the customer, the period and the intent. Compare that intent in Stripe with the row before anything else.',
  },
  capBlocked: {
    severity: 'page',
    title: 'The spend cap blocks charges',
    means: 'A billing period has reached its spend cap; further charges are held back as cap_blocked rows.',
    firstStep:
      'Find out whether the amounts are right before you think of the cap: this is what stops a runaway biller.',
  },
  deadLetters: {
    severity: 'warn',
    title: 'Deliveries are no events',
    means:
      'Records could not be read as billing events. They are kept with their bytes and the reason, and are not charged.',
    firstStep: 'Read the reason in the table dead_letters, repair the producer, and publish what was meant again.',
  },
  conflicts: {
    severity: 'warn',
    title: 'Two amounts for one bill',
    means:
      'Events name another amount or currency than what was billed for the same customer and period. They are recorded, never charged.',
    firstStep: 'Compare the rows of the table billing_conflicts with what the producer meant; the first event stands.',
  },
  rejectedCharges: {
    severity: 'warn',
    title: 'Stripe rejects requests',
    means: 'Stripe rejects charges as invalid, for example because a customer does not exist or has no payment method.',
    firstStep: 'Read the column error of the rows with status rejected.',
  },
  ledgerUnavailable: {
    severity: 'page',
    title: 'The ledger does not answer',
    means: 'The database has not answered statements for minutes. Charging stands still; nothing is lost.',
    firstStep:
      'Look at the state of the database and at its security groups; workers go on by themselves when it answers.',
  },
  ledgerStorageLow: {
    severity: 'page',
    title: 'The disk of the ledger is nearly full',
    means: 'The storage of the database is nearly used up, and did not grow by itself. A full disk stops all charging.',
    firstStep: 'Raise the allocated storage of the database (and its maximum): RDS grows it without downtime.',
  },
  ledgerCpuHigh: {
    severity: 'warn',
    title: 'The CPU of the ledger is busy',
    means: 'The database uses most of its CPU; statements become slow.',
    firstStep: 'See in the database log and in pg_stat_activity what else runs there, then choose a larger instance.',
  },
  ledgerConnectionsHigh: {
    severity: 'warn',
    title: 'The ledger has many connections',
    means: 'More connections are open than the workers need. A database without free connections refuses workers.',
    firstStep: 'Look at pg_stat_activity for who else is connected.',
  },
  ledgerMemoryLow: {
    severity: 'warn',
    title: 'The memory of the ledger is low',
    means: 'The database has little memory left; it may be restarted by RDS.',
    firstStep: 'Choose a larger instance.',
  },
} as const satisfies Readonly<Record<string, AlarmText>>;

/** An alarm, as `disable` and `alarms` name it. */
export type AlarmName = keyof typeof ALARM_TEXTS;

export const ALARM_NAMES = Object.keys(ALARM_TEXTS) as AlarmName[];

/** What the alarm itself says: `[page] title. Meaning. First: what to do.` CloudWatch allows 1024 characters. */
export function alarmDescription(name: AlarmName, condition: string): string {
  const { severity, title, means, firstStep } = ALARM_TEXTS[name];
  return `[${severity}] ${title} (${condition}). ${means} First: ${firstStep}`;
}
