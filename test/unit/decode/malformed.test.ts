/** Every malformed kind ends as one sentence that names the field, what was received and what is allowed. */
import { describe, expect, it } from 'vitest';
import { createDecoder, LARGEST_MAX_EVENT_BYTES } from '../../../runtime/decode';
import { bodyOfSize, bodyWith, MALFORMED } from '../../support/malformed-bodies';

const decode = createDecoder({ defaultCurrency: 'usd' });
const bytes = (text: string) => new TextEncoder().encode(text);

const reasonOf = (input: string | Uint8Array, decoder = decode): string => {
  const decoded = decoder(typeof input === 'string' ? bytes(input) : input);
  if (decoded.ok) throw new Error('It was taken for an event');
  return decoded.reason;
};

it('the valid body that all cases start from is an event', () => {
  expect(decode(bytes(bodyWith()))).toEqual({
    ok: true,
    event: {
      customerId: 'acct-42',
      billingPeriod: '2026-10',
      stripeCustomerId: 'cus_42',
      amountCents: 1234,
      currency: 'usd',
    },
  });
});

describe('malformed', () => {
  it.each(MALFORMED)('%s', (_name, input, reason) => {
    const said = reasonOf(input);
    expect(said).toContain(reason);
    expect(said).toMatch(/^\S.*[.]$/);
    expect(said.length).toBeLessThan(400);
  });

  it('the reason itself is fit for the ledger', () => {
    for (const [, input] of MALFORMED) {
      const said = reasonOf(input);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
      expect(said).not.toMatch(/[\u0000-\u001f]|\p{Surrogate}/u);
    }
  });

  it('a card number is not repeated', () => {
    expect(reasonOf(bodyWith({ payment_method: '"4242 4242 4242 4242"' }))).not.toMatch(/4242/);
  });
});

describe('a body of 10 MiB', () => {
  const large = createDecoder({ defaultCurrency: 'usd', maxBytes: LARGEST_MAX_EVENT_BYTES });
  const size = LARGEST_MAX_EVENT_BYTES;

  it.each([
    ['open brackets', '['.repeat(size)],
    ['open objects', '{"a":'.repeat(size / 5)],
    ['brackets in pairs', `${'['.repeat(size / 2)}${']'.repeat(size / 2)}`],
  ])('of %s is a dead letter, not a crash', (_name, input) => {
    expect(reasonOf(input, large)).toContain('nested more than');
  });

  it('of one number is read in linear time', () => {
    const digits = `0.${'0'.repeat(size / 2)}1`;
    expect(reasonOf(bodyWith({ amount_cents: digits }), large)).toContain('has a fraction');
    expect(reasonOf(bodyWith({ amount_cents: '9'.repeat(size / 2) }), large)).toContain('beyond 2^53');
  });

  it('of unknown text is an event when allowed, and a dead letter one byte beyond', () => {
    const exact = bodyOfSize(size);
    expect(large(bytes(exact)).ok).toBe(true);
    expect(reasonOf(`${exact} `, large)).toContain(`has ${size + 1} bytes`);
    expect(reasonOf(exact)).toContain('at most 1048576');
  });
});
