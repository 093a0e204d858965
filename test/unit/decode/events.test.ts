/** What is an event, and how it is read. */
import { describe, expect, it } from 'vitest';
import { createDecoder, currencyCodes, type FieldPointers, findCurrency, parsePointer } from '../../../runtime/decode';
import { JsonNumber, readInteger } from '../../../runtime/decode/json-number';

const decode = createDecoder({ defaultCurrency: 'usd' });
const bytes = (value: object | string) =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
const valid = { customer_id: 'c', billing_period: 'p', amount_cents: 80, stripe_customer_id: 'cus_1' };
const VALID = { customerId: 'c', billingPeriod: 'p', amountCents: 80, stripeCustomerId: 'cus_1', currency: 'usd' };

describe('spellings', () => {
  it.each([
    ['snake_case', valid],
    ['camelCase', { customerId: 'c', billingPeriod: 'p', amountCents: 80, stripeCustomerId: 'cus_1' }],
    ['account_id', { account_id: 'c', billing_period: 'p', amount_cents: 80, stripe_customer_id: 'cus_1' }],
    ['accountId', { accountId: 'c', billing_period: 'p', amount_cents: 80, stripe_customer_id: 'cus_1' }],
    ['all at once, agreeing', { ...valid, customerId: 'c', account_id: 'c', accountId: 'c', amountCents: 80 }],
    ['one of them null', { ...valid, accountId: null }],
    ['unknown fields', { ...valid, version: 1, constructor: 1, toString: 'x', nested: { deep: [1, { a: null }] } }],
    ['optional fields null', { ...valid, currency: null, payment_method: null, description: null, metadata: null }],
    ['empty description', { ...valid, description: '' }],
    ['empty metadata', { ...valid, metadata: { a: null, b: '' } }],
  ])('%s', (_name, body) => {
    expect(decode(bytes(body))).toEqual({ ok: true, event: VALID });
  });

  it('reads everything optional', () => {
    const body = {
      ...valid,
      currency: 'EUR',
      paymentMethod: 'pm_1',
      description: 'October',
      unitsConsumed: 12.5,
      event_id: 'e-1',
      metadata: { plan: 'gold', seats: 3, trial: false, none: null },
    };
    expect(decode(bytes(body))).toEqual({
      ok: true,
      event: {
        ...VALID,
        currency: 'eur',
        paymentMethod: 'pm_1',
        description: 'October',
        unitsConsumed: '12.5',
        eventId: 'e-1',
        metadata: { plan: 'gold', seats: '3', trial: 'false' },
      },
    });
  });

  it('keeps a metadata number as it was written', () => {
    const text = `${JSON.stringify(valid).slice(0, -1)},"metadata":{"big":12345678901234567890,"price":1.50}}`;
    expect(decode(bytes(text))).toMatchObject({ event: { metadata: { big: '12345678901234567890', price: '1.50' } } });
  });

  it.each(['pm_1', 'card_1', 'src_1', 'ba_1'])('payment method %s', (payment_method) => {
    expect(decode(bytes({ ...valid, payment_method }))).toMatchObject({ event: { paymentMethod: payment_method } });
  });

  it('a repeated key that agrees is one', () => {
    expect(decode(bytes(`${JSON.stringify(valid).slice(0, -1)},"amount_cents":80}`)).ok).toBe(true);
  });

  it('brackets in a text are no nesting, whatever is escaped before them', () => {
    const description = `\\"${'['.repeat(500)}\\`;
    expect(decode(bytes({ ...valid, description }))).toMatchObject({ ok: true, event: { description } });
    const deep = `${JSON.stringify({ ...valid, x: '\\' }).slice(0, -1)},"y":${'['.repeat(100)}${']'.repeat(100)}}`;
    expect(decode(bytes(deep))).toMatchObject({ ok: false, reason: expect.stringContaining('nested more than') });
  });

  it('a byte order mark is dropped', () => {
    expect(decode(bytes(`\ufeff${JSON.stringify(valid)}`))).toEqual({ ok: true, event: VALID });
  });
});

describe('lengths are counted in characters, not in bytes or halves', () => {
  it.each([
    ['customer_id', 255],
    ['billing_period', 64],
    ['description', 1000],
  ])('%s of %i', (field, limit) => {
    expect(decode(bytes({ ...valid, [field]: '🦊'.repeat(limit) })).ok).toBe(true);
    expect(decode(bytes({ ...valid, [field]: '🦊'.repeat(limit + 1) })).ok).toBe(false);
  });
});

