/** The screenplay of one source, whatever it is: bring up, publish, break, wait, judge. */
import { mkdirSync } from 'node:fs';
import type { EventPlan } from './events';
import type { FaultName } from './faults/names';
import { loseAnAnswer, slowDownACharge } from './faults/stripe-faults';
import { Fleet } from './fleet';
import { runMigrations } from './migrate';
import type { Judgement } from './oracle';
import type { Screen } from './screen';
import type { Parts } from './sources/parts';
import type { LocalSource } from './sources/source';
import { Stage } from './stage';
import { type SourceVerdict, verdict } from './verdict';

/** What is added to, or replaced in, what the stack says, and why it must be. */
const LOCAL_ENVIRONMENT = {
  // Two minutes for everything: a dead worker's claim may not take two of its own.
  CLAIM_TTL_MS: '60000',
  STRIPE_TIMEOUT_MS: '24000',
  // The stand-in has no quota to share.
  STRIPE_MAX_RPS: '25',
  HEALTH_HOST: '127.0.0.1',
} as const;
const DRAIN_MS = 60_000;

/** Somebody pressed Ctrl-C, or another source could not run; everything that was started is ended first. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export interface Performance {
  readonly screen: Screen;
  readonly bundle: string;
  readonly events: EventPlan;
  readonly faults: ReadonlySet<FaultName>;
  readonly workers: number;
  /** A template or program to run instead of the one in `stacks/`. */
  readonly stack: string | undefined;
  /** For this source's logs and files; made when it is not there. */
  readonly folder: string;
  /**
   * Resolves when every source of the run is up: starting parts takes the whole machine for some seconds, and a lease that
   * is lost for that proves nothing.
   */
  readonly everybodyIsUp: () => Promise<void>;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Told the verdict; everything stays up until the signal then. Absent: the workers are drained before the verdict. */
  readonly stayUp?: (standing: Standing) => void;
}

/** What is up while it stays up. */
export interface Standing {
  readonly verdict: SourceVerdict;
  /** Of a worker. */
  readonly environment: Readonly<Record<string, string>>;
  readonly endpoints: Readonly<Record<string, string>>;
}

/** Answers the verdict. Rejects with Interrupted, or when it could not run. */
export async function perform<P extends Parts>(source: LocalSource<P>, how: Performance): Promise<SourceVerdict> {
  const { screen, folder, stack, signal } = how;
  mkdirSync(folder, { recursive: true });
  let parts: P | undefined;
  let fleet: Fleet | undefined;
  try {
    parts = await source.open({ screen, folder, stack });
    const environment = { ...parts.worker.environment, ...LOCAL_ENVIRONMENT };
    if (signal.aborted) throw new Interrupted('interrupted');
    await runMigrations(parts.migrate, how.bundle, screen);
    await Promise.race([how.everybodyIsUp(), untilAborted(signal)]);
    fleet = new Fleet({ bundle: how.bundle, command: parts.worker.command, environment, logFolder: folder });
    const stage = new Stage({ ...how, publish: source.publish, parts, fleet });
    const found = await Promise.race([play(source, stage, how), untilAborted(signal)]);
    if (how.stayUp) {
      how.stayUp({ verdict: found, environment, endpoints: endpointsOf(parts, fleet) });
      await once(signal);
      await fleet.drain(DRAIN_MS);
    }
    return found;
  } finally {
    fleet?.killAll();
    await parts?.close();
  }
}

async function play<P extends Parts>(source: LocalSource<P>, stage: Stage<P>, how: Performance) {
  const { screen, fleet } = stage;
  if (stage.has('lost-answer')) loseAnAnswer(stage);
  if (stage.has('slow-charge')) slowDownACharge(stage);
  const lookAgain = await source.play(stage);
  await stage.settleDown();
  await lookAgain?.();
  const judgement = await stage.look();
  await sayCosts(stage, judgement);
  const drained = how.stayUp ? [] : await fleet.drain(DRAIN_MS);
  fleet.measure();
  sayLogins(stage);
  screen.step(`${how.stayUp ? '' : 'workers drained; '}the largest worker held ${fleet.peakMegabytes} MB at most`);
  const { log: faults, refused } = stage;
  return verdict({ source: source.name, events: how.events, judgement, drained, fleet, faults, refused });
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

function sayLogins({ parts: { logins }, screen }: Stage): void {
  const refused = logins.filter((login) => login.refused !== undefined).length;
  const users = [...new Set(logins.map(({ user }) => user))].join(', ');
  if (logins.length > 0) screen.step(`${logins.length} logins with a token as ${users}, ${refused} of them refused`);
}

function endpointsOf(parts: Parts, fleet: Fleet): Record<string, string> {
  const workers = fleet.alive.map(({ name, port }) => [name, `http://127.0.0.1:${port}/metrics`] as const);
  return { ...parts.endpoints, ...Object.fromEntries(workers) };
}

async function untilAborted(signal: AbortSignal): Promise<never> {
  await once(signal);
  throw new Interrupted('interrupted');
}

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
