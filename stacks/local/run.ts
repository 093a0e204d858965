/** The screenplay of a local run: bring up, publish, break, wait, judge. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve as resolvePath } from 'node:path';
import { createDecoder } from '../../runtime/decode';
import { systemHost } from '../../runtime/host';
import { buildBundle } from './bundle';
import { type EventPlan, makeEvents, readEventFile } from './events';
import { type FaultContext, FaultLog } from './faults/context';
import { killAfterAConfirm } from './faults/kill';
import { blockPastTheLease, stealInMidCharge, throttleShortly } from './faults/lease-faults';
import { awaitSplit, splitAShard } from './faults/split';
import { loseAnAnswer, slowDownACharge } from './faults/stripe-faults';
import type { Flags } from './flags';
import { Fleet, until } from './fleet';
import { runMigrations } from './migrate';
import { type Decode, type Judgement, judge, readLedger, remembering } from './oracle';
import { type Parts, startParts } from './parts';
import { publish } from './publish';
import type { Report } from './report';
import { containerEnvironment } from './resolve';
import type { Screen } from './screen';
import { synthesize } from './synthesize';
import { readPlan, type Template } from './template';
import { verdict } from './verdict';

/** What is added to, or replaced in, the template's environment, and why it must be. */
const LOCAL_ENVIRONMENT = {
  // Two minutes for everything: a dead worker's claim may not take two of its own.
  CLAIM_TTL_MS: '60000',
  STRIPE_TIMEOUT_MS: '24000',
  // The stand-in has no quota to share.
  STRIPE_MAX_RPS: '25',
  HEALTH_HOST: '127.0.0.1',
} as const;
const READY_MS = 20_000;
const DRAIN_MS = 60_000;
/** Nothing moved for this long: what is open then stays open. Longer than a claim. */
const STALLED_MS = 100_000;

interface Stage {
  readonly flags: Flags;
  readonly screen: Screen;
  readonly events: EventPlan;
  readonly parts: Parts;
  readonly fleet: Fleet;
  readonly context: FaultContext;
  readonly decode: Decode;
  /** Lines that the stream accepted. */
  readonly published: Uint8Array[];
  /** Lines that it did not, in words. */
  readonly refused: string[];
}

/** Somebody pressed Ctrl-C; everything that was started is ended first. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export interface RunOptions {
  readonly flags: Flags;
  readonly screen: Screen;
  /** Aborts the run, or ends the staying up. */
  readonly signal: AbortSignal;
  /** Called with the verdict, before the run stays up or is cleared away. */
  readonly onReport: (report: Report) => void;
}

/** Answers the verdict. Rejects with Interrupted, or when it could not run. */
export async function run({ flags, screen, signal, onReport }: RunOptions): Promise<Report> {
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Interrupted('interrupted')), { once: true });
  });
  interrupted.catch(() => undefined);
  const folder = mkdtempSync(join(tmpdir(), 'chargeonce-local-'));
  let parts: Parts | undefined;
  let fleet: Fleet | undefined;
  let logsWanted = true;
  try {
    const events = flags.file === undefined ? makeEvents(flags) : await readEventFile(flags.file);
    // The stack points at the image's folder, so that comes first: a fresh checkout has none.
    const bundle = await buildBundle(screen);
    const template = loadTemplate(flags, folder, screen);
    const plan = readPlan(template);
    parts = await startParts(plan, screen, folder);
    const environment = {
      ...containerEnvironment(plan.worker, parts.scope),
      ...parts.localEnvironment,
      ...LOCAL_ENVIRONMENT,
    };
    signal.throwIfAborted();
    await runMigrations(plan, parts, bundle, screen);
    fleet = new Fleet({ bundle, command: plan.worker.command, environment, logFolder: folder });
    const stage = stageOf(flags, screen, events, parts, fleet);
    const report = await Promise.race([play(stage), interrupted]);
    logsWanted = report.verdict === 'fail';
    onReport(report);
    if (flags.keep) await stayUp(stage, environment, interrupted);
    return report;
  } finally {
    fleet?.killAll();
    await parts?.close();
    rmSync(join(folder, 'cdk.out'), { recursive: true, force: true });
    if (!logsWanted || !fleet || signal.aborted) rmSync(folder, { recursive: true, force: true });
    else screen.plain(`  The workers' logs: ${folder}`);
  }
}

