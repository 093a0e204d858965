/**
 * A record that was no event made a consumer throw, which read it again and again: it blocked its shard, with all that
 * lay behind it, until it expired. So it is kept in the ledger with its bytes and the reason, and the checkpoint passes
 * it. Shown on the bundle; test/deploy shows the same on the deployed consumer.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AwsLocal, leaseItems, put, startAwsLocal } from '../support/aws-local';
import { until } from '../support/until';
import { type WorkerWorld, workerWorld } from '../support/worker-world';

const SHARD = 'shardId-000000000000';
const BAD = {
  'no JSON': 'this is no JSON',
  'no UTF-8': Uint8Array.of(0xff, 0xfe, 0x00),
  'nothing at all': Uint8Array.of(0x20),
  'an event cut short': event('cut').slice(0, -9),
  'an amount below zero': event('minus', -5),
  'no customer': JSON.stringify({ billing_period: '2026-10', amount_cents: 5 }),
} as const;

function event(customer: string, amount = 500): string {
  const identity = { customer_id: customer, billing_period: '2026-10', stripe_customer_id: `cus_${customer}` };
  return JSON.stringify({ ...identity, amount_cents: amount });
}

describe('records that are no events', () => {
  let aws: AwsLocal;
  let world: WorkerWorld;
  /** Position of the last record. */
  let last: string;

  const checkpoint = async () =>
    (await leaseItems(aws.dynamodb, world.name)).get(SHARD)?.checkpoint?.S ?? 'there is no lease';
  const parked = () =>
    world.database.query<{ body: Buffer; reason: string }>('SELECT body, reason FROM dead_letters ORDER BY id');

  beforeAll(async () => {
    aws = await startAwsLocal();
    world = await workerWorld(aws);
    await world.database.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'no dead letter today'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON dead_letters FOR EACH ROW EXECUTE FUNCTION refuse()`);
    for (const data of Object.values(BAD)) await put(aws.kinesis, world.name, 'key', data);
    last = await put(aws.kinesis, world.name, 'key', event('behind'));
  }, 60_000);
  afterAll(async () => {
    await world?.close();
    await aws?.stop();
  });

  it('twin: hold up their shard when they cannot be kept, and none is lost', async () => {
    const worker = await world.startWorker();
    await until('it is refused', () => worker.tail().includes('no dead letter today'), 60_000);
    expect(await parked()).toEqual([]);
    expect(await checkpoint()).toBe('TRIM_HORIZON');
    await world.database.query('DROP TRIGGER refuse ON dead_letters');
  });

  it('are kept with their bytes and a reason each, and the checkpoint passes them', async () => {
    await until('the checkpoint is at the last record', async () => (await checkpoint()) === last, 60_000);
    await world.charged(1);
    const kept = await parked();
    expect(kept.map(({ body }) => body)).toEqual(Object.values(BAD).map((data) => Buffer.from(data)));
    for (const { reason } of kept) expect(reason).not.toBe('');
    expect(world.stripe.books.charges.map(({ customer }) => customer)).toEqual(['cus_behind']);
  });
});
