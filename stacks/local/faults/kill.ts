/** A worker dies by SIGKILL after Stripe confirmed and before the ledger knows; a new one takes its place. */
import type { Worker } from '../workers';
import type { FaultContext } from './context';

/** Armed at start: the third confirm of the worker is its last act. */
export const KILL_ENVIRONMENT = { CHARGEONCE_CRASH_AT: 'after-confirm:3' } as const;

export async function watchKill(victim: Worker, context: FaultContext): Promise<void> {
  const { screen, log, fleet } = context;
  log.injected('kill');
  const exit = await victim.exited;
  if (exit.signal !== 'SIGKILL') {
    if (exit.code !== 0) log.problems.push(`${victim.name} was to be killed after a confirm, but ended otherwise.`);
    return;
  }
  log.seen('kill');
  screen.fault('kill', `${victim.name} died by SIGKILL after a confirm, before the ledger was told`);
  const successor = await fleet.start();
  screen.fault('kill', `${successor.name} takes its place; the open row waits for the dead claim to expire`);
}
