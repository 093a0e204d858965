/** What the local run is asked to do. */
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { EVENT_FAULTS, FAULT_NAMES, type FaultName, faultsOf } from './faults/names';
import { SOURCE_NAMES, type SourceName } from './sources/parts';

export interface Flags {
  /** Run at the same time. */
  readonly sources: readonly SourceName[];
  readonly events: number;
  readonly customers: number;
  readonly workers: number;
  readonly file: string | undefined;
  /** A template or program to run instead of the one in `stacks/`; there is one source then. */
  readonly stack: string | undefined;
  readonly faults: ReadonlySet<FaultName>;
  readonly seed: number;
  readonly keep: boolean;
  readonly json: boolean;
}

const names = (faults: readonly FaultName[]) => faults.join(', ');
const isShared = (fault: FaultName) => SOURCE_NAMES.every((source) => faultsOf(source).includes(fault));
const only = (source: SourceName) => faultsOf(source).filter((fault) => !isShared(fault));

export const HELP = `npm start -- [flags]

Brings up on this machine what the stacks in this repository declare: the CDK stack's stream, lease table and ledger,
and the Pulumi program's event hub, checkpoint container and ledger. Runs the bundled runtime as worker processes on
both at the same time, publishes events, does to it what production does, and prints what happened and the verdict.

  --source S      all (default), kinesis or event-hubs
  --events N      usage events to publish to each source (300)
  --customers N   customers they belong to (100)
  --workers N     worker processes of each source (2)
  --file F        publish the lines of F as they are, valid or not, instead of made-up events; the sample stacks
                  cap usd only, so events in other currencies end as cap_blocked
  --template F    a CloudFormation template to run instead of the one that is synthesized (a copy you changed);
                  means --source kinesis
  --program F     a Pulumi program to run instead of stacks/azure; means --source event-hubs
  --faults LIST   all (default), none, or some of
                  both: ${names(FAULT_NAMES.filter(isShared))}
                  kinesis: ${names(only('kinesis'))}
                  event-hubs: ${names(only('event-hubs'))}
  --seed S        seed of the made-up events (1)
  --keep          stay up after the verdict; prints the endpoints and writes a worker's environment to .env.local,
                  or to .env.<source>.local when there are two
  --json          one JSON document on stdout, everything else on stderr
  --help

Exit code 0: pass, 1: fail, 2: could not run.`;

/** Answers the flags, or every problem with them in words. */
export function readFlags(argv: readonly string[]): { flags: Flags } | { help: true } | { problems: string[] } {
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({
      args: [...argv],
      options: {
        source: { type: 'string' },
        events: { type: 'string' },
        customers: { type: 'string' },
        workers: { type: 'string' },
        file: { type: 'string' },
        template: { type: 'string' },
        program: { type: 'string' },
        faults: { type: 'string' },
        seed: { type: 'string' },
        keep: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }));
  } catch (error) {
    return { problems: [(error as Error).message] };
  }
  if (values.help) return { help: true };
  const problems: string[] = [];
  const whole = (name: string, fallback: number, least: number, most: number): number => {
    const text = values[name];
    if (text === undefined) return fallback;
    const number = /^\d{1,9}$/.test(String(text)) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    problems.push(`--${name} was ${JSON.stringify(text)}: give a whole number from ${least} to ${most}.`);
    return fallback;
  };
  const file = readable('file', values.file, problems);
  const sources = readSources(values, problems);
  const flags: Flags = {
    sources,
    events: whole('events', 300, 1, 1_000_000),
    customers: whole('customers', 100, 1, 1_000_000),
    workers: whole('workers', 2, 1, 16),
    seed: whole('seed', 1, 0, 999_999_999),
    file,
    stack: readable('template', values.template, problems) ?? readable('program', values.program, problems),
    faults: readFaults(values.faults as string | undefined, sources, file !== undefined, problems),
    keep: values.keep === true,
    json: values.json === true,
  };
  return problems.length > 0 ? { problems } : { flags };
}

function readable(name: string, value: string | boolean | undefined, problems: string[]): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (!statSync(value, { throwIfNoEntry: false })?.isFile()) {
    problems.push(`--${name}: there is no file ${JSON.stringify(value)}.`);
  }
  return value;
}

/** Whose stack it is: a template is CloudFormation's, a program is Pulumi's. */
const OWN_STACK = { template: 'kinesis', program: 'event-hubs' } as const satisfies Record<string, SourceName>;

function readSources(values: Readonly<Record<string, string | boolean | undefined>>, problems: string[]): SourceName[] {
  const given = (['template', 'program'] as const).filter((name) => values[name] !== undefined);
  const text = values.source ?? (given[0] ? OWN_STACK[given[0]] : 'all');
  const known = SOURCE_NAMES.filter((name) => text === 'all' || text === name);
  if (known.length === 0) {
    problems.push(`--source was ${JSON.stringify(text)}: give all, ${SOURCE_NAMES.join(' or ')}.`);
    return [...SOURCE_NAMES];
  }
  for (const name of given) {
    if (known.length > 1 || known[0] !== OWN_STACK[name]) {
      problems.push(`--${name} goes with --source ${OWN_STACK[name]} alone, not with ${text}.`);
    }
  }
  return known;
}

function readFaults(
  text: string | undefined,
  sources: readonly SourceName[],
  withFile: boolean,
  problems: string[],
): Set<FaultName> {
  const possible = new Set(sources.flatMap(faultsOf));
  // A file says itself which events are duplicates or broken: only the machinery is made to fail then.
  const changesEvents = (name: FaultName) => EVENT_FAULTS.some((fault) => fault === name);
  if (text === undefined || text === 'all') {
    return new Set([...possible].filter((name) => !withFile || !changesEvents(name)));
  }
  if (text === 'none' || text === '') return new Set();
  const chosen = new Set<FaultName>();
  for (const name of text.split(',').map((part) => part.trim())) {
    const known = FAULT_NAMES.find((fault) => fault === name);
    if (known === undefined) problems.push(`--faults: ${JSON.stringify(name)} is unknown: ${FAULT_NAMES.join(', ')}.`);
    else if (!possible.has(known)) {
      problems.push(`--faults: ${name} cannot be done to ${sources.join(' and ')}: ${[...possible].join(', ')}.`);
    } else if (withFile && changesEvents(known)) {
      problems.push(`--faults: ${name} changes the events, so it goes without --file.`);
    } else chosen.add(known);
  }
  return chosen;
}
