import { types as avro } from 'avsc';
import { describe, expect, test } from 'vitest';
import { type CapturedDelivery, readCapture } from '../../../runtime/sources/event-hubs/capture';
import { CaptureFileError } from '../../../runtime/sources/event-hubs/capture-container';
import { capturePlace } from '../../../runtime/sources/event-hubs/capture-place';
import { blocksOf, captured, fileOf, SCHEMA } from './capture-files';

const PATH = 'contoso/usage/3/2026/11/30/20/05/45.avro';

async function* cutInto(file: Buffer, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += bytes) yield file.subarray(at, at + bytes);
}

/** What came, and what it ended with. */
async function read(file: Buffer, path = PATH, bytes = 1_000) {
  const events: CapturedDelivery[] = [];
  try {
    for await (const event of readCapture({ path, chunks: cutInto(file, bytes) })) events.push(event);
    return { events };
  } catch (error) {
    return { events, error: error as Error };
  }
}

const MANY = Array.from({ length: 120 }, (_, index) => captured(index));
const NUMBERS = MANY.map(({ SequenceNumber }) => SequenceNumber);
const numbersOf = (events: readonly CapturedDelivery[]) => events.map(({ position }) => Number(position));

describe('a whole file', () => {
  test.each(['null', 'deflate'])('with codec %s is read, in order, whatever the chunks', async (codec) => {
    const file = await fileOf(MANY, { codec });
    for (const bytes of [1, 7, 1_000, file.length]) {
      const { events, error } = await read(file, PATH, bytes);
      expect(error).toBeUndefined();
      expect(numbersOf(events)).toEqual(NUMBERS);
    }
  });

  test('gives what a delivery from the hub has, and the partition of its name', async () => {
    const { events } = await read(await fileOf([captured(7)]));
    expect(events).toEqual([
      {
        body: Buffer.from('{"customer_id":"c1","billing_period":"p7"}'),
        position: '7',
        offset: '700',
        partitionKey: 'c1',
        enqueuedAt: Date.UTC(2026, 10, 30, 20, 5, 45),
        partitionId: '3',
      },
    ]);
  });

  test('with an empty body, no key, bytes that are no text, and numbers of 64 bits', async () => {
    const long = avro.LongType.__with({
      fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
      toBuffer: (value: bigint) => {
        const buffer = Buffer.alloc(8);
        buffer.writeBigInt64LE(value);
        return buffer;
      },
      fromJSON: BigInt,
      toJSON: String,
      isValid: (value: unknown) => typeof value === 'bigint',
      compare: () => 0,
    } as never);
    const number = 9_007_199_254_740_993n;
    const wide = [
      { ...captured(1, { Body: null, SystemProperties: {} }), SequenceNumber: 1n },
      { ...captured(2, { Body: { bytes: Buffer.from([0xff, 0x00]) }, SystemProperties: {} }), SequenceNumber: number },
      {
        ...captured(3, { Body: { bytes: Buffer.from('x') }, SystemProperties: { a: { long: -(2n ** 63n) } } }),
        SequenceNumber: 3n,
      },
    ].map((event) => ({ ...event, Properties: {} }));
    const { events, error } = await read(await fileOf(wide, { long }));
    expect(error).toBeUndefined();
    const found = events.map(({ body, partitionKey, position }) => [
      Buffer.from(body).toString('hex'),
      partitionKey,
      position,
    ]);
    expect(found).toEqual([
      ['', '', '1'],
      ['ff00', '', String(number)],
      ['78', '', '3'],
    ]);
  });

  test('without events is read to its end', async () => {
    expect(await read(await fileOf([]))).toEqual({ events: [] });
  });

  test('of a later layout is read too: more fields, more kinds of properties', async () => {
    const fields = SCHEMA.fields.map((field) =>
      field.name === 'Properties' ? { ...field, type: { type: 'map', values: ['long', 'null', 'string'] } } : field,
    );
    const schema = { ...SCHEMA, fields: [...fields, { name: 'Added', type: 'string' }] };
    const event = { ...captured(1), Properties: { a: null }, Added: 'new' };
    expect((await read(await fileOf([event], { schema }))).events).toHaveLength(1);
  });

  test.each([
    ['8/31/2017 7:12:14 AM', Date.UTC(2017, 7, 31, 7, 12, 14)],
    ['12/1/2026 12:00:00 AM', Date.UTC(2026, 11, 1)],
    ['12/1/2026 12:00:00 PM', Date.UTC(2026, 11, 1, 12)],
    ['2026-11-30T20:05:45.5Z', Date.UTC(2026, 10, 30, 20, 5, 45, 500)],
    ['yesterday', undefined],
  ])('was enqueued at %s', async (EnqueuedTimeUtc, time) => {
    const { events } = await read(await fileOf([captured(1, { EnqueuedTimeUtc })]));
    expect(events[0]?.enqueuedAt).toBe(time);
  });
});

