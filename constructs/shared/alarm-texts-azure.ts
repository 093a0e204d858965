import { ALARM_TEXTS, type AlarmText } from './alarm-texts';

/**
 * What each alert of Azure means and what to do first. Where nothing of the words is a cloud's own they are those of
 * `alarm-texts.ts`; where something has the same meaning in both clouds it has the same name.
 */
export const AZURE_ALERT_TEXTS = {
  lagWarning: {
    ...ALARM_TEXTS.lagWarning,
    firstStep:
      'Compare events with charges in the workbook: more events than charges need more replicas (never more than partitions), fewer charges point to Stripe or the ledger.',
  },
  lagCritical: {
    ...ALARM_TEXTS.lagCritical,
    means:
      'A large part of the time that the event hub keeps events has passed without them being read. What expires unread is lost.',
    firstStep:
      'Raise the retention of the event hub at once (7 days on Standard, 90 on Premium; no downtime), then look for the cause in the other alerts.',
  },
  workersGone: {
    severity: 'page',
    title: 'No worker is ready',
    means: 'For ten minutes no worker has said that it is ready: nothing is charged. Events wait in the event hub.',
    firstStep:
      'Look at the revisions and the console log of the container app: a replica that cannot start or is not ready says why. When the workers are fine, look whether the log still arrives in the workspace (daily cap, diagnostic setting).',
  },
  replicasMissing: {
    severity: 'warn',
    title: 'Fewer replicas than wanted',
    means: 'Fewer replicas run than the container app wants at least. The others read their partitions.',
    firstStep: 'Look at the system log of the container app: it says why a replica was not started or was ended.',
  },
  replicasRestart: {
    severity: 'warn',
    title: 'A replica starts again and again',
    means:
      'The container of a replica has ended several times. Its partitions were read again from their checkpoints; nobody is charged twice. Azure counts for the life of a replica, so this ends when the replica is replaced.',
    firstStep: 'Read the last lines of the console log before each start: the worker says why it ended.',
  },
  memoryHigh: {
    ...ALARM_TEXTS.memoryHigh,
    means:
      'A replica uses most of its memory. A container that runs out is killed and started again; nobody is charged twice.',
    firstStep: 'Raise memory (and cpu with it) of the consumer.',
  },
  eventLoopSlow: {
    ...ALARM_TEXTS.eventLoopSlow,
    means: 'A worker was unable to do anything for a large part of the time after which others take its partitions.',
    firstStep:
      'Raise cpu (and memory with it) of the consumer. If that does not help, report it with a log of that time (LOG_LEVEL debug).',
  },
  partitionSilent: {
    severity: 'warn',
    title: 'A partition fell silent',
    means:
      'A partition delivered nothing although the event hub had more. The worker made its connection anew; nothing is lost or skipped.',
    firstStep:
      'Once in a while there is nothing to do. When it comes again for the same partition, look at the health of Event Hubs in this region.',
  },
  partitionsUnowned: {
    severity: 'page',
    title: 'Partitions are not read',
    means: 'Some partitions have had no reader for minutes. Their events wait, and expire at last.',
    firstStep:
      'Check that as many replicas run as are wanted, and read in the log why a partition is not claimed: 403 points to the role of the worker’s identity or to the network rules of the storage account.',
  },
  partitionsLost: {
    severity: 'warn',
    title: 'Partitions are lost',
    means:
      'Workers lose partitions to each other or to the clock, again and again. Events are read twice, and charged once.',
    firstStep:
      'Read the reason in the log: stolen points to replicas that come and go or to another reader of the same consumer group, expired to a slow storage account or a stalled process.',
  },
  checkpointFailures: {
    severity: 'warn',
    title: 'Checkpoints are not written',
    means:
      'The storage account does not take checkpoints. Charging goes on and nothing is lost; a worker that starts meanwhile reads again from the last checkpoint.',
    firstStep:
      'Read the reason in the log: 403 points to the role of the worker’s identity or to the network rules of the account, 503 to throttling, 412 to two readers of one partition.',
  },
  checkpointStalled: {
    ...ALARM_TEXTS.checkpointStalled,
    title: 'A partition does not move on',
    means:
      'A partition has events in hand that it has neither charged nor parked for a long time; what lies behind them waits.',
  },
  unresolvedRows: {
    ...ALARM_TEXTS.unresolvedRows,
    firstStep:
      'Run the verb reconcile in the ops job: it lists the rows with their reasons, and with --apply asks Stripe about each one.',
  },
  stripeRefusesKey: {
    ...ALARM_TEXTS.stripeRefusesKey,
    firstStep:
      'Put a valid restricted key into the secret of the key vault and restart the revision; the log names the missing permission.',
  },
  impossibleAnswers: ALARM_TEXTS.impossibleAnswers,
  capBlocked: ALARM_TEXTS.capBlocked,
  deadLetters: ALARM_TEXTS.deadLetters,
  conflicts: ALARM_TEXTS.conflicts,
  rejectedCharges: ALARM_TEXTS.rejectedCharges,
  ledgerUnavailable: {
    ...ALARM_TEXTS.ledgerUnavailable,
    firstStep:
      'Look at the state of the flexible server and at its network; workers go on by themselves when it answers.',
  },
  hubThrottled: {
    severity: 'warn',
    title: 'Event Hubs throttles',
    means:
      'The namespace refuses requests because its throughput units are used up. A producer that does not retry loses events.',
    firstStep: 'Raise capacity or maximumThroughputUnits of the namespace, and check that producers retry.',
  },
  hubServerErrors: {
    severity: 'warn',
    title: 'Event Hubs fails',
    means: 'Event Hubs answers with errors of its own. Clients retry; when it lasts, events wait.',
    firstStep: 'Look at the health of Event Hubs in this region. There is nothing to restart.',
  },
  hubUserErrors: {
    severity: 'warn',
    title: 'Event Hubs refuses clients',
    means:
      'Clients of the event hub send what it refuses: no right to send, an event that is too large, a wrong name. Such a producer loses events.',
    firstStep:
      'Turn on the diagnostic logs of the namespace and read which client is refused: most often a role assignment is missing.',
  },
  hubQuotaExceeded: {
    severity: 'warn',
    title: 'Event Hubs has no room',
    means: 'The namespace refuses what exceeds a quota, such as connections or readers of one partition.',
    firstStep: 'Look for clients that open a connection for each event, and for other readers of the consumer group.',
  },
  captureBacklog: {
    severity: 'warn',
    title: 'Capture falls behind',
    means: 'Events wait to be captured. What expires before it was captured is missing from the archive.',
    firstStep: 'Check that the container of the capture exists and that the namespace may write to it.',
  },
  storageUnavailable: {
    severity: 'warn',
    title: 'Checkpoint storage fails',
    means:
      'The storage account fails requests. Charging goes on; partitions of a dead worker stay unread for as long as it lasts.',
    firstStep: 'Look at the health of Azure Storage in this region. Workers retry; there is nothing to restart.',
  },
  storageThrottled: {
    severity: 'warn',
    title: 'Checkpoint storage is throttled',
    means: 'The storage account refuses requests as too many. Checkpoints come later; nothing is lost.',
    firstStep:
      'Look for other users of the account, which must be dedicated, and for soft delete or versioning, which must be off.',
  },
  ledgerDown: {
    severity: 'page',
    title: 'The ledger is down',
    means: 'Azure says that the database is not alive. Charging stands still; nothing is lost.',
    firstStep: 'Look at the resource health of the flexible server; a failover or a restart ends within minutes.',
  },
  ledgerStorageLow: {
    ...ALARM_TEXTS.ledgerStorageLow,
    firstStep:
      'Raise storageSizeGB of the server: Azure grows it without downtime below 4 TiB. A server that is full becomes read-only.',
  },
  ledgerCpuHigh: {
    ...ALARM_TEXTS.ledgerCpuHigh,
    firstStep: 'See in pg_stat_activity what else runs there, then choose a larger SKU.',
  },
  ledgerConnectionsHigh: ALARM_TEXTS.ledgerConnectionsHigh,
  ledgerMemoryLow: {
    ...ALARM_TEXTS.ledgerMemoryLow,
    means: 'The database has little memory left; Azure may restart it.',
    firstStep: 'Choose a larger SKU.',
  },
} as const satisfies Readonly<Record<string, AlarmText>>;

/** An alert, as `disable` and `alerts` name it. */
export type AlertName = keyof typeof AZURE_ALERT_TEXTS;

export const ALERT_NAMES = Object.keys(AZURE_ALERT_TEXTS) as AlertName[];

/** What the alert itself says. Azure allows 2048 characters. */
export function alertDescription(name: AlertName, condition: string): string {
  const { severity, title, means, firstStep } = AZURE_ALERT_TEXTS[name];
  return `[${severity}] ${title} (${condition}). ${means} First: ${firstStep}`;
}
