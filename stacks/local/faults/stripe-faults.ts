/** Faults between a worker and Stripe. */
import type { FaultContext } from './context';

/** The charge is made, its answer never arrives. */
export function loseAnAnswer({ parts, screen, log }: FaultContext): void {
  parts.stripe.faults.add({
    on: 'confirm',
    when: 'after-execute',
    what: 'drop',
    times: 1,
    onHit: () => {
      log.injected('lost-answer');
      log.seen('lost-answer');
      screen.fault('lost-answer', 'a charge was made and its answer cut off: the worker must find out what happened');
    },
  });
}

/** One charge takes 20 s, as 3-D Secure does; nobody else may wait for it. */
export function slowDownACharge({ parts, screen, log }: FaultContext): void {
  parts.stripe.faults.add({
    on: 'confirm',
    when: 'before-execute',
    what: 'delay',
    delayMs: 20_000,
    times: 1,
    onHit: () => {
      log.injected('slow-charge');
      log.seen('slow-charge');
      screen.fault('slow-charge', 'one charge takes 20 s from here; the others go on');
    },
  });
}
