/** Faults of the lease table, made by the proxy between the workers and it, or by another owner's hand. */
import { createHash } from 'node:crypto';
import { type AttributeValue, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { systemHost } from '../../../../runtime/host';
import { claimant } from '../../claimant';
import { caught, type FaultContext } from '../../faults/context';
import { until } from '../../fleet';
import { type KinesisParts, TABLE_NAME } from './parts';

const LOST = 'chargeonce_leases_lost_total';
const HELD = 'chargeonce_leases_held';

/** Two seconds without the lease table: renewals are retried within the lease, and nothing is lost. */
export async function throttleShortly({ parts, fleet, screen, log }: FaultContext<KinesisParts>): Promise<void> {
  log.injected('throttle');
  // A lease that moves to a newly started worker is no loss of this block.
  const expired = { reason: 'expired' };
  const before = await fleet.sum(LOST, expired);
  const block = parts.leaseProxy.block();
  screen.fault('throttle', 'the lease table is blocked for 2 s');
  await systemHost.sleep(2_000);
  block.release();
  // One renewal later everybody has either caught up or lost.
  await systemHost.sleep(4_000);
  const lost = (await fleet.sum(LOST, expired)) - before;
  if (lost > 0) log.problems.push(`A block of 2 s cost ${lost} leases.`);
  else log.seen('throttle');
  screen.fault('throttle', `over: ${lost} leases lost`);
}

/** Longer than a lease: every lease is lost, and no worker begins a charge without one. */
export async function blockPastTheLease(
  context: FaultContext<KinesisParts>,
  publishMore: () => Promise<unknown>,
): Promise<void> {
  const { parts, fleet, screen, log } = context;
  log.injected('outage');
  const block = parts.leaseProxy.block();
  screen.fault('outage', 'the lease table is blocked for longer than a lease');
  await systemHost.sleep(5_000);
  await publishMore();
  const allLost = await until(() => fleet.every(HELD, 0), 30_000);
  if (!allLost) log.problems.push('A worker still holds a lease although the table was gone for longer than one.');
  // The margin before a lease's end is longer than a request: whatever was allowed has been sent by now.
  const before = movesOf(parts);
  screen.fault('outage', 'all leases are lost; the workers must not begin another create or confirm');
  await systemHost.sleep(3_000);
  const begun = movesOf(parts) - before;
  if (begun > 0) log.problems.push(`${begun} creates or confirms were sent without a lease.`);
  if (allLost && begun === 0) log.seen('outage');
  block.release();
  screen.fault('outage', `over: ${begun} creates or confirms were sent meanwhile`);
}

/** A charge is on its way when another owner takes the lease of its shard. Tried again when it hit a dead owner's. */
export async function stealInMidCharge(context: FaultContext<KinesisParts>): Promise<void> {
  const { screen, log } = context;
  for (let tries = 1; tries <= 3; tries++) {
    const outcome = await stealOnce(context);
    if (outcome === 'noticed') {
      log.seen('theft');
      screen.fault('theft', 'noticed; the charge on its way ends, its checkpoint is refused');
      return;
    }
    screen.fault('theft', outcome);
    if (outcome === 'no charge came by' || outcome === 'not noticed') return;
  }
}

async function stealOnce(context: FaultContext<KinesisParts>): Promise<string> {
  const { parts, fleet, screen, log } = context;
  const hold = parts.stripe.faults.hold({ on: 'confirm', when: 'before-execute' });
  try {
    const reached = await caught(hold.reached, context);
    if (reached === undefined) return 'no charge came by';
    const before = await fleet.sum(LOST, { reason: 'stolen' });
    const { customerId } = await claimant(reached.path, parts, fleet);
    const lease = await leaseOf(customerId, parts);
    if (!fleet.alive.some((worker) => lease?.leaseOwner?.S?.startsWith(`${worker.name}:`))) {
      return 'the shard had no living owner; tried again';
    }
    log.injected('theft');
    await parts.dynamodb.send(
      new UpdateItemCommand({
        TableName: TABLE_NAME,
        Key: { leaseKey: lease?.leaseKey as AttributeValue },
        UpdateExpression: 'SET leaseOwner = :thief ADD leaseCounter :one',
        ExpressionAttributeValues: { ':thief': { S: 'thief' }, ':one': { N: '1' } },
      }),
    );
    screen.fault('theft', `the lease of ${lease?.leaseKey?.S} was stolen in mid-charge`);
    const noticed = await until(async () => (await fleet.sum(LOST, { reason: 'stolen' })) > before, 8_000);
    return noticed ? 'noticed' : 'not noticed';
  } finally {
    hold.release();
  }
}

/** Requests that move a charge on. */
function movesOf({ stripe }: KinesisParts): number {
  return stripe.requests.filter(({ method, path }) => method === 'POST' && path.startsWith('/v1/payment_intents'))
    .length;
}

/** The lease whose hash range holds the customer's partition key, while somebody owns it. */
async function leaseOf(customerId: string | undefined, parts: KinesisParts) {
  if (customerId === undefined) return undefined;
  const hash = BigInt(`0x${createHash('md5').update(customerId).digest('hex')}`);
  const { Items = [] } = await parts.dynamodb.send(new ScanCommand({ TableName: TABLE_NAME }));
  return Items.find((item) => {
    if (item.leaseOwner?.S === undefined || item.checkpoint?.S === 'SHARD_END') return false;
    return BigInt(item.startingHashKey?.S ?? '1') <= hash && hash <= BigInt(item.endingHashKey?.S ?? '0');
  });
}
