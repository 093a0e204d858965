/**
 * Every malformed kind, delivered by the real processor to the real ledger: each is kept with its bytes, its position
 * and the decoder's sentence, and the events around it are charged as if it were not there.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { createDecoder, LARGEST_MAX_EVENT_BYTES } from '../../runtime/decode';
import type { Delivery } from '../../runtime/processor/ports';
import { type BillingWorld, override, useBillingWorld, type Worker } from '../support/billing-world';
import { FakePartition } from '../support/fake-partition';
import { bodyOfSize, MALFORMED } from '../support/malformed-bodies';

const SOURCE = 'kinesis/billing/shardId-000000000000';
const TEN_MIB = LARGEST_MAX_EVENT_BYTES;
const decode = createDecoder({ defaultCurrency: 'usd' });
const decodeLarge = createDecoder({ defaultCurrency: 'usd', maxBytes: TEN_MIB });

type Body = string | Uint8Array;
const toBytes = (body: Body) => (typeof body === 'string' ? new TextEncoder().encode(body) : body);

const open = useBillingWorld();
let world: BillingWorld;
let good: number;
beforeEach(() => {
  world = open();
  good = 0;
});

/** A new customer's event. */
const goodBody = () => JSON.stringify(world.customer(`good${++good}`));

/** The malformed bodies with a good event before, after and between every ten of them. */
function amongGoodOnes(bodies: readonly Body[]): Body[] {
  return [...bodies.flatMap((body, index) => (index % 10 === 0 ? [goodBody(), body] : [body])), goodBody()];
}

/** Positions as Kinesis gives them. */
function batchOf(bodies: readonly Body[]): Delivery[] {
  return bodies.map((body, index) => ({
    body: toBytes(body),
    position: `49590338271490256608559692538361571095921575989136588${String(index).padStart(3, '0')}`,
    partitionKey: `key ${index}`,
  }));
}

/** Answers the position of the checkpoint when everything is finished. */
async function deliver({ processor }: Worker, batch: readonly Delivery[]): Promise<string | undefined> {
  const partition = new FakePartition(SOURCE);
  await processor.deliver(partition, batch);
  expect(await processor.finished(partition)).toBe(true);
  return partition.position;
}

interface Letter {
  readonly source: string;
  readonly source_position: string;
  readonly partition_key: string;
  readonly reason: string;
  readonly body: Buffer;
}

/** What is wrong with the dead letters of a batch, in words; empty when each malformed body has exactly its own. */
async function wrongLetters(batch: readonly Delivery[], decoder = decode): Promise<string[]> {
  const letters = await world.db.query<Letter>(
    'SELECT source, source_position, partition_key, reason, body FROM dead_letters ORDER BY source_position',
  );
  const wrong: string[] = [];
  for (const { body, position, partitionKey } of batch) {
    const decoded = decoder(body);
    const found = letters.filter((letter) => letter.source_position === position);
    if (found.length !== (decoded.ok ? 0 : 1)) wrong.push(`${partitionKey} has ${found.length} letters`);
    for (const letter of found) {
      if (letter.source !== SOURCE || letter.partition_key !== partitionKey) wrong.push(`${partitionKey}: its place`);
      if (!letter.body.equals(body)) wrong.push(`${partitionKey}: ${letter.body.length} other bytes`);
      if (!decoded.ok && letter.reason !== decoded.reason) wrong.push(`${partitionKey}: says ${letter.reason}`);
    }
  }
  const known = new Set(batch.map(({ position }) => position));
  return [
    ...wrong,
    ...letters.flatMap((l) => (known.has(l.source_position) ? [] : [`a letter at ${l.source_position}`])),
  ];
}

/** Every good event was charged, once. */
async function expectGoodOnesCharged(): Promise<void> {
  const customers = Array.from({ length: good }, (_, index) => `good${index + 1}`);
  expect(customers.map((customer) => [customer, world.charges(customer)])).toEqual(customers.map((c) => [c, 1]));
  expect(await world.db.query('SELECT status, count(*)::int FROM billing_records GROUP BY status')).toEqual([
    { status: 'charged', count: good },
  ]);
}

