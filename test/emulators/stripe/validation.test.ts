import type Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, failureOf, TEST_KEY } from '../openapi/checked-client';
import { type StripeEmulator, startStripeEmulator } from './index';

describe('parameters', () => {
  let emulator: StripeEmulator;
  let stripe: Stripe;

  beforeAll(async () => {
    emulator = await startStripeEmulator();
    stripe = createClient(emulator);
  });
  afterAll(() => emulator.close());

  const send = async (form: string, headers: Record<string, string> = {}, path = '/v1/payment_intents') => {
    const response = await fetch(`${emulator.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: form,
    });
    const body = (await response.json()) as { error?: { code?: string; param?: string; message: string } };
    return { status: response.status, error: body.error };
  };

  it.each([
    ['currency=usd', 'parameter_missing', 'amount'],
    ['amount=100', 'parameter_missing', 'currency'],
    ['amount=1.5&currency=usd', 'parameter_invalid_integer', 'amount'],
    ['amount=1e3&currency=usd', 'parameter_invalid_integer', 'amount'],
    ['amount=0&currency=usd', 'parameter_invalid_integer', 'amount'],
    ['amount=-5&currency=usd', 'parameter_invalid_integer', 'amount'],
    ['amount=&currency=usd', 'parameter_invalid_empty', 'amount'],
    ['amount[x]=1&currency=usd', undefined, 'amount'],
    ['amount=100&currency=xyz', undefined, 'currency'],
    ['amount=100&currency=usd&foo=1', 'parameter_unknown', 'foo'],
    ['amount=100&currency=usd&__proto__[x]=1', 'parameter_unknown', '__proto__'],
    [
      'amount=100&currency=usd&automatic_payment_methods[enabeld]=true',
      'parameter_unknown',
      'automatic_payment_methods[enabeld]',
    ],
    [
      'amount=100&currency=usd&automatic_payment_methods[allow_redirects]=never',
      'parameter_missing',
      'automatic_payment_methods[enabled]',
    ],
    ['amount=100&currency=usd&payment_method_types[]=card', 'parameter_unknown', 'payment_method_types'],
    ['amount=100&currency=usd&confirm=yes', undefined, 'confirm'],
    ['amount=100&currency=usd&capture_method=later', undefined, 'capture_method'],
    ['amount=100&currency=usd&off_session=true', undefined, 'off_session'],
    ['amount=100&currency=usd&error_on_requires_action=true', undefined, 'error_on_requires_action'],
    ['amount=100&currency=usd&metadata=x', undefined, 'metadata'],
    ['amount=100&currency=usd&metadata[a][b]=x', undefined, 'metadata'],
    [`amount=100&currency=usd&metadata[${'k'.repeat(41)}]=x`, undefined, 'metadata'],
    [`amount=100&currency=usd&metadata[k]=${'v'.repeat(501)}`, undefined, 'metadata[k]'],
    [
      `amount=100&currency=usd&${Array.from({ length: 51 }, (_, at) => `metadata[k${at}]=v`).join('&')}`,
      undefined,
      'metadata',
    ],
    [`amount=100&currency=usd&description=${'d'.repeat(1001)}`, undefined, 'description'],
  ])('%s is refused', async (form, code, param) => {
    const { status, error } = await send(form);
    expect([status, error?.code, error?.param]).toEqual([400, code, param]);
  });

  it.each([
    ['usd', 50],
    ['gbp', 30],
    ['jpy', 50],
    ['huf', 17_500],
    ['thb', 1000],
  ])('%s: %i is the least', async (currency, least) => {
    expect((await send(`amount=${least}&currency=${currency}`)).status).toBe(200);
    expect((await send(`amount=${least - 1}&currency=${currency}`)).error?.code).toBe('amount_too_small');
  });

  it.each([
    ['usd', 8],
    ['inr', 9],
    ['idr', 12],
  ])('%s: %i digits are the most', async (currency, digits) => {
    expect((await send(`amount=${'9'.repeat(digits)}&currency=${currency}`)).status).toBe(200);
    expect((await send(`amount=1${'0'.repeat(digits)}&currency=${currency}`)).error?.code).toBe('amount_too_large');
  });

  it.each([
    ['isk', 500, 550],
    ['ugx', 100, 101],
    ['kwd', 1230, 1234],
  ])('%s: %i is taken, %i is not', async (currency, good, bad) => {
    expect((await send(`amount=${good}&currency=${currency}`)).status).toBe(200);
    expect((await send(`amount=${bad}&currency=${currency}`)).error?.param).toBe('amount');
  });

  it('messages are Stripe’s', async () => {
    expect((await send('amount=49&currency=usd')).error?.message).toBe('Amount must be at least $0.50 usd');
    expect((await send('amount=100000000&currency=usd')).error?.message).toBe(
      'Amount must be no more than $999,999.99 usd',
    );
    expect((await send('currency=usd')).error?.message).toBe('Missing required param: amount.');
  });

  it('metadata survives as it was sent, also names that look like numbers or prototypes', async () => {
    const metadata = { '0': 'a', '2026': 'b', constructor: 'c', ключ: 'значение & = %' };
    const intent = await stripe.paymentIntents.create({ amount: 100, currency: 'usd', metadata });
    expect(intent.metadata).toEqual(metadata);
    const updated = await stripe.paymentIntents.update(intent.id, { metadata: { '0': '', d: 'e' } });
    expect(updated.metadata).toEqual({ '2026': 'b', constructor: 'c', ключ: 'значение & = %', d: 'e' });
    expect((await stripe.paymentIntents.update(intent.id, { metadata: '' })).metadata).toEqual({});
  });

  it('the bytes of a request are kept as they came', async () => {
    await send('currency=usd&amount=100', { 'idempotency-key': 'raw', 'stripe-version': '2026-10-28.endive' });
    const request = emulator.requests.at(-1);
    expect(request?.rawBody.toString()).toBe('currency=usd&amount=100');
    expect(request).toMatchObject({
      method: 'POST',
      path: '/v1/payment_intents',
      idempotencyKey: 'raw',
      status: 200,
      ended: true,
    });
    expect(request?.stripeVersion).toBe('2026-10-28.endive');
    // The same parameters in another order are the same request.
    await send('amount=100&currency=usd', { 'idempotency-key': 'raw' });
    expect(emulator.requests.at(-1)?.replayed).toBe(true);
  });

  it('requests of an older version still name payment_method_types', async () => {
    const form = 'amount=100&currency=usd&payment_method_types[]=card&payment_method=pm_card_visa&confirm=true';
    expect((await send(form, { 'stripe-version': '2026-08-26.dahlia' })).status).toBe(200);
  });

  it('Dashboard methods ask for a return_url, unless redirects are excluded', async () => {
    const given = { amount: 100, currency: 'usd', payment_method: 'pm_card_visa', confirm: true };
    const error = await failureOf(stripe.paymentIntents.create(given));
    expect([error.statusCode, error.param]).toEqual([400, 'return_url']);
    await stripe.paymentIntents.create({ ...given, return_url: 'https://example.com' });
    await stripe.paymentIntents.create({
      ...given,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    });
  });
});
