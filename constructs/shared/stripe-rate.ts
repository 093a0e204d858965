import { MAX_HEALTHY_PERCENT } from './limits';

/** The smallest share that is still a rate: one request in a hundred seconds. */
const SMALLEST_SHARE = 0.01;

/**
 * One worker's share of the fleet's rate: divided by the most workers that can run at once, a rolling deploy
 * included, and rounded down to two decimals, so that the fleet never exceeds its number.
 */
export function stripeShare(fleetRps: number, desiredCount: number): number {
  const mostAtOnce = Math.max(1, Math.ceil((desiredCount * MAX_HEALTHY_PERCENT) / 100));
  const share = Math.floor((fleetRps / mostAtOnce) * 100) / 100;
  if (!(share >= SMALLEST_SHARE)) {
    throw new Error(
      `stripeMaxRps is ${fleetRps}; allowed: at least ${mostAtOnce * SMALLEST_SHARE} for ${mostAtOnce} tasks at once.`,
    );
  }
  return share;
}
