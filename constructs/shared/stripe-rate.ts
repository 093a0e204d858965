import { wrongProp } from './check';
import { MAX_HEALTHY_PERCENT } from './limits';

/** The smallest share that is still a rate: one request in a hundred seconds. */
const SMALLEST_SHARE = 0.01;

/**
 * One worker's share of the fleet's rate: divided by the most workers that can run at once, a rolling deploy
 * included, and rounded down to two decimals, so that the fleet never exceeds its number.
 *
 * @throws when nothing would be left for one worker
 */
export function stripeShare(path: string, fleetRps: number, desiredCount: number): number {
  const mostAtOnce = Math.max(1, Math.ceil((desiredCount * MAX_HEALTHY_PERCENT) / 100));
  const share = Math.floor((fleetRps / mostAtOnce) * 100) / 100;
  if (!Number.isFinite(share) || share < SMALLEST_SHARE) {
    throw wrongProp({
      path,
      prop: 'stripeMaxRps',
      received: String(fleetRps),
      allowed: `a number from ${mostAtOnce * SMALLEST_SHARE}`,
      wayOut: `It is divided by the ${mostAtOnce} tasks that can run at once. Leave it out for 20.`,
    });
  }
  return share;
}
