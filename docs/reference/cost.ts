/** What the default stack costs a month, computed from list prices. */

import { METRICS, METRICS_BY_LABEL } from '../../runtime/contract';
import { leaseTableSize } from '../../runtime/contract/lease-table-size';
import { alarmMetrics } from './default-stack';
import { table } from './table';

const HOURS = 730;
const SECONDS = HOURS * 3600;
/** What the example sends: a million events of 1 KB. */
const GIGABYTES = 1;
/** Shards that a new on-demand stream has. */
const SHARDS = 4;
const TASKS = 2;

/** US dollars in us-east-1, November 2026. */
const PRICES = {
  natHour: 0.045,
  addressHour: 0.005,
  rdsMultiAzHour: 0.13,
  rdsStorageMultiAz: 0.23,
  fargateCpuHour: 0.03238,
  fargateMemoryHour: 0.00356,
  streamHour: 0.04,
  streamIn: 0.08,
  streamOut: 0.04,
  streamKept: 0.1,
  dynamoMillionWrites: 0.625,
  dynamoMillionReads: 0.125,
  alarm: 0.1,
  composite: 0.5,
  dashboard: 3,
  customMetric: 0.3,
  logsIn: 0.5,
  secret: 0.4,
} as const;

interface Line {
  readonly what: string;
  readonly how: string;
  readonly dollars: number;
  readonly source: string;
  readonly knob: string;
}

const page = (name: string, path: string) => `[${name}](https://aws.amazon.com/${path}/pricing/)`;

function lines(): readonly Line[] {
  return [...network(), ...data(), ...compute(), ...monitoring()];
}

function network(): Line[] {
  const { natHour, addressHour } = PRICES;
  return [
    {
      what: 'NAT gateway and its address',
      how: `${HOURS} h × ($${natHour} + $${addressHour}), and $0.045 a GB`,
      dollars: HOURS * (natHour + addressHour),
      source: page('VPC', 'vpc'),
      knob: '`vpc`: your own network, with the way out that it has',
    },
  ];
}

function data(): Line[] {
  const p = PRICES;
  const size = leaseTableSize({ shards: SHARDS, workers: TASKS, leaseSeconds: 10 });
  const writes = (size.steadyWrites * SECONDS) / 1e6;
  const reads = (TASKS * 0.5 * SECONDS) / size.scanSeconds / 1e6;
  return [
    {
      what: 'Ledger: two t4g.medium',
      how: `${HOURS} h × $${p.rdsMultiAzHour}`,
      dollars: HOURS * p.rdsMultiAzHour,
      source: page('RDS for PostgreSQL', 'rds/postgresql'),
      knob: '`multiAz: false` halves it, and billing waits for a repair when a zone fails; `instanceType`',
    },
    {
      what: 'Ledger: 20 GB gp3, twice',
      how: `20 GB × $${p.rdsStorageMultiAz}`,
      dollars: 20 * p.rdsStorageMultiAz,
      source: page('RDS for PostgreSQL', 'rds/postgresql'),
      knob: '`allocatedStorage`; backups up to the size of the database are free',
    },
    {
      what: 'Stream, on demand',
      how: `${HOURS} h × $${p.streamHour} + ${GIGABYTES} GB × ($${p.streamIn} in + $${p.streamOut} out + $${p.streamKept} kept for a week)`,
      dollars: HOURS * p.streamHour + GIGABYTES * (p.streamIn + p.streamOut + p.streamKept),
      source: `${page('Kinesis', 'kinesis/data-streams')}, from memory`,
      knob: '`PROVISIONED` is dearer here: 2 shards × 730 h × ($0.015 + $0.02 for retention above a day) = $51',
    },
    {
      what: 'Lease table, on demand',
      how: `${writes.toFixed(2)} M writes × $${p.dynamoMillionWrites} + ${reads.toFixed(2)} M reads × $${p.dynamoMillionReads}`,
      dollars: writes * p.dynamoMillionWrites + reads * p.dynamoMillionReads,
      source: page('DynamoDB', 'dynamodb'),
      knob: '`maxShards`, above some tens of shards; a longer `leaseDuration`',
    },
  ];
}

function compute(): Line[] {
  const { fargateCpuHour, fargateMemoryHour, secret } = PRICES;
  return [
    {
      what: `${TASKS} tasks, 0.25 vCPU and 0.5 GB, ARM`,
      how: `${TASKS} × ${HOURS} h × (0.25 × $${fargateCpuHour} + 0.5 × $${fargateMemoryHour})`,
      dollars: TASKS * HOURS * (0.25 * fargateCpuHour + 0.5 * fargateMemoryHour),
      source: page('Fargate', 'fargate'),
      knob: '`desiredCount`, `cpu`, `memoryLimitMiB`',
    },
    {
      what: 'Secrets: Stripe key, owner of the ledger',
      how: `2 × $${secret}`,
      dollars: 2 * secret,
      source: `${page('Secrets Manager', 'secrets-manager')}, from memory`,
      knob: '',
    },
  ];
}

function monitoring(): Line[] {
  const { alarm, composite, dashboard, customMetric, logsIn } = PRICES;
  const alarms = alarmMetrics();
  const metrics = Object.keys(METRICS).length + Object.keys(METRICS_BY_LABEL).length;
  return [
    {
      what: 'Alarms',
      how: `${alarms} metrics × $${alarm} (an alarm counts for each metric it reads) + $${composite} for the composite`,
      dollars: alarms * alarm + composite,
      source: page('CloudWatch', 'cloudwatch'),
      knob: '`disable`',
    },
    {
      what: 'Metrics of the runtime',
      how: `${metrics} × $${customMetric}, however many tasks`,
      dollars: metrics * customMetric,
      source: page('CloudWatch', 'cloudwatch'),
      knob: '',
    },
    {
      what: 'Dashboard',
      how: 'the first three of an account are free',
      dollars: dashboard,
      source: page('CloudWatch', 'cloudwatch'),
      knob: '`dashboard: false`',
    },
    {
      what: 'Logs',
      how: `2 GB × $${logsIn}, an assumption: about a line for each batch, a line of metrics a minute`,
      dollars: 2 * logsIn,
      source: page('CloudWatch', 'cloudwatch'),
      knob: '`LOG_LEVEL` in `environment`, `logRetention`',
    },
  ];
}

/** The table of docs/cost.md. */
export function costTable(): string {
  const all = lines();
  const total = all.reduce((sum, { dollars }) => sum + dollars, 0);
  const rows = all.map(({ what, how, dollars, source, knob }) => [what, how, money(dollars), source, knob]);
  const head = ['part', 'computed as', 'a month', 'price page', 'knob'];
  return table(head, [...rows, ['**Sum**', '', `**${money(total)}**`, '', '']]);
}

const money = (dollars: number) => `$${dollars.toFixed(2)}`;
