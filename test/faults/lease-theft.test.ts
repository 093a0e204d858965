/**
 * A lease is taken while its holder's charge is on its way, by a second worker that takes its fair share: the charge
 * goes to its end and is entered, the robbed worker writes no checkpoint any more, and the thief, which reads the same
 * event again, finds it charged.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseItem } from '../../runtime/sources/kinesis/lease-item';
import type { Worker } from '../../stacks/local/workers';
import { type AwsFaultProxy, startAwsFaultProxy } from '../support/aws-fault-proxy';
import { type AwsLocal, leaseItems, startAwsLocal } from '../support/aws-local';
import { until } from '../support/until';
import { type WorkerWorld, workerWorld } from '../support/worker-world';

/** One customer on each of two shards, by the hash of its name. */
const CUSTOMERS = ['amy', 'bob'];
const SHARDS = ['shardId-000000000000', 'shardId-000000000001'];
const HOUR_MS = 3_600_000;
/** A charge may be held for long, nobody may take its claim meanwhile, and no lease may expire by itself. */
const PATIENCE = { STRIPE_TIMEOUT_MS: '60000', CLAIM_TTL_MS: '130000', LEASE_DURATION_MS: '10000' };
const HOLDER = { ...PATIENCE, WORKER_ID: 'holder', STRIPE_API_KEY: 'rk_test_theft_of_lease_Held' };
const THIEF = { ...PATIENCE, WORKER_ID: 'thief', STRIPE_API_KEY: 'rk_test_theft_of_lease_Take' };

interface Lease {
  readonly owner: string;
  readonly checkpoint: string;
}

interface Theft {
  readonly world: WorkerWorld;
  readonly holder: Worker;
  readonly thief: Worker;
  /** The shard that changed hands. */
  readonly shard: string;
  readonly customer: string;
  /** Shards whose checkpoint the holder sent, as the requests left it. */
  readonly checkpointsOfHolder: readonly string[];
}

let aws: AwsLocal;
const worlds: WorkerWorld[] = [];
const proxies: AwsFaultProxy[] = [];
beforeAll(async () => {
  aws = await startAwsLocal();
});
afterAll(async () => {
  for (const world of worlds) await world.close();
  for (const proxy of proxies) await proxy.stop();
  await aws.stop();
});

async function leasesOf(world: WorkerWorld): Promise<Map<string, Lease>> {
  const leases = new Map<string, Lease>();
  for (const [key, item] of await leaseItems(aws.dynamodb, world.name)) {
    const parsed = parseItem(item);
    if (parsed.kind !== 'lease') throw new Error(`${key} is no lease: ${parsed.why}`);
    const { owner = 'nobody', checkpoint } = parsed.lease;
    leases.set(key, { owner: owner.split(':')[0] ?? '', checkpoint: checkpoint.sequence });
  }
  return leases;
}

/** The worker's own way to the lease table, on which the checkpoints that it sends are noted. */
async function watchedWay(sent: string[]): Promise<Record<string, string>> {
  const proxy = await startAwsFaultProxy({ target: aws.dynamodbEndpoint });
  proxies.push(proxy);
  const note = (body: Readonly<Record<string, unknown>>): boolean => {
    const { Key, ExpressionAttributeValues: values } = body as {
      Key: { leaseKey: { S: string } };
      ExpressionAttributeValues?: Record<string, unknown>;
    };
    if (values && ':cp' in values) sent.push(Key.leaseKey.S);
    return false;
  };
  proxy.inject({ operation: 'UpdateItem', matches: note, action: { kind: 'throttle' } });
  return { AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint };
}

