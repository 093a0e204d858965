/** Pass or fail, of one source: what the judge found, what must have happened, and how the processes behaved. */
import type { EventPlan } from './events';
import type { FaultLog } from './faults/context';
import type { Fleet } from './fleet';
import type { Judgement } from './oracle';
import type { Report, SourceReport } from './report';
import type { SourceName } from './sources/parts';

/** What a worker may hold at most, by VmHWM. */
const MAX_WORKER_MEGABYTES = 200;

export interface Evidence {
  readonly source: SourceName;
  readonly events: EventPlan;
  readonly judgement: Judgement;
  readonly faults: FaultLog;
  readonly fleet: Pick<Fleet, 'workers' | 'peakMegabytes'>;
  /** What was wrong with how the workers drained. */
  readonly drained: readonly string[];
  /** Lines that the stream did not take, in words. */
  readonly refused: readonly string[];
}

/** One source's part of the report. */
export interface SourceVerdict {
  readonly report: SourceReport;
  readonly problems: readonly string[];
}

/** The run passes when every source does. */
export function sumUp(verdicts: readonly SourceVerdict[], seconds: number): Report {
  const alone = verdicts.length === 1;
  const problems = verdicts.flatMap((each) =>
    each.problems.map((problem) => (alone ? problem : `${each.report.source}: ${problem}`)),
  );
  const sources = verdicts.map(({ report }) => report);
  return { verdict: problems.length === 0 ? 'pass' : 'fail', seconds, problems, sources };
}

export function verdict(evidence: Evidence): SourceVerdict {
  const { events, judgement, faults } = evidence;
  const { counts } = judgement;
  const times = counts.published / Math.max(1, events.lines.length);
  const seen = { malformed: counts.deadLettered, declines: counts.declined, conflict: counts.conflicts };
  for (const name of ['malformed', 'declines', 'conflict'] as const) {
    const injected = events.injected[name];
    if (injected === undefined) continue;
    faults.injected(name, name === 'malformed' ? injected * times : injected);
    faults.seen(name, seen[name]);
  }
  const problems = [
    ...judgement.problems,
    ...evidence.refused.map((reason) => `Not published: ${reason}.`),
    ...unexpected(evidence),
    ...faults.problems,
    ...unseen(faults),
    ...processes(evidence),
  ];
  return { problems, report: { source: evidence.source, ...counts, faults: faults.reports } };
}

/** Made-up events must end in a known way: a run in which nothing was charged is no pass. */
function unexpected({ events: { expected }, judgement: { counts } }: Evidence): string[] {
  if (expected === undefined) return [];
  const problems: string[] = [];
  for (const name of ['charged', 'declined'] as const) {
    if (counts[name] !== expected[name]) {
      problems.push(`${counts[name]} (customer, period) are ${name}; of these events it must be ${expected[name]}.`);
    }
  }
  return problems;
}

function unseen(faults: FaultLog): string[] {
  return faults.reports
    .filter((fault) => fault.seen < fault.injected)
    .map((fault) => `${fault.name} was injected ${fault.injected} times and seen ${fault.seen} times.`);
}

function processes({ fleet, drained }: Evidence): string[] {
  const dead = fleet.workers
    .filter((worker) => worker.exit !== undefined && worker.exit.code !== 0 && worker.exit.signal !== 'SIGKILL')
    .map((worker) => `${worker.name} ended by itself:\n${worker.tail()}`);
  const large =
    fleet.peakMegabytes > MAX_WORKER_MEGABYTES
      ? [`A worker held ${fleet.peakMegabytes} MB; ${MAX_WORKER_MEGABYTES} MB are allowed.`]
      : [];
  return [...dead, ...large, ...drained];
}
