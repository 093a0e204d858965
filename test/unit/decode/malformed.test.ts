/** Every malformed kind ends as one sentence that names the field, what was received and what is allowed. */
import { describe, expect, it } from 'vitest';
import { createDecoder, LARGEST_MAX_EVENT_BYTES } from '../../../runtime/decode';

const decode = createDecoder({ defaultCurrency: 'usd' });
const bytes = (text: string) => new TextEncoder().encode(text);

/** A valid body with some members written as they are; undefined leaves a member out. */
function body(over: Readonly<Record<string, string | undefined>> = {}): string {
  const members: Record<string, string | undefined> = {
    customer_id: '"acct-42"',
    billing_period: '"2026-10"',
    amount_cents: '1234',
    stripe_customer_id: '"cus_42"',
    ...over,
  };
  const written = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [`"${name}":${value}`],
  );
  return `{${written.join(',')}}`;
}

const reasonOf = (input: string | Uint8Array, decoder = decode): string => {
  const decoded = decoder(typeof input === 'string' ? bytes(input) : input);
  if (decoded.ok) throw new Error('It was taken for an event');
  return decoded.reason;
};

it('the valid body that all cases start from is an event', () => {
  expect(decode(bytes(body()))).toEqual({
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

const NESTED = `{"a":${'['.repeat(200)}${']'.repeat(200)}}`;

const CASES: readonly [string, string | Uint8Array, string][] = [
  ['not UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), 'not valid UTF-8'],
  ['UTF-16', Uint8Array.from(Buffer.from(`\ufeff${body()}`, 'utf16le')), 'not valid UTF-8'],
  ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), 'not valid UTF-8'],
  ['an overlong NUL', Uint8Array.of(0x22, 0xc0, 0x80, 0x22), 'not valid UTF-8'],
  ['nothing', '', 'The body is empty'],
  ['blanks', ' \n', 'The body is empty'],
  ['not JSON', 'hello', 'not JSON'],
  ['half a JSON', body().slice(0, -1), 'not JSON'],
  ['two objects', `${body()}${body()}`, 'not JSON'],
  ['a comment', `/* */${body()}`, 'not JSON'],
  ['single quotes', "{'a':1}", 'not JSON'],
  ['a comma too many', '{"a":1,}', 'not JSON'],
  ['a raw control character in a text', '{"a":"\u0001"}', 'not JSON'],
  ['NaN', body({ amount_cents: 'NaN' }), 'not JSON'],
  ['a leading zero', body({ amount_cents: '0123' }), 'not JSON'],
  ['a plus', body({ amount_cents: '+1' }), 'not JSON'],
  ['null', 'null', 'JSON but null'],
  ['an array', `[${body()}]`, 'JSON but an array'],
  ['a text', '"{}"', 'JSON but a single value'],
  ['a number', '12', 'JSON but a single value'],
  ['nested too deep', NESTED, 'nested more than 64'],
  ['a key __proto__', body({ __proto: '1' }).replace('__proto', '__proto__'), '"__proto__"'],
  ['an escaped key __proto__', body({ x: '1' }).replace('"x"', '"\\u005f_proto__"'), '"__proto__"'],
  ['a key __proto__ inside', body({ extra: '[{"__proto__":{"amount_cents":1}}]' }), '"__proto__"'],
  ['a key twice', `${body().slice(0, -1)},"amount_cents":1235}`, '"amount_cents" stands twice'],
  ['a key twice, escaped', `${body().slice(0, -1)},"amount\\u005fcents":1235}`, '"amount_cents" stands twice'],
  ['an unknown key twice', `${body().slice(0, -1)},"x":1,"x":2}`, '"x" stands twice'],
  ['a key twice inside', body({ metadata: '{"a":"1","a":"2"}' }), '"a" stands twice'],
  ['no customer', body({ customer_id: undefined }), 'customer_id is missing'],
  ['customer null', body({ customer_id: 'null' }), 'customer_id is missing'],
  ['customer a number', body({ customer_id: '42' }), 'customer_id is the number 42; it must be text'],
  ['customer an object', body({ customer_id: '{}' }), 'customer_id is an object'],
  ['customer true', body({ customer_id: 'true' }), 'customer_id is true'],
  ['customer empty', body({ customer_id: '""' }), 'customer_id is empty'],
  ['customer blank', body({ customer_id: '" \\t"' }), 'customer_id is empty'],
  ['customer too long', body({ customer_id: `"${'x'.repeat(256)}"` }), 'too long; it must be text of 1 to 255'],
  ['customer with NUL', body({ customer_id: '"a\\u0000b"' }), 'customer_id contains the character NUL'],
  ['customer with a lone surrogate', body({ customer_id: '"a\\ud83d"' }), 'half of a surrogate pair'],
  ['customer with the other lone surrogate', body({ customer_id: '"\\udc00a"' }), 'half of a surrogate pair'],
  ['no period', body({ billing_period: undefined }), 'billing_period is missing'],
  ['period a number', body({ billing_period: '202610' }), 'billing_period is the number 202610'],
  ['period empty', body({ billing_period: '""' }), 'billing_period is empty'],
  ['period too long', body({ billing_period: `"${'x'.repeat(65)}"` }), '1 to 64'],
  ['no Stripe customer', body({ stripe_customer_id: undefined }), 'stripe_customer_id is missing'],
  ['Stripe customer of another kind', body({ stripe_customer_id: '"acct_1"' }), 'cus_…'],
  ['Stripe customer with a slash', body({ stripe_customer_id: '"cus_1/../x"' }), 'cus_…'],
  ['Stripe customer with a line break', body({ stripe_customer_id: '"cus_1\\n"' }), 'cus_…'],
  ['no amount', body({ amount_cents: undefined }), 'amount_cents is missing'],
  ['amount a text', body({ amount_cents: '"1234"' }), 'amount_cents is the text "1234"; it must be a JSON integer'],
  ['amount null', body({ amount_cents: 'null' }), 'amount_cents is missing'],
  ['amount true', body({ amount_cents: 'true' }), 'amount_cents is true'],
  ['amount an array', body({ amount_cents: '[1]' }), 'amount_cents is an array'],
  ['amount fractional', body({ amount_cents: '12.34' }), 'has a fraction'],
  ['amount a hair off an integer', body({ amount_cents: '12.00000000000000000000001' }), 'has a fraction'],
  ['amount in exponent form, no integer', body({ amount_cents: '1e-1' }), 'has a fraction'],
  ['amount with an absurd negative exponent', body({ amount_cents: '1e-99999999999999999999' }), 'has a fraction'],
  ['amount negative', body({ amount_cents: '-1' }), 'is negative'],
  ['amount negative beyond 2^53', body({ amount_cents: '-99999999999999999999' }), 'is negative'],
  ['amount 2^53', body({ amount_cents: '9007199254740992' }), 'beyond 2^53'],
  ['amount 2^53 + 1, which a double would round', body({ amount_cents: '9007199254740993' }), 'beyond 2^53'],
  ['amount with an absurd exponent', body({ amount_cents: '1e99999999999999999999' }), 'beyond 2^53'],
  ['amount of nine digits', body({ amount_cents: '100000000' }), 'at most 8 digits in USD'],
  ['amount of nine digits by exponent', body({ amount_cents: '1e8' }), 'at most 8 digits in USD'],
  ['amount of ten digits in INR', body({ amount_cents: '1000000000', currency: '"inr"' }), 'at most 9 digits in INR'],
  [
    'amount of 13 digits in IDR',
    body({ amount_cents: '1000000000000', currency: '"idr"' }),
    'at most 12 digits in IDR',
  ],
  ['currency unknown', body({ currency: '"xyz"' }), 'currency is the text "xyz"'],
  ['currency empty', body({ currency: '""' }), 'currency is the text ""'],
  ['currency a number', body({ currency: '840' }), 'currency is the number 840'],
  ['currency with blanks', body({ currency: '" usd"' }), 'currency is the text " usd"'],
  ['currency with a Kelvin sign', body({ currency: '"\u212aRW"' }), 'currency is the text'],
  ['currency that every object has', body({ currency: '"constructor"' }), 'currency is the text'],
  ['ISK with hundredths', body({ amount_cents: '150', currency: '"isk"' }), 'must be a multiple of 100'],
  ['UGX with hundredths', body({ amount_cents: '1', currency: '"UGX"' }), 'must be a multiple of 100'],
  ['KWD with a last digit', body({ amount_cents: '1234', currency: '"kwd"' }), 'must be a multiple of 10'],
  ['payment method a number', body({ payment_method: '1' }), 'payment_method is the number 1'],
  ['payment method empty', body({ payment_method: '""' }), 'payment_method is empty'],
  [
    'payment method a card number',
    body({ payment_method: '"4242424242424242"' }),
    'payment_method is the text "[digits hidden]"',
  ],
  ['description a number', body({ description: '1' }), 'description is the number 1'],
  ['description too long', body({ description: `"${'x'.repeat(1001)}"` }), '1 to 1000'],
  ['description with NUL', body({ description: '"\\u0000x"' }), 'NUL'],
  ['units an object', body({ units_consumed: '{}' }), 'units_consumed is an object'],
  ['units too long', body({ units_consumed: '1'.repeat(65) }), '1 to 64'],
  ['event id an object', body({ event_id: '{}' }), 'event_id is an object'],
  ['metadata a text', body({ metadata: '"a=b"' }), 'metadata is the text "a=b"; it must be an object'],
  ['metadata an array', body({ metadata: '[]' }), 'metadata is an array'],
  ['metadata nested', body({ metadata: '{"a":{"b":1}}' }), 'metadata, key "a", is an object'],
  ['metadata key too long', body({ metadata: `{"${'k'.repeat(41)}":"1"}` }), '1 to 40 characters'],
  ['metadata key empty', body({ metadata: '{"":"1"}' }), '1 to 40 characters'],
  ['metadata key with brackets', body({ metadata: '{"a[b]":"1"}' }), 'without square brackets'],
  ['metadata key with a lone surrogate', body({ metadata: '{"\\ud800":"1"}' }), 'half of a surrogate pair'],
  ['metadata value too long', body({ metadata: `{"a":"${'v'.repeat(501)}"}` }), 'longer than 500'],
  ['metadata value with NUL', body({ metadata: '{"a":"\\u0000"}' }), 'NUL'],
  [
    'metadata with too many entries',
    body({ metadata: JSON.stringify(Object.fromEntries(Array.from({ length: 46 }, (_, i) => [`k${i}`, 'v']))) }),
    'at most 45',
  ],
  ['two spellings that disagree', body({ customerId: '"other"' }), 'customer_id is the text "acct-42" and customerId'],
  ['customer and account that disagree', body({ account_id: '"other"' }), 'both are read as customer_id'],
  ['amounts that disagree', body({ amountCents: '1235' }), 'amount_cents is the number 1234 and amountCents'],
  ['a body over the limit', body({ x: `"${'x'.repeat(1024 * 1024)}"` }), 'at most 1048576 are allowed'],
];

describe('malformed', () => {
  it.each(CASES)('%s', (_name, input, reason) => {
    const said = reasonOf(input);
    expect(said).toContain(reason);
    expect(said).toMatch(/^\S.*[.]$/);
    expect(said.length).toBeLessThan(400);
  });

  it('the reason itself is fit for the ledger', () => {
    for (const [, input] of CASES) {
      const said = reasonOf(input);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
      expect(said).not.toMatch(/[\u0000-\u001f]|\p{Surrogate}/u);
    }
  });

  it('a card number is not repeated', () => {
    expect(reasonOf(body({ payment_method: '"4242 4242 4242 4242"' }))).not.toMatch(/4242/);
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
    expect(reasonOf(body({ amount_cents: digits }), large)).toContain('has a fraction');
    expect(reasonOf(body({ amount_cents: '9'.repeat(size / 2) }), large)).toContain('beyond 2^53');
  });

  it('of unknown text is an event when allowed, and a dead letter one byte beyond', () => {
    const empty = body({ x: '""' }).length;
    const exact = body({ x: `"${'x'.repeat(size - empty)}"` });
    expect(large(bytes(exact)).ok).toBe(true);
    expect(reasonOf(`${exact} `, large)).toContain(`has ${size + 1} bytes`);
    expect(reasonOf(exact)).toContain('at most 1048576');
  });
});
