/**
 * A lease is taken while its holder's charge is on its way, by a second worker that takes its fair share: the charge
 * goes to its end and is entered, the robbed worker's checkpoint counts for nothing, and the thief, which reads the
 * same event again, finds it charged.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseItem } from '../../runtime/sources/kinesis/lease-item';
import type { Worker } from '../../stacks/local/workers';
import { type AwsFaultProxy, type InjectedFault, startAwsFaultProxy } from '../support/aws-fault-proxy';
import { type AwsLocal, leaseItems, startAwsLocal } from '../support/aws-local';
import { until } from '../support/until';
import { type WorkerWorld, workerWorld } from '../support/worker-world';

/** One customer on each of two shards, by the hash of its name. */
const CUSTOMERS = ['amy', 'bob'];
const SHARDS = ['shardId-000000000000', 'shardId-000000000001'];
const HOUR_MS = 3_600_000;
/** A charge may be held for long, and nobody may take its claim meanwhile. */
const PATIENCE = { STRIPE_TIMEOUT_MS: '60000', CLAIM_TTL_MS: '130000' };
const HOLDER = { ...PATIENCE, WORKER_ID: 'holder', STRIPE_API_KEY: 'rk_test_theft_of_lease_Held' };
const THIEF = { ...PATIENCE, WORKER_ID: 'thief', STRIPE_API_KEY: 'rk_test_theft_of_lease_Take' };
const CREATE = 'payment_intents.create';
const CONFIRM = 'payment_intents.confirm';

interface Lease {
  readonly owner: string;
  readonly checkpoint: string;
}

