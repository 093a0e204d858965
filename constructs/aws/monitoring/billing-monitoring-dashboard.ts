/** The dashboard: what is wrong on top, then the journey of an event from left to right and from top to bottom. */
import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { ALARM_TEXTS, type AlarmName } from '../../shared/alarm-texts';
import type { ConsumerMetricName } from '../../shared/metric-names';
import { consumerMetric } from '../consumer/consumer-metrics';
import type { AlarmSpec } from './billing-monitoring-alarm';
import type { LedgerFigures } from './billing-monitoring-ledger';
import type { BillingMonitoringProps } from './billing-monitoring-props';

export interface DashboardParts extends Pick<BillingMonitoringProps, 'consumer' | 'stream' | 'leaseTable'> {
  readonly figures: LedgerFigures | undefined;
  /** Those that were made, the composite one first. */
  readonly alarms: readonly cloudwatch.IAlarm[];
  /** Of the alarms that were made: their limits are drawn. */
  readonly specs: readonly AlarmSpec[];
}

/** Three widgets a row; CloudWatch's grid is 24 wide. */
const WIDTH = 8;
const HEIGHT = 6;
const FULL = 3 * WIDTH;
const MINUTE = Duration.minutes(1);
const SUM = cloudwatch.Stats.SUM;

export function dashboardRows(parts: DashboardParts): cloudwatch.ConcreteWidget[][] {
  return [
    [help(parts)],
    [
      new cloudwatch.AlarmStatusWidget({
        title: 'State of the alarms',
        alarms: [...parts.alarms],
        width: FULL,
        height: 5,
      }),
    ],
    lagRow(parts),
    leaseRow(parts),
    outcomeRow(parts),
    stripeRow(parts),
    ledgerRow(parts),
    processRow(parts),
  ];
}

function help({ consumer }: DashboardParts): cloudwatch.ConcreteWidget {
  return new cloudwatch.TextWidget({
    width: FULL,
    height: 5,
    markdown: [
      '### Billing',
      'Waiting is safe: whatever stands still, events wait on the stream and nobody is charged twice. The description of',
      'an alarm says what it means and what to do first; all of them: `docs/operations.md` of chargeonce.',
      '',
      'Verbs next to the ledger (put yours, such as `"reconcile"`, in place of `"--help"`):',
      '',
      '```',
      consumer.opsTask.command,
      '```',
    ].join('\n'),
  });
}

interface Graph {
  readonly title: string;
  readonly unit: string;
  /** By label. */
  readonly figures: Readonly<Record<string, cloudwatch.IMetric | undefined>>;
  /** Whose limits are drawn, when they were made. */
  readonly limits?: readonly AlarmName[];
}

function graph({ specs }: DashboardParts, { title, unit, figures, limits = [] }: Graph): cloudwatch.ConcreteWidget {
  const left = Object.entries(figures).flatMap(([label, metric]) => (metric ? [labelled(metric, label)] : []));
  const drawn = specs.filter(({ name }) => limits.includes(name));
  return new cloudwatch.GraphWidget({
    title,
    left,
    leftYAxis: { label: unit, min: 0, showUnits: false },
    leftAnnotations: drawn.map(({ name, limit }) => ({
      value: 'above' in limit ? limit.above : limit.below,
      label: ALARM_TEXTS[name].title,
      color: ALARM_TEXTS[name].severity === 'page' ? cloudwatch.Color.RED : cloudwatch.Color.ORANGE,
    })),
    width: WIDTH,
    height: HEIGHT,
  });
}

const labelled = (metric: cloudwatch.IMetric, label: string): cloudwatch.IMetric =>
  metric instanceof cloudwatch.Metric ? metric.with({ label }) : metric;

/** Figures of the workers, by label. */
function own(parts: DashboardParts, names: Readonly<Record<string, ConsumerMetricName>>) {
  const service = parts.consumer.metricsService;
  return Object.fromEntries(Object.entries(names).map(([label, name]) => [label, consumerMetric(service, name)]));
}

function lagRow(parts: DashboardParts): cloudwatch.ConcreteWidget[] {
  const { stream, consumer } = parts;
  const reading = {
    'as Kinesis sees it': stream?.metricIteratorAge(),
    ...own(parts, { 'as workers see it': 'millisBehindLatest' }),
  };
  const events = consumerMetric(consumer.metricsService, 'events');
  const refused = {
    'writes throttled': stream?.metricWriteThrottled(),
    'records failed': stream?.metricPutRecordsFailed(),
  };
  return [
    graph(parts, { title: 'Lag', unit: 'ms', figures: reading, limits: ['lagWarning', 'lagCritical'] }),
    graph(parts, {
      title: 'Deliveries',
      unit: 'a minute',
      figures: { read: events, ...own(parts, { 'already billed': 'duplicates' }) },
    }),
    ...(stream ? [graph(parts, { title: 'Refused by the stream', unit: 'a minute', figures: refused })] : []),
  ];
}

