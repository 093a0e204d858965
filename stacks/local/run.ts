/** The whole run: the bundles once, then every source at the same time, then one verdict. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBundles } from './bundle';
import { makeEvents, readEventFile } from './events';
import { faultsOf } from './faults/names';
import type { Flags } from './flags';
import { sayWhereEverythingIs } from './keep';
import type { Report } from './report';
import type { Screen } from './screen';
import { Interrupted, type Performance, perform, type Standing } from './screenplay';
import { eventHubs } from './sources/event-hubs';
import { kinesis } from './sources/kinesis';
import type { SourceName } from './sources/parts';
import { type SourceVerdict, sumUp } from './verdict';

export interface RunOptions {
  readonly flags: Flags;
  readonly screen: Screen;
  /** Aborts the run, or ends the staying up. */
  readonly signal: AbortSignal;
  /** Called with the verdict, before the run stays up. */
  readonly onReport: (report: Report) => void;
}

const SOURCES: Readonly<Record<SourceName, (how: Performance) => Promise<SourceVerdict>>> = {
  kinesis: (how) => perform(kinesis, how),
  'event-hubs': (how) => perform(eventHubs, how),
};

/** Answers the verdict. Rejects with Interrupted, or when a source could not run. */
export async function run(options: RunOptions): Promise<Report> {
  const { screen, signal } = options;
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-local-'));
  let passed = false;
  try {
    const report = await performAll(options, folder);
    passed = report.verdict === 'pass';
    return report;
  } finally {
    const logs = readdirSync(folder, { recursive: true }).some((file) => String(file).endsWith('.log'));
    if (passed || !logs || signal.aborted) rmSync(folder, { recursive: true, force: true });
    else screen.plain(`  The workers' logs: ${folder}`);
  }
}

async function performAll({ flags, screen, signal, onReport }: RunOptions, folder: string): Promise<Report> {
  const { sources, file, keep, workers, stack } = flags;
  const events = file === undefined ? makeEvents(flags) : await readEventFile(file);
  const bundles = await buildBundles(sources, screen);
  const failing = new AbortController();
  const everybodyIsUp = rendezvous(sources.length);
  const standing: Standing[] = [];
  const report = (verdicts: readonly SourceVerdict[]): Report => {
    const summed = sumUp(verdicts, screen.seconds);
    onReport(summed);
    return summed;
  };
  const stayUp = (up: Standing) => {
    standing.push(up);
    if (standing.length < sources.length) return;
    report(standing.map(({ verdict }) => verdict));
    sayWhereEverythingIs(standing, screen);
  };
  const verdicts = await allOrNothing(sources, failing, (source) =>
    SOURCES[source]({
      screen: sources.length === 1 ? screen : screen.of(source),
      bundle: bundles[source] ?? '',
      folder: join(folder, source),
      faults: new Set(faultsOf(source).filter((fault) => flags.faults.has(fault))),
      everybodyIsUp,
      signal: AbortSignal.any([signal, failing.signal]),
      ...{ events, workers, stack },
      ...(keep ? { stayUp } : {}),
    }),
  );
  return keep ? sumUp(verdicts, screen.seconds) : report(verdicts);
}

/** What it answers resolves for all once as many have called it. */
function rendezvous(count: number): () => Promise<void> {
  let missing = count;
  let open = () => {};
  const complete = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    missing -= 1;
    if (missing === 0) open();
    return complete;
  };
}

/** When one cannot run, the others are ended and cleared away before its reason is thrown. */
async function allOrNothing(
  sources: readonly SourceName[],
  failing: AbortController,
  start: (source: SourceName) => Promise<SourceVerdict>,
): Promise<SourceVerdict[]> {
  let reason: unknown;
  const ended = await Promise.all(
    sources.map((source) =>
      start(source).catch((error: unknown) => {
        if (reason === undefined || reason instanceof Interrupted) reason = error;
        failing.abort();
        return undefined;
      }),
    ),
  );
  if (reason !== undefined) throw reason;
  return ended.flatMap((verdict) => verdict ?? []);
}