function stageOf(flags: Flags, screen: Screen, events: EventPlan, parts: Parts, fleet: Fleet): Stage {
  const published: Uint8Array[] = [];
  const decode = remembering(createDecoder({ defaultCurrency: 'usd' }));
  const nothingLeft = async () => {
    const { counts } = await look({ parts, published, decode });
    return published.length > 0 && counts.pending === 0 && counts.lost === 0;
  };
  const context: FaultContext = { parts, fleet, screen, log: new FaultLog(flags.faults), nothingLeft };
  return { flags, screen, events, parts, fleet, context, decode, published, refused: [] };
}

function loadTemplate(flags: Flags, folder: string, screen: Screen): Template {
  if (flags.template !== undefined) {
    screen.step(`template: ${flags.template}`);
    return JSON.parse(readFileSync(resolvePath(flags.template), 'utf8')) as Template;
  }
  const template = synthesize(join(folder, 'cdk.out'));
  screen.step(`stacks/aws synthesized: ${Object.keys(template.Resources).length} resources`);
  return template;
}

async function play(stage: Stage): Promise<Report> {
  const { flags, screen, fleet, context, events } = stage;
  const has = (name: Parameters<typeof flags.faults.has>[0]) => flags.faults.has(name);
  if (has('lost-answer')) loseAnAnswer(context);
  if (has('slow-charge')) slowDownACharge(context);
  await startWorkers(stage);
  const parent = await publishAndBreak(stage);
  await settleDown(stage);
  if (parent !== undefined) await awaitSplit(parent, context);
  const judgement = await look(stage);
  await sayCosts(stage, judgement);
  const drained = flags.keep ? [] : await fleet.drain(DRAIN_MS);
  fleet.measure();
  sayLogins(stage);
  screen.step(`${flags.keep ? '' : 'workers drained; '}the largest worker held ${fleet.peakMegabytes} MB at most`);
  return verdict({
    events,
    judgement,
    drained,
    fleet,
    faults: context.log,
    refused: stage.refused,
    seconds: screen.seconds,
  });
}

/** By the workers' own counters: what one charge costs, everything around it included. */
async function sayCosts({ fleet, screen }: Stage, { counts }: Judgement): Promise<void> {
  const [statements, calls] = await Promise.all(
    ['chargeonce_ledger_statements_total', 'chargeonce_stripe_calls_total'].map((name) => fleet.sum(name)),
  );
  // A handful of charges says nothing: starting up and looking around costs the same for one as for a thousand.
  if (counts.charged < 50) return;
  const each = (count: number | undefined) => ((count ?? 0) / Math.max(1, counts.charged)).toFixed(2);
  screen.step(`for each charge: ${each(statements)} ledger statements, ${each(calls)} Stripe calls (live workers)`);
}

function sayLogins({ parts, screen }: Stage): void {
  const { logins } = parts.rds;
  const refused = logins.filter((login) => login.refused !== undefined).length;
  const users = [...new Set(logins.map(({ user }) => user))].join(', ');
  if (logins.length > 0) screen.step(`${logins.length} logins with a token as ${users}, ${refused} of them refused`);
}

async function startWorkers({ flags, screen, fleet }: Stage): Promise<void> {
  for (let count = 0; count < flags.workers; count++) await fleet.start();
  await Promise.all(fleet.alive.map((worker) => worker.ready(READY_MS)));
  screen.step(`${fleet.alive.length} workers ready: pid ${fleet.alive.map((worker) => worker.pid).join(', ')}`);
}

