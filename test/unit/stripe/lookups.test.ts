/** The calls that only read: list, the customer's default method, the account. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemHost } from '../../../runtime/host/host';
import { json, reset, type ScriptedServer, startScriptedServer } from '../../support/scripted-http';
import { intent, row, stripeError, stripeFor } from './fixtures';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.clear());
afterAll(() => server.stop());

const OURS = { metadata: { billing_key: '3e076fdaab8bae5bde9e4b96c36a4e9a' } };
const list = (data: readonly object[], has_more = false) => json(200, { object: 'list', url: '/v1/x', data, has_more });

describe('listIntents', () => {
  it('reads all pages, keeps the row’s own and answers oldest first', async () => {
    server.script(
      list([intent({ id: 'pi_4', created: 40, ...OURS }), intent({ id: 'pi_x', amount: 1, created: 30 })], true),
      list([intent({ id: 'pi_3', created: 20, ...OURS }), intent({ id: 'pi_2', created: 20, ...OURS })], true),
      list([intent({ id: 'pi_1', created: 10, status: 'canceled', ...OURS })]),
    );
    const stripe = stripeFor(server);
    const answer = await stripe.listIntents(row({ paymentIntentId: null }));
    expect(answer).toMatchObject({
      kind: 'intents',
      intents: [{ id: 'pi_1', status: 'canceled' }, { id: 'pi_2' }, { id: 'pi_3' }, { id: 'pi_4' }],
    });
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v1/payment_intents?customer=cus_42&limit=100',
      'GET /v1/payment_intents?customer=cus_42&limit=100&starting_after=pi_x',
      'GET /v1/payment_intents?customer=cus_42&limit=100&starting_after=pi_2',
    ]);
    expect(stripe.recorder.counts).toEqual(Array(3).fill('stripeCalls list page'));
  });

  it('answers an empty list when there is none of ours', async () => {
    server.script(list([intent(), intent({ id: 'pi_2', metadata: { billing_key: 'another' } })]));
    expect(await stripeFor(server).listIntents(row())).toEqual({ kind: 'intents', intents: [] });
  });

  it('half a list is no list', async () => {
    server.script(list([intent(OURS)], true), reset);
    expect(await stripeFor(server).listIntents(row())).toMatchObject({ kind: 'no_answer' });
    server.script(list([intent(OURS)], true), json(429, stripeError({ type: 'invalid_request_error' })));
    expect(await stripeFor(server).listIntents(row())).toEqual({ kind: 'busy', why: 'rate' });
  });

  it.each([
    ['of another amount', list([intent({ amount: 1, ...OURS })])],
    ['of another customer', list([intent({ customer: 'cus_1', ...OURS })])],
  ])('one that names the row but is %s needs a person', async (_name, reply) => {
    server.script(reply);
    expect(await stripeFor(server).listIntents(row())).toMatchObject({ kind: 'wrong_shape' });
  });

  it.each([
    ['no list', json(200, { object: 'payment_intent' })],
    ['data that is no array', json(200, { object: 'list', data: {}, has_more: false })],
    ['no word on more', json(200, { object: 'list', data: [] })],
    ['more, but nothing to go on from', list([], true)],
  ])('%s is not an empty list', async (_name, reply) => {
    server.script(reply);
    expect(await stripeFor(server).listIntents(row())).toMatchObject({ kind: 'wrong_shape' });
    expect(server.seen).toHaveLength(1);
  });

  it('a list that goes round in circles ends', async () => {
    server.script(list([intent(OURS)], true), list([intent(OURS)], true));
    expect(await stripeFor(server).listIntents(row())).toMatchObject({ kind: 'wrong_shape' });
    expect(server.seen).toHaveLength(2);
  });
});

describe('defaultPaymentMethod', () => {
  const customer = (over: object) => json(200, { id: 'cus_42', object: 'customer', livemode: false, ...over });

  it.each([
    [
      'the default for invoices',
      { invoice_settings: { default_payment_method: 'pm_1' }, default_source: 'card_1' },
      'pm_1',
    ],
    ['an expanded one', { invoice_settings: { default_payment_method: { id: 'pm_2' } } }, 'pm_2'],
    ['the legacy source', { invoice_settings: { default_payment_method: null }, default_source: 'card_1' }, 'card_1'],
    ['an expanded source', { default_source: { id: 'src_1' } }, 'src_1'],
  ])('%s', async (_name, over, paymentMethod) => {
    server.script(customer(over));
    const stripe = stripeFor(server);
    expect(await stripe.defaultPaymentMethod(row())).toEqual({ kind: 'found', paymentMethod });
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /v1/customers/cus_42']);
    expect(stripe.recorder.counts).toEqual(['stripeCalls customer found']);
  });

  it.each([
    ['none', customer({ invoice_settings: { default_payment_method: null }, default_source: null }), { kind: 'none' }],
    [
      'a deleted customer',
      json(200, { id: 'cus_42', object: 'customer', deleted: true }),
      { kind: 'refused', code: 'customer_deleted' },
    ],
    [
      'no such customer',
      json(404, stripeError({ type: 'invalid_request_error', code: 'resource_missing', message: 'No such customer' })),
      { kind: 'refused', status: 404, code: 'resource_missing' },
    ],
    ['another customer', customer({ id: 'cus_1', default_source: 'card_1' }), { kind: 'wrong_shape' }],
    ['the other mode', customer({ livemode: true, default_source: 'card_1' }), { kind: 'wrong_shape' }],
    ['no customer', json(200, { default_source: 'card_1' }), { kind: 'wrong_shape' }],
    [
      'a refused key',
      json(401, stripeError({ type: 'invalid_request_error', message: 'no' })),
      { kind: 'unauthorized' },
    ],
    ['silence', reset, { kind: 'no_answer' }],
  ])('%s', async (_name, reply, answer) => {
    server.script(reply);
    expect(await stripeFor(server).defaultPaymentMethod(row())).toMatchObject(answer);
  });
});

describe('account', () => {
  it('says whose key it is', async () => {
    server.script(json(200, { id: 'acct_1', object: 'account' }));
    expect(await stripeFor(server).account()).toEqual({ livemode: false, accountId: 'acct_1' });
  });

  it.each([403, 404])('a restricted key that gets %i is known by its mode alone', async (status) => {
    server.script(json(status, stripeError({ type: 'invalid_request_error', message: 'no' })));
    expect(await stripeFor(server).account()).toEqual({ livemode: false });
  });

  /** Waits take no time. */
  const host = { ...systemHost, sleep: async () => undefined };

  it('waits for a short outage', async () => {
    server.script(reset, json(500, stripeError({ type: 'api_error', message: 'no' })), json(200, { id: 'acct_1' }));
    expect(await stripeFor(server, { host }).account()).toEqual({ livemode: false, accountId: 'acct_1' });
    expect(server.seen).toHaveLength(3);
  });

  it('gives up in the end', async () => {
    server.script(...Array.from({ length: 8 }, () => reset));
    await expect(stripeFor(server, { host }).account()).rejects.toThrow('no_answer');
    expect(server.seen).toHaveLength(8);
  });

  it.each([
    ['a refused key', json(401, stripeError({ type: 'invalid_request_error', message: 'no' })), 'unauthorized'],
    ['another object', json(200, { id: 'cus_1' }), 'not an account'],
  ])('%s rejects', async (_name, reply, message) => {
    server.script(reply);
    await expect(stripeFor(server, { host }).account()).rejects.toThrow(message);
    expect(server.seen).toHaveLength(1);
  });
});