function leaseRow(parts: DashboardParts): cloudwatch.ConcreteWidget[] {
  const { leaseTable, consumer } = parts;
  const held = { held: consumerMetric(consumer.metricsService, 'leasesHeld', { statistic: SUM }) };
  const states = own(parts, { 'without a reader': 'leasesUnowned', lost: 'leasesLost' });
  const writes = own(parts, { 'renewals throttled': 'renewalsThrottled' });
  const slow = own(parts, { 'longest renewal': 'leaseRenewalTime', 'checkpoint stands still': 'checkpointStall' });
  return [
    graph(parts, { title: 'Leases', unit: 'leases', figures: { ...held, ...states } }),
    graph(parts, {
      title: 'Renewals and checkpoints',
      unit: 'ms',
      figures: slow,
      limits: ['renewalsSlow', 'checkpointStalled'],
    }),
    graph(parts, {
      title: 'Lease table',
      unit: 'a minute',
      figures: { 'refused requests': leaseTable?.metricThrottled(), ...writes },
    }),
  ];
}

function outcomeRow(parts: DashboardParts): cloudwatch.ConcreteWidget[] {
  const ended = own(parts, {
    charged: 'chargesCharged',
    processing: 'chargesProcessing',
    'action required': 'chargesActionRequired',
    declined: 'chargesDeclined',
  });
  const person = own(parts, {
    'cap blocked': 'chargesCapBlocked',
    rejected: 'chargesRejected',
    'dead letters': 'deadLetters',
    conflicts: 'conflicts',
    impossible: 'alarms',
  });
  const open = own(parts, { unresolved: 'unresolvedRows', parked: 'parked', 'without a verdict': 'unknown' });
  return [
    graph(parts, { title: 'Charges by outcome', unit: 'a minute', figures: ended }),
    graph(parts, { title: 'For a person to look at', unit: 'a minute', figures: person }),
    graph(parts, { title: 'Outcome not known', unit: 'rows', figures: open }),
  ];
}

function stripeRow(parts: DashboardParts): cloudwatch.ConcreteWidget[] {
  const requests = own(parts, {
    all: 'stripeCalls',
    'rate limited': 'stripeRateLimited',
    'server errors': 'stripeServerErrors',
    'without answer': 'stripeSilence',
  });
  return [
    graph(parts, { title: 'Requests to Stripe', unit: 'a minute', figures: requests }),
    graph(parts, {
      title: 'Charges in flight',
      unit: 'of one worker',
      figures: own(parts, { 'in flight': 'inFlight' }),
    }),
    graph(parts, { title: 'Key refused', unit: '1: refused', figures: own(parts, { refused: 'halted' }) }),
  ];
}

function ledgerRow(parts: DashboardParts): cloudwatch.ConcreteWidget[] {
  const { figures } = parts;
  const statements = own(parts, { sent: 'ledgerStatements', 'without answer': 'ledgerFailures' });
  const ours = graph(parts, { title: 'Ledger: statements', unit: 'a minute', figures: statements });
  if (figures === undefined) return [ours];
  const load = { 'CPU %': figures.cpu({ period: MINUTE }), connections: figures.connections({ period: MINUTE }) };
  const space = { memory: figures.memory({ period: MINUTE }), storage: figures.storage?.({ period: MINUTE }) };
  return [
    ours,
    graph(parts, { title: 'Ledger: load', unit: '% and connections', figures: load, limits: ['ledgerCpuHigh'] }),
    graph(parts, {
      title: 'Ledger: free space',
      unit: 'bytes',
      figures: space,
      limits: ['ledgerStorageLow', 'ledgerMemoryLow'],
    }),
  ];
}

function processRow(parts: DashboardParts): cloudwatch.ConcreteWidget[] {
  const { service, metricsService } = parts.consumer;
  const ready = { ready: consumerMetric(metricsService, 'ready', { statistic: SUM }) };
  const most = { period: MINUTE, statistic: cloudwatch.Stats.MAXIMUM };
  const load = { memory: service.metricMemoryUtilization(most), CPU: service.metricCpuUtilization(most) };
  const stall = own(parts, { 'longest standstill': 'eventLoopDelay' });
  return [
    graph(parts, { title: 'Workers', unit: 'workers', figures: ready, limits: ['workersGone'] }),
    graph(parts, { title: 'Memory and CPU of the tasks', unit: '%', figures: load, limits: ['memoryHigh'] }),
    graph(parts, { title: 'Event loop', unit: 'ms', figures: stall, limits: ['eventLoopSlow'] }),
  ];
}
