import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCheckedClient, failureOf } from '../openapi/checked-client';
import { type StripeEmulator, startStripeEmulator } from './index';

describe('reading many', () => {
  let emulator: StripeEmulator;
  let stripe: Stripe;
  let violations: string[];

  beforeEach(async () => {
    emulator = await startStripeEmulator();
    ({ stripe, violations } = createCheckedClient(emulator));
    emulator.customers.create({ id: 'cus_a' });
    emulator.customers.create({ id: 'cus_b' });
  });
  afterEach(async () => {
    await emulator.close();
    expect(violations).toEqual([]);
  });

  const create = (customer = 'cus_a', metadata: Record<string, string> = {}) =>
    stripe.paymentIntents.create({ amount: 100, currency: 'usd', customer, metadata });

  const createMany = async (count: number) => {
    const ids: string[] = [];
    for (let made = 0; made < count; made += 1) ids.push((await create()).id);
    return ids;
  };

  it('lists newest first, ten by default, with cursors both ways', async () => {
    const ids = (await createMany(12)).reverse();
    await create('cus_b');
    const first = await stripe.paymentIntents.list({ customer: 'cus_a' });
    expect(first).toMatchObject({ object: 'list', has_more: true, url: '/v1/payment_intents' });
    expect(first.data.map((intent) => intent.id)).toEqual(ids.slice(0, 10));
    const next = await stripe.paymentIntents.list({ customer: 'cus_a', starting_after: ids[9] as string, limit: 2 });
    expect([next.data.map((intent) => intent.id), next.has_more]).toEqual([ids.slice(10), false]);
    const back = await stripe.paymentIntents.list({ customer: 'cus_a', ending_before: ids[10] as string, limit: 3 });
    expect([back.data.map((intent) => intent.id), back.has_more]).toEqual([ids.slice(7, 10), true]);
    const all: string[] = [];
    for await (const intent of stripe.paymentIntents.list({ customer: 'cus_a', limit: 5 })) all.push(intent.id);
    expect(all).toEqual(ids);
  });

  it('keeps a cursor steady while new ones come in', async () => {
    const ids = (await createMany(4)).reverse();
    const first = await stripe.paymentIntents.list({ customer: 'cus_a', limit: 2 });
    await createMany(2);
    const next = await stripe.paymentIntents.list({
      customer: 'cus_a',
      limit: 2,
      starting_after: first.data[1]?.id ?? '',
    });
    expect(next.data.map((intent) => intent.id)).toEqual(ids.slice(2));
  });

  it('filters by time of creation, on the emulator’s clock', async () => {
    const old = await create();
    emulator.clock.advance(3600_000);
    const young = await create();
    const list = async (created: Stripe.RangeQueryParam | number) =>
      (await stripe.paymentIntents.list({ customer: 'cus_a', created })).data.map((intent) => intent.id);
    expect(await list({ gte: old.created })).toEqual([young.id, old.id]);
    expect(await list({ gt: old.created })).toEqual([young.id]);
    expect(await list({ lt: young.created })).toEqual([old.id]);
    expect(await list({ lte: young.created, gte: young.created })).toEqual([young.id]);
    expect(await list(old.created)).toEqual([old.id]);
  });

  it('refuses limits, cursors and customers that do not exist', async () => {
    expect((await failureOf(stripe.paymentIntents.list({ limit: 0 }))).param).toBe('limit');
    expect((await failureOf(stripe.paymentIntents.list({ limit: 101 }))).param).toBe('limit');
    expect((await failureOf(stripe.paymentIntents.list({ starting_after: 'pi_none' }))).code).toBe('resource_missing');
    expect((await failureOf(stripe.paymentIntents.list({ customer: 'cus_none' }))).param).toBe('customer');
  });

  it('lists are true at once, search is behind by its lag', async () => {
    const intent = await create('cus_a', { billing_key: 'k1' });
    const query = "metadata['billing_key']:'k1' AND customer:'cus_a'";
    const search = async () => (await stripe.paymentIntents.search({ query })).data;
    expect((await stripe.paymentIntents.list({ customer: 'cus_a' })).data).toHaveLength(1);
    expect(await search()).toEqual([]);
    emulator.clock.advance(60_000);
    expect(await search()).toHaveLength(1);
    await stripe.paymentIntents.confirm(intent.id, {
      payment_method: 'pm_card_visa',
      return_url: 'https://example.com',
    });
    expect((await search())[0]?.status).toBe('requires_payment_method');
    emulator.clock.advance(60_000);
    expect((await search())[0]?.status).toBe('succeeded');
  });

  it.each([
    ["status:'canceled'", 1],
    ["status:'canceled' OR amount>99", 3],
    ["metadata['n']:'2'", 1],
    ["-metadata['n']:'2'", 2],
    ["metadata['n']:null", 1],
    ["customer:'cus_a' AND amount>=100 AND amount<101", 3],
    ["description~'x'", 0],
  ])('searches %s', async (query, count) => {
    const first = await create();
    await create('cus_a', { n: '1' });
    await create('cus_a', { n: '2' });
    await stripe.paymentIntents.cancel(first.id);
    emulator.clock.advance(60_000);
    expect((await stripe.paymentIntents.search({ query })).data).toHaveLength(count);
  });

  it('pages through searches and refuses what is no query', async () => {
    await createMany(3);
    emulator.clock.advance(60_000);
    const found: string[] = [];
    for await (const intent of stripe.paymentIntents.search({ query: "customer:'cus_a'", limit: 2 }))
      found.push(intent.id);
    expect(new Set(found).size).toBe(3);
    for (const query of ['hello', "a:'1' AND b:'2' OR c:'3'", Array(11).fill("a:'1'").join(' AND ')]) {
      expect((await failureOf(stripe.paymentIntents.search({ query }))).param).toBe('query');
    }
  });

  it('expands what is asked for, and refuses what is not there', async () => {
    const intent = await create();
    const read = await stripe.paymentIntents.retrieve(intent.id, {
      expand: ['customer.invoice_settings.default_payment_method'],
    });
    const customer = read.customer as Stripe.Customer;
    expect((customer.invoice_settings.default_payment_method as Stripe.PaymentMethod).card?.last4).toBe('4242');
    expect((await failureOf(stripe.paymentIntents.retrieve(intent.id, { expand: ['nonesuch'] }))).param).toBe('expand');
  });
});