describe('amounts', () => {
  it.each([
    ['0', 0],
    ['-0', 0],
    ['0e5', 0],
    ['0.000', 0],
    ['1e3', 1000],
    ['1.5E+2', 150],
    ['80.0', 80],
    ['8000e-2', 80],
    ['99999999', 99_999_999],
  ])('%s is %i', (text, amountCents) => {
    const decoded = decode(bytes(JSON.stringify(valid).replace('80', text)));
    expect(decoded).toEqual({ ok: true, event: { ...VALID, amountCents } });
    expect(decoded.ok && Object.is(decoded.event.amountCents, -0)).toBe(false);
  });

  it.each([
    ['jpy', 80],
    ['ISK', 8000],
    ['ugx', 100],
    ['kwd', 1230],
    ['huf', 81],
    ['inr', 999_999_999],
    ['idr', 999_999_999_999],
    ['clp', 99_999_999],
  ])('%s takes %i', (currency, amount_cents) => {
    const decoded = decode(bytes({ ...valid, currency, amount_cents }));
    expect(decoded).toMatchObject({ ok: true, event: { amountCents: amount_cents, currency: currency.toLowerCase() } });
  });

  it('the default currency has its rules too', () => {
    const icelandic = createDecoder({ defaultCurrency: 'ISK' });
    expect(icelandic(bytes(valid))).toMatchObject({ ok: false });
    expect(icelandic(bytes({ ...valid, amount_cents: 8000 }))).toMatchObject({ event: { currency: 'isk' } });
  });
});

describe('readInteger', () => {
  it.each([
    ['9007199254740991', { kind: 'integer', value: 9007199254740991 }],
    ['9007199254740992', { kind: 'beyond' }],
    ['-9007199254740991', { kind: 'integer', value: -9007199254740991 }],
    ['90071992547409910e-1', { kind: 'integer', value: 9007199254740991 }],
    ['1e400', { kind: 'beyond' }],
    ['1e-400', { kind: 'fraction' }],
    ['0e999999999999', { kind: 'integer', value: 0 }],
    ['123.4500e2', { kind: 'integer', value: 12345 }],
    ['123.456e2', { kind: 'fraction' }],
  ])('%s', (text, read) => {
    expect(readInteger(new JsonNumber(text))).toEqual(read);
  });
});

describe('currencies', () => {
  it('holds Stripe’s table: zero, two and three decimals, each code once', () => {
    const codes = currencyCodes();
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes.length).toBeGreaterThan(135);
    const withDecimals = (decimals: number) =>
      codes.filter((code) => findCurrency(code)?.decimals === decimals).join(' ');
    expect(withDecimals(0)).toBe('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf');
    expect(withDecimals(3)).toBe('bhd jod kwd omr tnd');
    expect(codes.filter((code) => findCurrency(code)?.multipleOf === 100)).toEqual(['isk', 'ugx']);
  });
});

describe('EVENT_FIELDS', () => {
  const foreign = {
    usage: { account: 'c', 'a/b': ['p'], 'm~n': 80 },
    pay: { customer: 'cus_1' },
    customer_id: 'ignored',
  };
  const fields: FieldPointers = {
    customer_id: '/usage/account',
    billing_period: '/usage/a~1b/0',
    amount_cents: '/usage/m~0n',
    stripe_customer_id: '/pay/customer',
  };

  it('reads another shape by JSON Pointers', () => {
    expect(createDecoder({ defaultCurrency: 'usd', fields })(bytes(foreign))).toEqual({ ok: true, event: VALID });
  });

  it('a mapped field is read from there alone, and the reason says where', () => {
    const decoded = createDecoder({ defaultCurrency: 'usd', fields })(bytes({ ...foreign, usage: {} }));
    expect(decoded).toMatchObject({
      ok: false,
      reason: expect.stringContaining('customer_id (at /usage/account) is missing'),
    });
  });

  it.each(['/usage/account/length', '/usage/a~1b/length', '/usage/a~1b/00', '/constructor/name', '/usage/toString'])(
    '%s finds nothing',
    (pointer) => {
      const decoder = createDecoder({ defaultCurrency: 'usd', fields: { ...fields, customer_id: pointer } });
      expect(decoder(bytes(foreign))).toMatchObject({ ok: false, reason: expect.stringContaining('is missing') });
    },
  );

  it('settles which of two fields counts', () => {
    const body = bytes({ ...valid, account_id: 'another' });
    expect(decode(body).ok).toBe(false);
    const decoder = createDecoder({ defaultCurrency: 'usd', fields: { customer_id: '/customer_id' } });
    expect(decoder(body)).toEqual({ ok: true, event: VALID });
  });

  it('an escaped tilde before a 1 is no slash', () => {
    expect(parsePointer('/a~01b/c~1d')).toEqual(['a~1b', 'c/d']);
  });

  it.each(['', 'usage', 'usage/account', '/a~2b', '/a~'])('%j is no pointer', (pointer) => {
    expect(() => parsePointer(pointer)).toThrow('is not a JSON Pointer');
  });

  it('an unknown name is refused', () => {
    const fields = { customer: '/x' } as FieldPointers;
    expect(() => createDecoder({ defaultCurrency: 'usd', fields })).toThrow('allowed names are customer_id');
  });
});

describe('options', () => {
  it.each(['', 'xyz', 'dollar'])('default currency %j is refused', (defaultCurrency) => {
    expect(() => createDecoder({ defaultCurrency })).toThrow('DEFAULT_CURRENCY');
  });

  it.each([0, -1, 1.5, Number.NaN, 10 * 1024 * 1024 + 1])('a limit of %s bytes is refused', (maxBytes) => {
    expect(() => createDecoder({ defaultCurrency: 'usd', maxBytes })).toThrow('MAX_EVENT_BYTES');
  });
});
