/** The decoder never throws, and what it calls an event keeps every promise of an event. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createDecoder, currencyCodes, type Decoded, findCurrency } from '../../../runtime/decode';

const decode = createDecoder({ defaultCurrency: 'usd', maxBytes: 4096 });
const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

const isText = (value: unknown, limit: number) =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  [...value].length <= limit &&
  !value.includes('\0') &&
  !/\p{Surrogate}/u.test(value);

/** All invariants of an answer. */
function check(decoded: Decoded): void {
  if (!decoded.ok) {
    expect(decoded.reason).toMatch(/^\S[^\n]*\.$/);
    expect(decoded.reason.length).toBeLessThan(500);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(decoded.reason).not.toMatch(/[\u0000-\u001f]|\p{Surrogate}/u);
    return;
  }
  const { event } = decoded;
  expect(isText(event.customerId, 255) && isText(event.billingPeriod, 64)).toBe(true);
  expect(event.stripeCustomerId).toMatch(/^cus_[\w-]+$/);
  const currency = findCurrency(event.currency);
  expect(currency?.code).toBe(event.currency);
  expect(Number.isSafeInteger(event.amountCents) && event.amountCents >= 0).toBe(true);
  expect(event.amountCents % (currency?.multipleOf ?? 0)).toBe(0);
  expect(String(event.amountCents).length).toBeLessThanOrEqual(currency?.maxDigits ?? 0);
  if (event.paymentMethod !== undefined) expect(event.paymentMethod).toMatch(/^(pm|card|src|ba)_[\w-]+$/);
  if (event.description !== undefined) expect(isText(event.description, 1000)).toBe(true);
  const metadata = Object.entries(event.metadata ?? { a: 'b' });
  expect(metadata.length >= 1 && metadata.length <= 45).toBe(true);
  for (const [key, value] of metadata) {
    expect([...key].length <= 40 && [...value].length <= 500 && value !== '' && !/[[\]]/.test(key)).toBe(true);
  }
}

const text = (maxLength: number) =>
  fc
    .string({ minLength: 1, maxLength, unit: 'grapheme' })
    .filter((value) => isText(value, maxLength) && [...value].length <= maxLength);
const id = (prefix: string) => fc.stringMatching(/^[A-Za-z0-9]{1,20}$/).map((rest) => `${prefix}_${rest}`);

const money = fc.constantFrom(...currencyCodes()).chain((code) => {
  const currency = findCurrency(code);
  if (currency === undefined) throw new Error(`${code} is not in its own table`);
  const most = Math.floor((10 ** currency.maxDigits - 1) / currency.multipleOf);
  return fc
    .nat({ max: Math.min(most, 2 ** 31 - 1) })
    .map((n) => ({ currency: code, amountCents: n * currency.multipleOf }));
});

const eventArb = fc
  .record(
    {
      customerId: text(255),
      billingPeriod: text(64),
      stripeCustomerId: id('cus'),
      money,
      paymentMethod: id('pm'),
      description: text(100),
      metadata: fc.dictionary(fc.stringMatching(/^[a-z][a-z_]{0,39}$/), text(50), { minKeys: 1, maxKeys: 5 }),
    },
    { requiredKeys: ['customerId', 'billingPeriod', 'stripeCustomerId', 'money'] },
  )
  .map(({ money: { currency, amountCents }, ...rest }) => ({ ...rest, currency, amountCents }));

const snake = (value: object) =>
  Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`), inner]),
  );

it('any valid event comes back as it was, in either spelling', () => {
  fc.assert(
    fc.property(eventArb, fc.boolean(), (event, inSnakeCase) => {
      const large = createDecoder({ defaultCurrency: 'usd' });
      const body = encode({ ...(inSnakeCase ? snake(event) : event), currency: event.currency.toUpperCase() });
      expect(large(body)).toEqual({ ok: true, event });
    }),
    { numRuns: 500 },
  );
});

it('any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => check(decode(bytes))),
    { numRuns: 1000 },
  );
});

it('any JSON', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 10 }), (body) => check(decode(new TextEncoder().encode(body)))),
    { numRuns: 1000 },
  );
});

it('any valid event with any member replaced by anything', () => {
  const names = ['customer_id', 'billing_period', 'amount_cents', 'stripe_customer_id', 'currency', 'payment_method'];
  const name = fc.constantFrom(...names, 'description', 'metadata', 'units_consumed', 'customerId', 'account_id');
  const anything = fc.oneof(fc.jsonValue(), fc.double(), fc.bigInt().map(String), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(eventArb, name, anything, (event, member, value) => {
      check(decode(encode({ ...snake(event), [member]: value })));
    }),
    { numRuns: 1000 },
  );
});

it('any valid event with some bytes changed, lost or added', () => {
  const change = fc.record({
    at: fc.nat(),
    byte: fc.integer({ min: 0, max: 255 }),
    how: fc.constantFrom('set', 'cut', 'add'),
  });
  fc.assert(
    fc.property(eventArb, fc.array(change, { minLength: 1, maxLength: 4 }), (event, changes) => {
      const bytes = [...encode(event)];
      for (const { at, byte, how } of changes) {
        const where = at % bytes.length;
        if (how === 'set') bytes[where] = byte;
        else bytes.splice(where, how === 'cut' ? 1 : 0, ...(how === 'add' ? [byte] : []));
      }
      check(decode(Uint8Array.from(bytes)));
    }),
    { numRuns: 2000 },
  );
});

/** The number's exact value by whole numbers alone: undefined when it is no integer. */
function exactly(written: string): bigint | undefined {
  const [mantissa = '', exponent = '0'] = written.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = Number(exponent) - fraction.length;
  const digits = BigInt(`${whole}${fraction}`);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return digits % divisor === 0n ? digits / divisor : undefined;
}

it('any number as an amount: an event when it is an integer of Stripe’s, by exact arithmetic, and only then', () => {
  const number = fc.stringMatching(/^(0|[1-9]\d{0,12}0{0,9})(\.\d{1,6}0{0,9})?([eE][+-]?[0-3]?\d)?$/);
  fc.assert(
    fc.property(number, (written) => {
      const body = `{"customer_id":"c","billing_period":"p","stripe_customer_id":"cus_1","amount_cents":${written}}`;
      const decoded = decode(new TextEncoder().encode(body));
      check(decoded);
      const exact = exactly(written);
      if (exact === undefined || exact > 99_999_999n) expect(decoded.ok).toBe(false);
      else expect(decoded).toMatchObject({ ok: true, event: { amountCents: Number(exact) } });
    }),
    { numRuns: 3000 },
  );
});

it('twin: without the checks a rounded amount and a stolen key pass', () => {
  const rounded = JSON.parse('{"amount_cents":12.00000000000000000000001}') as { amount_cents: number };
  expect(Number.isInteger(rounded.amount_cents)).toBe(true);
  const last = JSON.parse('{"amount_cents":1,"amount_cents":9999}') as { amount_cents: number };
  expect(last.amount_cents).toBe(9999);
});