describe('customers', () => {
  let emulator: StripeEmulator;
  afterEach(() => emulator.close());

  it('have the default that the test gives them', async () => {
    emulator = await startStripeEmulator();
    const { stripe, violations } = createCheckedClient(emulator);
    const read = async (id: string) => (await stripe.customers.retrieve(id)) as Stripe.Customer;
    emulator.customers.create({ id: 'cus_good' });
    emulator.customers.create({ id: 'cus_none', defaultPaymentMethod: null });
    emulator.customers.create({ id: 'cus_legacy', defaultSource: 'card_1' });
    expect((await read('cus_good')).invoice_settings.default_payment_method).toMatch(/^pm_/);
    expect((await read('cus_none')).invoice_settings.default_payment_method).toBeNull();
    expect(await read('cus_legacy')).toMatchObject({
      default_source: 'card_1',
      invoice_settings: { default_payment_method: null },
    });
    const paid = await stripe.paymentIntents.create({
      amount: 100,
      currency: 'usd',
      customer: 'cus_legacy',
      payment_method: 'card_1',
      allowed_payment_method_types: ['card'],
      confirm: true,
    });
    expect(paid.status).toBe('succeeded');
    expect(() => emulator.customers.create({ id: 'cus_good' })).toThrow('exists already');
    expect(violations).toEqual([]);
  });

  it('that are unknown are refused, or made when the option says so', async () => {
    emulator = await startStripeEmulator();
    const { stripe } = createCheckedClient(emulator);
    const inPath = await failureOf(stripe.customers.retrieve('cus_new'));
    const inBody = await failureOf(stripe.paymentIntents.create({ amount: 100, currency: 'usd', customer: 'cus_new' }));
    expect([inPath.statusCode, inBody.statusCode]).toEqual([404, 400]);
    expect(inBody.message).toBe("No such customer: 'cus_new'");
    await emulator.close();
    emulator = await startStripeEmulator({ autoCustomers: true });
    const auto = createCheckedClient(emulator).stripe;
    const made = (await auto.customers.retrieve('cus_new')) as Stripe.Customer;
    expect(made.invoice_settings.default_payment_method).toMatch(/^pm_/);
    expect((await failureOf(auto.customers.retrieve('nobody'))).statusCode).toBe(404);
  });
});
