/** Faults of the lease table, made by the proxy between the workers and it, or by another owner's hand. */
import { createHash } from 'node:crypto';
import { type AttributeValue, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { systemHost } from '../../../runtime/host';
import { until } from '../fleet';
import { TABLE_NAME } from '../parts';
import type { FaultContext } from './context';

const LOST = 'chargeonce_leases_lost_total';
const HELD = 'chargeonce_leases_held';

/** Two seconds without the lease table: renewals are retried within the lease, and nothing is lost. */
export async function throttleShortly({ parts, fleet, screen, log }: FaultContext): Promise<void> {
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
export async function blockPastTheLease(context: FaultContext, publishMore: () => Promise<unknown>): Promise<void> {
  const { parts, fleet, screen, log } = context;
  log.injected('outage');
  const block = parts.leaseProxy.block();
  screen.fault('outage', 'the lease table is blocked for longer than a lease');
  await systemHost.sleep(5_000);
  await publishMore();
  const allLost = await until(async () => (await fleet.sum(HELD)) === 0, 30_000);
  if (!allLost) log.problems.push('A worker still holds a lease although the table was gone for longer than one.');
  await until(async () => (await fleet.sum('chargeonce_charges_in_flight')) === 0, 25_000);
  const creates = () =>
    parts.stripe.requests.filter((r) => r.method === 'POST' && r.path === '/v1/payment_intents').length;
  const before = creates();
  screen.fault('outage', 'all leases are lost; the workers must not begin another charge');
  await systemHost.sleep(2_000);
  const begun = creates() - before;
  if (begun > 0) log.problems.push(`${begun} charges were begun without a lease.`);
  if (allLost && begun === 0) log.seen('outage');
  block.release();
  screen.fault('outage', `over: ${begun} charges were begun meanwhile`);
}

/** A charge is on its way when another owner takes the lease of its shard. Tried again when it hit a dead owner's. */
export async function stealInMidCharge(context: FaultContext): Promise<void> {
  const { screen, log } = context;
  log.injected('theft');
  for (let tries = 1; tries <= 3; tries++) {
    const outcome = await stealOnce(context);
    if (outcome === 'noticed') {
      log.seen('theft');
      screen.fault('theft', 'noticed; the charge on its way ends, its checkpoint is refused');
      return;
    }
    screen.fault('theft', `${outcome}; tried again`);
  }
}

async function stealOnce({ parts, fleet, screen }: FaultContext): Promise<string> {
  const hold = parts.stripe.faults.hold({ on: 'confirm', when: 'before-execute' });
  try {
    const reached = await Promise.race([hold.reached, systemHost.sleep(20_000).then(() => undefined)]);
    if (reached === undefined) return 'no charge came by';
    const before = await fleet.sum(LOST, { reason: 'stolen' });
    const lease = await leaseOf(await customerOf(reached.path, parts), parts);
    if (lease === undefined) return 'the shard had no owner';
    await parts.dynamodb.send(
      new UpdateItemCommand({
        TableName: TABLE_NAME,
        Key: { leaseKey: lease.leaseKey as AttributeValue },
        UpdateExpression: 'SET leaseOwner = :thief ADD leaseCounter :one',
        ExpressionAttributeValues: { ':thief': { S: 'thief' }, ':one': { N: '1' } },
      }),
    );
    screen.fault('theft', `the lease of ${lease.leaseKey?.S} was stolen in mid-charge`);
    const noticed = await until(async () => (await fleet.sum(LOST, { reason: 'stolen' })) > before, 8_000);
    return noticed ? 'noticed' : 'nobody held that lease any more';
  } finally {
    hold.release();
  }
}

async function customerOf(path: string, parts: FaultContext['parts']): Promise<string | undefined> {
  const intent = /\/payment_intents\/([^/]+)/.exec(path)?.[1];
  const client = await parts.ledgerClient();
  try {
    const found = await client.query('SELECT customer_id FROM billing_records WHERE payment_intent_id = $1', [intent]);
    return found.rows[0]?.customer_id;
  } finally {
    await client.end();
  }
}

/** The lease whose hash range holds the customer's partition key, while somebody owns it. */
async function leaseOf(customerId: string | undefined, parts: FaultContext['parts']) {
  if (customerId === undefined) return undefined;
  const hash = BigInt(`0x${createHash('md5').update(customerId).digest('hex')}`);
  const { Items = [] } = await parts.dynamodb.send(new ScanCommand({ TableName: TABLE_NAME }));
  return Items.find((item) => {
    if (item.leaseOwner?.S === undefined || item.checkpoint?.S === 'SHARD_END') return false;
    return BigInt(item.startingHashKey?.S ?? '1') <= hash && hash <= BigInt(item.endingHashKey?.S ?? '0');
  });
}