interface Theft {
  readonly world: WorkerWorld;
  readonly holder: Worker;
  readonly thief: Worker;
  /** The shard that changed hands, the other one, and the customer whose charge is on its way there. */
  readonly stolen: string;
  readonly kept: string;
  readonly customer: string;
  /** Lets both charges go on. */
  release(): void;
  /** Shards whose checkpoint the holder sent, whatever became of it. */
  readonly sentCheckpoints: readonly string[];
  /** Keeps the holder from renewing without a checkpoint, so that it cannot know of the theft before it sends one. */
  readonly unaware: InjectedFault | undefined;
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

/** The shard whose checkpoint a write of a lease carries. */
function checkpointedShard(write: Readonly<Record<string, unknown>>): string | undefined {
  const { Key, ExpressionAttributeValues: values } = write as {
    readonly Key: { readonly leaseKey: { readonly S: string } };
    readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
  };
  return values && ':cp' in values ? Key.leaseKey.S : undefined;
}

/** The holder's own way to the lease table, on which the checkpoints that it sends are noted. */
async function watchedWay(sent: string[]): Promise<AwsFaultProxy> {
  const proxy = await startAwsFaultProxy({ target: aws.dynamodbEndpoint });
  proxies.push(proxy);
  const note = (write: Readonly<Record<string, unknown>>): boolean => {
    const shard = checkpointedShard(write);
    if (shard !== undefined) sent.push(shard);
    return false;
  };
  proxy.inject({ operation: 'UpdateItem', matches: note, action: { kind: 'throttle' } });
  return proxy;
}

/** Both charges of the holder are on their way when the thief takes one of its two leases, whichever it likes. */
async function stealInMidCharge(options: { readonly leaseMs: number; readonly unaware: boolean }): Promise<Theft> {
  const world = await workerWorld(aws, { shards: 2 });
  worlds.push(world);
  const sentCheckpoints: string[] = [];
  const way = await watchedWay(sentCheckpoints);
  const lease = { LEASE_DURATION_MS: String(options.leaseMs) };
  const holder = await world.startWorker({ ...HOLDER, ...lease, AWS_ENDPOINT_URL_DYNAMODB: way.endpoint });
  await holder.ready(30_000);
  await until('one worker holds both leases', async () => (await holder.metric('chargeonce_leases_held')) === 2);
  let underWay = 0;
  const hold = world.stripe.faults.hold({ on: 'confirm', when: 'before-execute', times: 2, onHit: () => underWay++ });
  await world.publish(CUSTOMERS.map((customer) => ({ customer })));
  await until('both charges are on their way', () => underWay === 2);
  const plain = (write: Readonly<Record<string, unknown>>) => checkpointedShard(write) === undefined;
  const unaware = options.unaware
    ? way.inject({ operation: 'UpdateItem', matches: plain, action: { kind: 'throttle' } })
    : undefined;
  const thief = await world.startWorker({ ...THIEF, ...lease });
  await thief.ready(30_000);
  await until('the thief has read the event', async () => (await thief.metric('chargeonce_events_total')) === 1);
  expect(await thief.metric('chargeonce_leases_taken_total', { how: 'stolen' })).toBe(1);
  expect(await thief.metric('chargeonce_leases_taken_total')).toBe(1);
  const stolen = [...(await leasesOf(world))].find(([, { owner }]) => owner === 'thief')?.[0] ?? '';
  const kept = SHARDS.find((shard) => shard !== stolen) ?? '';
  const customer = CUSTOMERS[SHARDS.indexOf(stolen)] ?? '';
  const { release } = hold;
  return { world, holder, thief, stolen, kept, customer, release, sentCheckpoints, unaware };
}

const knowsOfTheft = (holder: Worker) =>
  until('the holder knows that a lease was stolen', async () => {
    return (await holder.metric('chargeonce_leases_lost_total', { reason: 'stolen' })) === 1;
  });

/** Operations that change something at Stripe, sent with this worker's key. */
const writesOf = (world: WorkerWorld, { STRIPE_API_KEY }: { readonly STRIPE_API_KEY: string }) =>
  world.stripe.requests
    .filter(({ method, apiKey }) => method === 'POST' && apiKey?.endsWith(STRIPE_API_KEY.slice(-4)))
    .map(({ operation }) => operation)
    .sort();

/** Waits until all is charged and checkpointed: once each, by the holder, and the stolen shard's mark is the thief's. */
async function expectOneChargeEach({ world, holder, thief, stolen, kept, customer }: Theft): Promise<void> {
  await world.charged(2);
  await until('both checkpoints have moved', async () =>
    [...(await leasesOf(world)).values()].every(({ checkpoint }) => /^\d+$/.test(checkpoint)),
  );
  const bills = world.stripe.intents().map(({ metadata, status }) => `${metadata.customer_id} ${status}`);
  expect(bills.sort()).toEqual(['amy succeeded', 'bob succeeded']);
  expect(world.stripe.books.chargesOf(`cus_${customer}`)).toHaveLength(1);
  expect(world.stripe.books.charges).toHaveLength(2);
  expect(writesOf(world, HOLDER)).toEqual([CONFIRM, CONFIRM, CREATE, CREATE]);
  expect(writesOf(world, THIEF)).toEqual([]);
  const leases = await leasesOf(world);
  expect([leases.get(stolen)?.owner, leases.get(kept)?.owner]).toEqual(['thief', 'holder']);
  await until(
    'the thief counts its checkpoint',
    async () => (await thief.metric('chargeonce_checkpoints_total')) === 1,
  );
  expect(await thief.metric('chargeonce_duplicates_total')).toBe(1);
  expect(await holder.metric('chargeonce_leases_lost_total')).toBe(1);
  expect((await holder.stop(30_000)).code).toBe(0);
  expect((await thief.stop(30_000)).code).toBe(0);
}

describe('a lease stolen in mid-charge', () => {
  it('costs no second charge: the holder knows, its charge is entered, it sends no checkpoint', async () => {
    const theft = await stealInMidCharge({ leaseMs: 10_000, unaware: false });
    await knowsOfTheft(theft.holder);
    theft.release();
    await expectOneChargeEach(theft);
    expect(new Set(theft.sentCheckpoints)).toEqual(new Set([theft.kept]));
  });

  it('costs none when the holder learns of it by its checkpoint, which the table refuses', async () => {
    const theft = await stealInMidCharge({ leaseMs: 20_000, unaware: true });
    const { world, holder, thief, stolen } = theft;
    // The thief stands still meanwhile, so that whatever becomes of the checkpoint is the holder's doing.
    process.kill(thief.pid, 'SIGSTOP');
    theft.release();
    await world.charged(2);
    await knowsOfTheft(holder);
    expect(theft.sentCheckpoints).toContain(stolen);
    expect((await leasesOf(world)).get(stolen)).toEqual({ owner: 'thief', checkpoint: 'TRIM_HORIZON' });
    process.kill(thief.pid, 'SIGCONT');
    theft.unaware?.remove();
    await expectOneChargeEach(theft);
  });

  it('twin: costs one when the ledger forgets the charge on its way, and the books show it', async () => {
    const { world, holder, customer, release } = await stealInMidCharge({ leaseMs: 10_000, unaware: false });
    await knowsOfTheft(holder);
    world.stripe.clock.advance(25 * HOUR_MS);
    await world.database.query('DELETE FROM billing_records');
    release();
    await until('the customer is charged again', () => world.stripe.books.chargesOf(`cus_${customer}`).length === 2);
    expect(world.stripe.books.doubleCharged().length).toBeGreaterThan(0);
    expect(writesOf(world, THIEF)).toEqual([CONFIRM, CREATE]);
  });
});
