/** `chargeonce size`: how large something has to be. One thing a noun; each says what to type. */
import {
  kclWrites,
  type LeaseTableSize,
  leaseTableSize,
  mostShards,
  onDemandShards,
} from '../contract/lease-table-size';
import {
  DEFAULT_LEASE_SECONDS,
  leaseTableLoad,
  MAX_LEASE_SECONDS,
  MIN_LEASE_SECONDS,
  type SizedLoad,
} from './size-load';
import type { ExitCode, Verb, VerbContext } from './verb';

const HELP = `chargeonce size lease-table --shards N: how large the lease table of N shards has to be

Every lease is renewed three times in its duration, and its checkpoint goes into the same write: so writes follow from
the number of leases alone, whatever the load. Nothing is asked of AWS and nothing is changed.

  --shards N              leases at the worst moment (N alone, or --max-shards N, is understood too). A shard that
                          is split or merged keeps its lease for a while: count 3 for each open shard if the stream
                          may double.
  --workers N             workers that scan the table; absent: one for every ten shards, at least two
  --lease-duration D      leaseDuration of the table: 5s to 60s (20s, 20 or 20000ms); absent: 10s
  --json                  the figures as one JSON document on stdout

Exit codes: 0 sized, 1 one table cannot carry it with these leases (it says which can), 2 could not size it.
`;

export const sizeVerb: Verb = {
  name: 'size',
  summary: 'how large the lease table has to be, and what to type (size lease-table)',
  help: HELP,
  options: {
    shards: { type: 'string' },
    'max-shards': { type: 'string' },
    workers: { type: 'string' },
    'lease-duration': { type: 'string' },
    json: { type: 'boolean' },
  },
  positionals: { min: 0, max: 2 },
  run: async (context) => size(context),
};

function size({ shell, values, positionals, refuse }: VerbContext): ExitCode {
  const [noun, count] = positionals;
  if (noun !== 'lease-table') {
    return refuse(
      `${noun === undefined ? 'say what to size' : `received ${JSON.stringify(noun)}`}; can be sized: lease-table.\n` +
        'Try: chargeonce size lease-table --shards 100',
    );
  }
  const load = leaseTableLoad(values, count);
  if (typeof load === 'string') return refuse(load);
  const report = describe(load);
  shell.out(values.json === true ? `${JSON.stringify(report)}\n` : words(report));
  return report.onDemandIsEnough || report.provisionedIsEnough ? 0 : 1;
}

interface Report extends LeaseTableSize, SizedLoad {
  /** The most shards that a new on-demand table carries from the first second. */
  readonly onDemandShards: number;
  readonly onDemandIsEnough: boolean;
  /** The most shards that `maxShards` may say with these leases: one table has no more units. */
  readonly provisionedShards: number;
  readonly provisionedIsEnough: boolean;
  /** Writes of the Kinesis Client Library at one checkpoint a second and shard. */
  readonly kclSteadyWrites: number;
}

function describe(load: SizedLoad): Report {
  const { shards, leaseSeconds } = load;
  const [onDemand, provisioned] = [onDemandShards(leaseSeconds), mostShards(leaseSeconds)];
  return {
    ...load,
    ...leaseTableSize(load),
    onDemandShards: onDemand,
    onDemandIsEnough: shards <= onDemand,
    provisionedShards: provisioned,
    provisionedIsEnough: shards <= provisioned,
    kclSteadyWrites: kclWrites(load, 1),
  };
}

function words(report: Report): string {
  const { shards, workers, leaseSeconds } = report;
  const rows: readonly (readonly [string, string, string])[] = [
    ['writes, steady', tenths(report.steadyWrites), 'each lease renewed, its checkpoint in the same write'],
    ['writes, minimum', whole(report.writeMinimum), 'where autoscaling starts: half as much again'],
    ['writes, maximum', whole(report.writeMaximum), 'where it ends; its target is 70 %'],
    ['index writes', whole(report.indexWrite), 'of the index by owner, when leases change hands'],
    ['reads, minimum', whole(report.readMinimum), 'twice what the scans cost'],
    ['reads, maximum', whole(report.readMaximum), ''],
    ['scan', `${tenths(report.scanSeconds)} s`, 'how often each worker reads the whole table'],
    ['KCL, for comparison', tenths(report.kclSteadyWrites), 'writes, with one checkpoint a second and shard'],
  ];
  const width = Math.max(...rows.map(([, value]) => value.length));
  const table = rows.map(([name, value, why]) => `  ${name.padEnd(20)} ${value.padStart(width)}  ${why}`.trimEnd());
  return [
    `Lease table for ${plural(shards, 'shard')} and ${plural(workers, 'worker')}, leases of ${leaseSeconds} s (units a second):`,
    '',
    ...table,
    '',
    ...advice(report),
    '',
  ].join('\n');
}

function advice(report: Report): string[] {
  const { shards, leaseSeconds, onDemandIsEnough, provisionedIsEnough } = report;
  const onDemand = ['On demand is enough, with room for what goes wrong. Type:', leaseTable(leaseSeconds)];
  const provisioned = [
    onDemandIsEnough ? 'Provisioned with autoscaling instead:' : `${tooMany(report)} Type:`,
    leaseTable(leaseSeconds, shards),
  ];
  if (onDemandIsEnough || provisionedIsEnough) {
    return [...(onDemandIsEnough ? onDemand : []), ...(provisionedIsEnough ? provisioned : [])];
  }
  const longer = shortestLease(shards);
  return [
    tooMany(report),
    `A table cannot be provisioned for more than ${whole(report.provisionedShards)} either.`,
    longer === undefined ? 'Use several streams, each with a consumer and a table.' : 'Longer leases write less. Type:',
    ...(longer === undefined ? [] : [leaseTable(longer)]),
  ];
}

const tooMany = ({ onDemandShards: most }: Report): string =>
  `On demand is not enough: a new table carries ${whole(most)} shards from the first second.`;

function shortestLease(shards: number): number | undefined {
  for (let seconds = MIN_LEASE_SECONDS; seconds <= MAX_LEASE_SECONDS; seconds += 1) {
    if (shards <= onDemandShards(seconds)) return seconds;
  }
  return undefined;
}

function leaseTable(leaseSeconds: number, maxShards?: number): string {
  const props = [
    ...(maxShards === undefined ? [] : [`maxShards: ${maxShards}`]),
    ...(leaseSeconds === DEFAULT_LEASE_SECONDS ? [] : [`leaseDuration: Duration.seconds(${leaseSeconds})`]),
  ];
  return `  new LeaseTable(this, 'Leases'${props.length === 0 ? '' : `, { ${props.join(', ')} }`})`;
}

const whole = (value: number): string => value.toLocaleString('en-US');
const tenths = (value: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const plural = (count: number, noun: string): string => `${whole(count)} ${noun}${count === 1 ? '' : 's'}`;