describe('malformed bodies of every kind, among good events', () => {
  const kinds = MALFORMED.map(([, body]) => body);

  it('are kept one by one, the good ones are charged, the checkpoint passes all; again: nothing is added', async () => {
    const batch = batchOf(amongGoodOnes(kinds));
    const worker = world.worker({ decoder: decode });
    expect(await deliver(worker, batch)).toBe(batch.at(-1)?.position);
    expect(await wrongLetters(batch)).toEqual([]);
    expect(worker.metrics.counted('deadLetters')).toBe(kinds.length);
    await expectGoodOnesCharged();

    const before = await world.db.query('SELECT * FROM dead_letters ORDER BY id');
    expect(before).toHaveLength(kinds.length);
    expect(await deliver(world.worker({ decoder: decode }), batch)).toBe(batch.at(-1)?.position);
    expect(await world.db.query('SELECT * FROM dead_letters ORDER BY id')).toEqual(before);
    await expectGoodOnesCharged();
  });

  it('hold the checkpoint until they are kept', async () => {
    const batch = batchOf([goodBody(), ...kinds, goodBody()]);
    const partition = new FakePartition(SOURCE);
    const seenWhenAsked: (string | undefined)[] = [];
    const worker = world.worker({
      decoder: decode,
      ledger: (real) =>
        override(real, {
          deadLetter: async (letters) => {
            if (seenWhenAsked.push(partition.position) <= 3)
              throw new Error('The ledger is not there, as the test wanted');
            await real.deadLetter(letters);
          },
        }),
    });
    await worker.processor.deliver(partition, batch);
    expect(await worker.processor.finished(partition)).toBe(true);
    expect(seenWhenAsked).toEqual([undefined, undefined, undefined, undefined]);
    expect(partition.position).toBe(batch.at(-1)?.position);
    expect(await wrongLetters(batch)).toEqual([]);
  });

  it.each([
    ['keeps none', () => []],
    ['keeps only what is text', (letters) => letters.filter(({ body }) => !body.includes(0xff))],
    ['cuts the bytes', (letters) => letters.map((l) => ({ ...l, body: l.body.subarray(0, 1_000) }))],
    ['says nothing', (letters) => letters.map((letter) => ({ ...letter, reason: 'malformed' }))],
  ] as [string, (letters: Parameters<Worker['ledger']['deadLetter']>[0]) => typeof letters][])(
    'twin: a ledger that %s passes the checkpoint, and is caught',
    async (_name, change) => {
      const batch = batchOf([goodBody(), ...kinds, goodBody()]);
      const deaf = world.worker({
        decoder: decode,
        ledger: (real) => override(real, { deadLetter: (letters) => real.deadLetter(change(letters)) }),
      });
      expect(await deliver(deaf, batch)).toBe(batch.at(-1)?.position);
      expect(await wrongLetters(batch)).not.toEqual([]);
    },
  );
});

describe('bodies of 10 MiB', () => {
  it('above the limit are kept whole', async () => {
    const batch = batchOf([goodBody(), bodyOfSize(TEN_MIB), '['.repeat(TEN_MIB), goodBody()]);
    expect(await deliver(world.worker({ decoder: decode }), batch)).toBe(batch.at(-1)?.position);
    expect(await wrongLetters(batch)).toEqual([]);
    const sizes = await world.db.query<{ reason: string }>('SELECT reason FROM dead_letters ORDER BY source_position');
    expect(sizes.map(({ reason }) => reason)).toEqual([
      'The body has 10485760 bytes; at most 1048576 are allowed (MAX_EVENT_BYTES).',
      'The body has 10485760 bytes; at most 1048576 are allowed (MAX_EVENT_BYTES).',
    ]);
    await expectGoodOnesCharged();
  });

  it('within a limit of 10 MiB are read, and kept whole when they are malformed', async () => {
    const notText = new Uint8Array(TEN_MIB).fill(0xff);
    const event = bodyOfSize(TEN_MIB);
    world.emulator.customers.create({ id: 'cus_42' });
    const batch = batchOf([goodBody(), notText, event, `${event} `, '{"a":'.repeat(TEN_MIB / 5), goodBody()]);
    const worker = world.worker({ decoder: decodeLarge });
    expect(await deliver(worker, batch)).toBe(batch.at(-1)?.position);
    expect(await wrongLetters(batch, decodeLarge)).toEqual([]);
    expect(worker.metrics.counted('deadLetters')).toBe(3);
    expect(world.emulator.books.chargesOf('cus_42')).toHaveLength(1);
    expect(world.emulator.books.charges).toHaveLength(3);
  });
});
