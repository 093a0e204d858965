import { type WrongProp, wrongProp } from './check';
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
  const wrong = wrongStripeRate(fleetRps, desiredCount);
  if (wrong !== undefined) throw wrongProp({ path, ...wrong });
  return shareOf(fleetRps, mostAtOnceOf(desiredCount));
}

/** What is wrong with the fleet's rate when nothing would be left for one worker. */
export function wrongStripeRate(fleetRps: number, desiredCount: number): Omit<WrongProp, 'path'> | undefined {
  const mostAtOnce = mostAtOnceOf(desiredCount);
  const share = shareOf(fleetRps, mostAtOnce);
  if (Number.isFinite(share) && share >= SMALLEST_SHARE) return undefined;
  return {
    prop: 'stripeMaxRps',
    received: String(fleetRps),
    allowed: `a number from ${mostAtOnce * SMALLEST_SHARE}`,
    wayOut: `It is divided by the ${mostAtOnce} tasks that can run at once. Leave it out for 20.`,
  };
}

function mostAtOnceOf(desiredCount: number): number {
  return Math.max(1, Math.ceil((desiredCount * MAX_HEALTHY_PERCENT) / 100));
}

function shareOf(fleetRps: number, mostAtOnce: number): number {
  return Math.floor((fleetRps / mostAtOnce) * 100) / 100;
}
