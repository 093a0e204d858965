/** A worker dies by SIGKILL after Stripe confirmed and before the ledger knows; a new one takes its place. */
import { claimant } from '../claimant';
import type { Worker } from '../workers';
import { caught, type FaultContext } from './context';

const MAX_TRIES = 3;

/** Answers when it has struck, or when there is nothing to strike. */
export async function killAfterAConfirm(context: FaultContext): Promise<void> {
  const { screen } = context;
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const outcome = await killOnce(context);
    if (outcome === 'done') return;
    screen.fault('kill', outcome);
    if (outcome === 'no charge came by') return;
  }
}

async function killOnce(context: FaultContext): Promise<string> {
  const { parts, fleet, screen, log } = context;
  // The money has moved, the answer is on its way.
  const hold = parts.stripe.faults.hold({ on: 'confirm', when: 'before-respond' });
  try {
    const reached = await caught(hold.reached, context);
    if (reached === undefined) return 'no charge came by';
    const { worker, paymentIntent } = await claimant(reached.path, parts, fleet);
    if (worker === undefined) return 'the worker of that charge was not found; tried again';
    if (parts.stripe.intent(paymentIntent).status !== 'succeeded') return 'that card was declined; tried again';
    log.injected('kill');
    await die(worker, context);
    const successor = await fleet.start();
    screen.fault('kill', `${successor.name} takes its place; the open row waits for the dead claim to expire`);
    return 'done';
  } finally {
    hold.release();
  }
}

async function die(worker: Worker, { screen, log }: FaultContext): Promise<void> {
  worker.kill();
  const exit = await worker.exited;
  if (exit.signal === 'SIGKILL') log.seen('kill');
  screen.fault('kill', `${worker.name} died by SIGKILL after a confirm, before the ledger was told`);
}