/** Both charges of the holder are on their way when the thief takes one of its two leases, whichever it likes. */
async function stealInMidCharge(meanwhile: (world: WorkerWorld) => Promise<void> = async () => {}): Promise<Theft> {
  const world = await workerWorld(aws, { shards: 2 });
  worlds.push(world);
  const checkpointsOfHolder: string[] = [];
  const holder = await world.startWorker({ ...HOLDER, ...(await watchedWay(checkpointsOfHolder)) });
  await holder.ready(30_000);
  await until('one worker holds both leases', async () => (await holder.metric('chargeonce_leases_held')) === 2);
  let underWay = 0;
  const hold = world.stripe.faults.hold({ on: 'confirm', when: 'before-execute', times: 2, onHit: () => underWay++ });
  await world.publish(CUSTOMERS.map((customer) => ({ customer })));
  await until('both charges are on their way', () => underWay === 2);
  const thief = await world.startWorker(THIEF);
  await thief.ready(30_000);
  await until('the holder knows that a lease was stolen', () => lost(holder, 'stolen', 1));
  expect(await thief.metric('chargeonce_leases_taken_total', { how: 'stolen' })).toBe(1);
  const stolen = [...(await leasesOf(world))].filter(([, lease]) => lease.owner === 'thief');
  expect(stolen.map(([, lease]) => lease.checkpoint)).toEqual(['TRIM_HORIZON']);
  const shard = stolen[0]?.[0] ?? '';
  await until('the thief has read the event', async () => (await thief.metric('chargeonce_events_total')) === 1);
  await meanwhile(world);
  hold.release();
  const customer = CUSTOMERS[SHARDS.indexOf(shard)] ?? '';
  return { world, holder, thief, shard, customer, checkpointsOfHolder };
}

const lost = async (worker: Worker, reason: string, count: number) =>
  (await worker.metric('chargeonce_leases_lost_total', { reason })) === count;

/** Operations that change something at Stripe, sent with this worker's key. */
const writesOf = (world: WorkerWorld, { STRIPE_API_KEY }: { readonly STRIPE_API_KEY: string }) =>
  world.stripe.requests
    .filter(({ method, apiKey }) => method === 'POST' && apiKey?.endsWith(STRIPE_API_KEY.slice(-4)))
    .map(({ operation }) => operation)
    .sort();

describe('a lease stolen in mid-charge', () => {
  it('costs no second charge: the charge is entered, the thief finds it and moves the checkpoint', async () => {
    const { world, holder, thief, shard, customer, checkpointsOfHolder } = await stealInMidCharge();
    await world.charged(2);
    const moved = (checkpoint: string | undefined) => /^\d+$/.test(checkpoint ?? '');
    await until('both checkpoints have moved', async () =>
      [...(await leasesOf(world)).values()].every((lease) => moved(lease.checkpoint)),
    );

    const bills = world.stripe.intents().map(({ metadata, status }) => `${metadata.customer_id} ${status}`);
    expect(bills.sort()).toEqual(['amy succeeded', 'bob succeeded']);
    expect(world.stripe.books.chargesOf(`cus_${customer}`)).toHaveLength(1);
    expect(world.stripe.books.charges).toHaveLength(2);
    const [create, confirm] = ['payment_intents.create', 'payment_intents.confirm'];
    expect(writesOf(world, HOLDER)).toEqual([confirm, confirm, create, create]);
    expect(writesOf(world, THIEF)).toEqual([]);

    const leases = await leasesOf(world);
    const kept = SHARDS.find((one) => one !== shard) ?? '';
    expect(leases.get(shard)?.owner).toBe('thief');
    expect(leases.get(kept)?.owner).toBe('holder');
    expect(await thief.metric('chargeonce_checkpoints_total')).toBe(1);
    expect(await thief.metric('chargeonce_duplicates_total')).toBe(1);
    expect(await holder.metric('chargeonce_leases_lost_total')).toBe(1);
    expect((await holder.stop(30_000)).code).toBe(0);
    expect(new Set(checkpointsOfHolder)).toEqual(new Set([kept]));
    expect((await thief.stop(30_000)).code).toBe(0);
  });

  it('twin: costs one when the ledger forgets the charge on its way, and the books show it', async () => {
    const { world, customer } = await stealInMidCharge(async ({ database, stripe }) => {
      stripe.clock.advance(25 * HOUR_MS);
      await database.query('DELETE FROM billing_records');
    });
    await until('the customer is charged again', () => world.stripe.books.chargesOf(`cus_${customer}`).length === 2);
    expect(world.stripe.books.doubleCharged().length).toBeGreaterThan(0);
    expect(writesOf(world, THIEF)).toEqual(['payment_intents.confirm', 'payment_intents.create']);
  });
});
