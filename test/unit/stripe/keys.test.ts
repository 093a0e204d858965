import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { billingKey, confirmKey, createKey, idempotencyKey } from '../../../runtime/processor/keys';

const of = (customerId: string, billingPeriod: string, namespace = 'billing', attempt = 1) =>
  idempotencyKey({ customerId, billingPeriod, namespace, attempt });

describe('idempotencyKey', () => {
  // Computed with coreutils: printf '%s' 'acct-42:2026-10:billing' | sha256sum | cut -c1-32
  it.each([
    ['acct-42', '2026-10', 'billing', 1, '3e076fdaab8bae5bde9e4b96c36a4e9a'],
    ['acct-42', '2026-10', 'kinesis-billing', 1, '92aabafca369bae78b1376e160cf5bcc'],
    ['acct-42', '2026-10', 'azure-event-hubs-billing', 1, 'f950832f509122b6bacab30ce0706132'],
    ['acct-42', '2026-10', 'billing', 2, '584e01d1c096a35638a4919bf4663f42'],
    ['a:b', 'c', 'billing', 1, '2edb07b6b4cb9d59145c173fad8cd987'],
    ['a', 'b:c', 'billing', 1, 'a19f431c363607786c67349313ae46d0'],
    ['a%3Ab', 'c', 'billing', 1, 'dd00230da87b4e812f0eb495571a7e06'],
    ['kundé', '2026-W41', 'billing', 1, 'cc6104212a9c11dce9147e04ce74e13f'],
  ])('%s, %s, %s, attempt %i', (customerId, billingPeriod, namespace, attempt, key) => {
    expect(of(customerId, billingPeriod, namespace, attempt)).toBe(key);
  });

  it('keeps two identities apart that plain joining would merge', () => {
    expect(of('a:b', 'c')).not.toBe(of('a', 'b:c'));
    // The twin: joined without escaping they are one text, and so one key.
    const joined = (a: string, b: string) => createHash('sha256').update(`${a}:${b}:billing`).digest('hex');
    expect(joined('a:b', 'c')).toBe(joined('a', 'b:c'));
  });

  it('is one to one on identities, whatever they contain', () => {
    const id = fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('a', ':', '%', '2', '5', '3', 'A') });
    fc.assert(
      fc.property(id, id, id, id, (a, b, c, d) => {
        expect(of(a, b) === of(c, d)).toBe(a === c && b === d);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses attempt %s', (attempt) => {
    expect(() => of('a', 'b', 'billing', attempt)).toThrow('counts from 1');
  });

  it.each([
    ['', 'b', 'billing'],
    ['a', '', 'billing'],
    ['a', 'b', ''],
  ])('refuses an empty part: %j %j %j', (a, b, namespace) => {
    expect(() => of(a, b, namespace)).toThrow('is empty');
  });
});

it('the billing key is the key of attempt 1', () => {
  const input = { customerId: 'a:b', billingPeriod: '2026-10', namespace: 'billing' };
  expect(billingKey(input)).toBe(idempotencyKey({ ...input, attempt: 1 }));
});

it('the confirm key names the attempt', () => {
  expect(confirmKey({ idempotencyKey: 'k', attempt: 3 })).toBe('k-confirm-3');
});

it.each(['', ' '])('an empty key %j throws', (key) => {
  expect(() => createKey({ idempotencyKey: key })).toThrow('empty idempotency key');
  expect(() => confirmKey({ idempotencyKey: key, attempt: 1 })).toThrow('empty idempotency key');
});