/** Publishes in three parts, with faults in between. Answers the shard that was split. */
async function publishAndBreak(stage: Stage): Promise<string | undefined> {
  const { flags, events, context } = stage;
  const has = (name: Parameters<typeof flags.faults.has>[0]) => flags.faults.has(name);
  const { lines } = events;
  const anyMachine = has('throttle') || has('theft') || has('split') || has('outage');
  const [first, second] = anyMachine
    ? [Math.ceil(lines.length * 0.4), Math.ceil(lines.length * 0.75)]
    : [lines.length, lines.length];
  const kill = has('kill') ? killAfterAConfirm(context) : undefined;
  await send(stage, lines.slice(0, first));
  // A dead worker's leases are nobody's: the other faults strike the living.
  await kill;
  if (has('throttle')) await throttleShortly(context);
  const theft = has('theft') ? stealInMidCharge(context) : undefined;
  await send(stage, lines.slice(first, second));
  await theft;
  const parent = has('split') ? await splitAShard(context) : undefined;
  if (has('outage')) await blockPastTheLease(context, () => send(stage, lines.slice(second)));
  else await send(stage, lines.slice(second));
  if (has('duplicates')) {
    context.screen.fault('duplicates', `the whole batch of ${lines.length} lines is published once more`);
    context.log.injected('duplicates', lines.length);
    context.log.seen('duplicates', await send(stage, lines));
  }
  return parent;
}

async function send({ parts, published, refused, screen }: Stage, lines: readonly Uint8Array[]): Promise<number> {
  if (lines.length === 0) return 0;
  const result = await publish(lines, parts);
  published.push(...result.accepted);
  refused.push(...result.refused);
  screen.step(`${result.accepted.length} lines published (${published.length} so far)`);
  return result.accepted.length;
}

/** Waits until every published line is accounted for and no row is pending, or until nothing moves any more. */
async function settleDown(stage: Stage): Promise<void> {
  let last = '';
  let movedAt = systemHost.monotonic();
  let saidAt = movedAt;
  const finished = await until(
    async () => {
      stage.fleet.measure();
      const { counts } = await look(stage);
      const state = JSON.stringify(counts);
      const now = systemHost.monotonic();
      if (state !== last) movedAt = now;
      last = state;
      if (now - saidAt > 5_000) {
        saidAt = now;
        stage.screen.step(
          `${counts.charged} charged, ${counts.pending} pending, ${counts.lost} lines not accounted for yet`,
        );
      }
      if (stage.fleet.alive.length === 0) return true;
      return (counts.pending === 0 && counts.lost === 0) || now - movedAt > STALLED_MS;
    },
    3_600_000,
    250,
  );
  if (!finished) stage.screen.step('gave up waiting');
}

async function look({ parts, published, decode }: Pick<Stage, 'parts' | 'published' | 'decode'>): Promise<Judgement> {
  const client = await parts.ledgerClient();
  try {
    // Stripe's books first: money that moves in between is seen in the ledger, not the other way round.
    const books = [...parts.stripe.books.charges];
    return judge(published, await readLedger(client), books, decode);
  } finally {
    await client.end();
  }
}

async function stayUp(stage: Stage, environment: Record<string, string>, until: Promise<never>): Promise<void> {
  const { screen, parts } = stage;
  const lines = Object.entries(environment).map(([name, value]) => `${name}='${value}'`);
  writeFileSync('.env.local', `${lines.join('\n')}\n`, { mode: 0o600 });
  screen.plain('\nStaying up. The environment of a worker is in .env.local. End with Ctrl-C.');
  for (const [name, endpoint] of Object.entries(parts.endpoints)) screen.plain(`  ${name.padEnd(12)} ${endpoint}`);
  for (const worker of stage.fleet.alive)
    screen.plain(`  ${worker.name.padEnd(12)} http://127.0.0.1:${worker.port}/metrics`);
  await until.catch(() => undefined);
  await stage.fleet.drain(DRAIN_MS);
}