test.each(['null', 'deflate'])(
  'a file with codec %s that is cut off gives what was whole, and then says where',
  async (codec) => {
    const file = await fileOf(MANY, { codec });
    const blocks = blocksOf(file);
    expect(blocks.length).toBeGreaterThan(3);
    const first = blocks[0]?.byte ?? 0;
    const near = (at: number) => blocks.some(({ byte }) => Math.abs(byte - at) < 3);
    const cuts = Array.from({ length: file.length }, (_, at) => at).filter((at) => at % 211 === 0 || near(at));
    for (const cut of cuts) {
      const { events, error } = await read(file.subarray(0, cut));
      const whole = blocks.filter(({ end }) => end <= cut);
      const end = whole.at(-1)?.end ?? first;
      const count = whole.reduce((sum, { records }) => sum + records, 0);
      expect(numbersOf(events), `cut at ${cut}`).toEqual(NUMBERS.slice(0, count));
      if (cut === end) expect(error, `cut at ${cut}`).toBeUndefined();
      else {
        expect(error, `cut at ${cut}`).toBeInstanceOf(CaptureFileError);
        expect(error?.message).toContain(`${PATH}, byte ${cut < first ? 0 : end}: `);
        if (cut >= 4) expect(error?.message).toContain(`the file ends at byte ${cut}`);
      }
    }
  },
);

describe('a file that is none', () => {
  const replaced = (file: Buffer, one: string, other: string) =>
    Buffer.from(file.toString('latin1').replace(one, other), 'latin1');
  const foreign = { type: 'record', name: 'X', fields: [{ name: 'a', type: 'int' }] };

  test.each<[string, () => Promise<Buffer>, string]>([
    ['nothing', async () => Buffer.alloc(0), 'byte 0: the file is empty or shorter than 4 bytes'],
    ['a text', async () => Buffer.from('{"customer_id":"a"}\n'), 'byte 0: it is no Avro file'],
    [
      'Avro of somebody else',
      () => fileOf([{ a: 1 }], { schema: foreign }),
      'its records are none of Event Hubs Capture',
    ],
    [
      'another codec',
      async () => replaced(await fileOf([captured(1)], { codec: 'deflate' }), 'deflate', 'snappy!'),
      'its records are packed with "snappy!"; null and deflate can be read',
    ],
    [
      'a schema that is none',
      async () => replaced(await fileOf([captured(1)]), '"record"', '"record}'),
      'its header has no schema',
    ],
  ])('%s is refused', async (_, file, words) => {
    const { events, error } = await read(await file());
    expect(events).toEqual([]);
    expect(error).toBeInstanceOf(CaptureFileError);
    expect(error?.message).toContain(words);
  });

  test('damaged anywhere ends with an error, or with as many events as there are', async () => {
    const file = await fileOf(MANY, { codec: 'deflate' });
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    let refused = 0;
    for (let round = 0; round < 200; round += 1) {
      const copy = Buffer.from(file);
      const at = random(copy.length);
      copy[at] = (copy[at] ?? 0) ^ (1 + random(255));
      const { events, error } = await read(copy, PATH, 100_000);
      if (error === undefined) expect(events, `byte ${at}`).toHaveLength(MANY.length);
      else expect(error, `byte ${at}`).toBeInstanceOf(CaptureFileError);
      refused += error === undefined ? 0 : 1;
    }
    expect(refused).toBeGreaterThan(100);
  });

  test('random bytes behind a right beginning are refused', async () => {
    const header = await fileOf([]);
    for (const rest of [[0xff], Array<number>(12).fill(0xff), [2, 1], [2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]]) {
      const { events, error } = await read(Buffer.concat([header, Buffer.from(rest)]));
      expect(events).toEqual([]);
      expect(error?.message).toContain(`byte ${header.length}: `);
    }
  });
});

test('no more than a block is held, however long the file', async () => {
  const events = Array.from({ length: 1_000 }, (_, index) => captured(index, { Body: Buffer.alloc(1_000, 120) }));
  const file = await fileOf(events, { blockSize: 10_000_000 });
  const [block = { byte: 0, end: 0 }, ...more] = blocksOf(file);
  expect(more).toEqual([]);
  let given = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield file.subarray(0, block.byte);
    for (; given < 40; given += 1) yield file.subarray(block.byte, block.end);
  }
  let taken = 0;
  for await (const { body } of readCapture({ path: PATH, chunks: chunks() })) {
    taken += body.length;
    // Of blocks that were given, all but the one that is read have been handed out.
    expect(given - taken / 1_000_000).toBeLessThanOrEqual(1);
  }
  expect(taken).toBe(40 * 1_000_000);
});

test('a reader that stops lets go of the file', async () => {
  const file = await fileOf(MANY);
  let closed = false;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield file.subarray(0, 10_000);
      yield file.subarray(10_000);
    } finally {
      closed = true;
    }
  }
  for await (const { position } of readCapture({ path: PATH, chunks: chunks() })) if (position === '2') break;
  expect(closed).toBe(true);
});

describe('the name', () => {
  test('says namespace, hub and partition, in a folder or not', () => {
    const place = { namespace: 'contoso', eventHub: 'usage', partitionId: '3' };
    expect(capturePlace(PATH)).toEqual(place);
    expect(capturePlace(`https://account.blob.core.windows.net/captured/${PATH}`)).toEqual(place);
    const format = 'hubs/{EventHub}/p={PartitionId}/{Year}{Month}{Day}_{Hour}{Minute}{Second}_{Namespace}';
    expect(capturePlace('hubs/usage/p=11/20261130_200545_contoso.avro', format).partitionId).toBe('11');
  });

  test.each(['usage.avro', 'contoso/usage/x/2026/11/30/20/05/45.avro', `${PATH}.gz`, ''])('%j is none', (path) => {
    expect(() => capturePlace(path)).toThrow('must hold {PartitionId}');
  });

  test('that is none is refused before anything is read', async () => {
    expect((await read(await fileOf([captured(1)]), 'usage.avro')).error?.message).toContain('usage.avro: the name of');
  });
});
