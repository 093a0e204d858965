import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { disaggregate, hashKeyOf } from '../../../runtime/sources/kinesis/kpl';
import { aggregate } from '../../support/kpl-aggregate';

const part = fc.record(
  {
    partitionKey: fc.string({ minLength: 1, maxLength: 40 }),
    explicitHashKey: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map(String),
    data: fc.uint8Array({ maxLength: 300 }),
  },
  { requiredKeys: ['partitionKey', 'data'] },
);

describe('aggregated records', () => {
  it('come apart as they were put together', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 200 }), (parts) => {
        const found = disaggregate(aggregate(parts));
        expect(found?.map((one) => ({ ...one, data: [...one.data] }))).toEqual(
          parts.map((one) => ({ ...one, data: [...one.data] })),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('are plain records when one bit is wrong', () => {
    const good = aggregate([
      { partitionKey: 'a', data: '{"a":1}' },
      { partitionKey: 'b', data: '{"b":2}' },
    ]);
    expect(disaggregate(good)).toHaveLength(2);
    for (let at = 0; at < good.length; at++) {
      const bad = Buffer.from(good);
      bad.writeUInt8(bad.readUInt8(at) ^ 1, at);
      expect(disaggregate(bad)).toBeUndefined();
    }
  });

  it('are plain records when the digest is right but the message is not', () => {
    const broken = aggregate([{ partitionKey: 'a', data: 'x' }]);
    const noKeys = aggregate([]);
    expect(disaggregate(noKeys)).toEqual([]);
    expect(disaggregate(broken.subarray(0, 20))).toBeUndefined();
  });

  it('never throw, whatever follows the magic and carries a right digest', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const digest = createHash('md5').update(bytes).digest();
        disaggregate(Buffer.concat([Buffer.from([0xf3, 0x89, 0x9a, 0xc2]), bytes, digest]));
      }),
    );
  });

  it('plain bytes are no aggregate', () => {
    expect(disaggregate(Buffer.from('{"customer_id":"a"}'))).toBeUndefined();
    expect(disaggregate(new Uint8Array())).toBeUndefined();
  });
});

it('a partition key hashes as Kinesis hashes it; an explicit hash key wins', () => {
  expect(hashKeyOf({ partitionKey: 'a' })).toBe(0x0cc175b9c0f1b6a831c399e269772661n);
  expect(hashKeyOf({ partitionKey: 'a', explicitHashKey: '7' })).toBe(7n);
});
