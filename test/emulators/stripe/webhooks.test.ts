import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCheckedClient, failureOf } from '../openapi/checked-client';
import { objectViolations } from '../openapi/index';
import { type StripeEmulator, startStripeEmulator, type WebhookEndpoint, type WebhookOptions } from './index';
import { type Receiver, startReceiver } from './webhook-receiver';

const SECRET = 'whsec_chargeonce';

describe('webhooks', () => {
  let emulator: StripeEmulator;
  let stripe: Stripe;
  let violations: string[];
  const receivers: Receiver[] = [];

  beforeEach(async () => {
    emulator = await startStripeEmulator();
    ({ stripe, violations } = createCheckedClient(emulator));
    emulator.customers.create({ id: 'cus_a' });
  });
  afterEach(async () => {
    await emulator.close();
    for (const receiver of receivers.splice(0)) await receiver.close();
    expect(violations).toEqual([]);
  });

  type Answer = Parameters<typeof startReceiver>[1];
  async function receive(
    more: Partial<WebhookOptions> = {},
    answer?: Answer,
  ): Promise<Receiver & { endpoint: WebhookEndpoint }> {
    const receiver = await startReceiver(SECRET, answer);
    receivers.push(receiver);
    const endpoint = emulator.webhooks.add({ url: receiver.url, secret: SECRET, retryDelayMs: 0, ...more });
    return { ...receiver, endpoint };
  }
  const create = () => stripe.paymentIntents.create({ amount: 100, currency: 'usd', customer: 'cus_a' });
  const pay = (method = 'pm_card_visa') =>
    stripe.paymentIntents.create({
      amount: 100,
      currency: 'usd',
      customer: 'cus_a',
      payment_method: method,
      allowed_payment_method_types: ['card', 'us_bank_account'],
      confirm: true,
    });
  const idsOf = (events: readonly Stripe.Event[]) => events.map((event) => (event.data.object as { id: string }).id);

  it('arrive signed, in order, with the object as it was', async () => {
    const { events, received, endpoint } = await receive();
    const intent = await pay();
    await emulator.webhooks.idle();
    expect(events.map((event) => event.type)).toEqual([
      'payment_intent.created',
      'charge.succeeded',
      'payment_intent.succeeded',
    ]);
    const statuses = events.map((event) => (event.data.object as Stripe.PaymentIntent).status);
    expect(statuses).toEqual(['requires_confirmation', 'succeeded', 'succeeded']);
    expect(idsOf(events.slice(2))).toEqual([intent.id]);
    expect(received[0]?.contentType).toBe('application/json; charset=utf-8');
    expect(received[0]?.signature).toMatch(/^t=\d+,v1=[0-9a-f]{64},v0=[0-9a-f]{64}$/);
    expect(endpoint.deliveries.map(({ attempt, status }) => [attempt, status])).toEqual(Array(3).fill([1, 200]));
  });

  it('conform to Stripe’s description, of every kind that the emulator knows', async () => {
    const { received } = await receive();
    const customer = await stripe.customers.create({ name: 'A' });
    await stripe.customers.update(customer.id, { name: 'B' });
    await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    const paid = await pay();
    await stripe.refunds.create({ payment_intent: paid.id });
    await failureOf(pay('pm_card_chargeDeclined'));
    for (const outcome of ['succeeded', 'failed'] as const) {
      emulator.settleProcessing((await pay('pm_usBankAccount')).id, outcome);
      emulator.completeAction((await pay('pm_card_threeDSecure2Required')).id, outcome);
    }
    emulator.cancel((await create()).id);
    await stripe.charges.create({ amount: 100, currency: 'usd', source: 'tok_visa' });
    await failureOf(stripe.charges.create({ amount: 100, currency: 'usd', source: 'tok_chargeDeclined' }));
    await emulator.webhooks.idle();
    const bodies = received.map(({ body }) => JSON.parse(body) as Stripe.Event);
    expect([...new Set(bodies.map((event) => event.type))].sort()).toEqual([
      'charge.failed',
      'charge.pending',
      'charge.refunded',
      'charge.succeeded',
      'customer.created',
      'customer.updated',
      'payment_intent.canceled',
      'payment_intent.created',
      'payment_intent.payment_failed',
      'payment_intent.processing',
      'payment_intent.requires_action',
      'payment_intent.succeeded',
      'payment_method.attached',
      'refund.created',
    ]);
    for (const event of bodies) {
      const subject = event.data.object as { object: string };
      expect([...objectViolations('event', event), ...objectViolations(subject.object, subject)], event.type).toEqual(
        [],
      );
    }
    const [first] = bodies;
    expect(objectViolations('event', { ...first, extra: 1 }).join()).toContain('extra');
  });

  it('fail verification with another secret, an altered body or an old time', async () => {
    const right = await receive();
    const wrong = await receive({ secret: 'whsec_other', attempts: 1 });
    await create();
    await emulator.webhooks.idle();
    expect([wrong.events, wrong.endpoint.deliveries.map(({ status }) => status)]).toEqual([[], [400]]);
    const { body, signature } = right.received[0] as { body: string; signature: string };
    const check = (text: string, header: string, atMs?: number) =>
      stripe.webhooks.constructEvent(text, header, SECRET, 300, undefined, atMs);
    expect(check(body, signature).type).toBe('payment_intent.created');
    expect(() => check(body.replace('"amount": 100', '"amount": 101'), signature)).toThrow('signature');
    expect(() => check(body, signature.replace(/v1=[0-9a-f]+/, 'v1=00'))).toThrow('signature');
    expect(() => check(body, signature, Date.now() + 301_000)).toThrow('Timestamp outside the tolerance zone');
  });

  it('carry a signature for each secret while it is rolled, then for the new one alone', async () => {
    const { events, received, endpoint } = await receive({ secret: ['whsec_new', SECRET], attempts: 1 });
    await create();
    await emulator.webhooks.idle();
    expect(events).toHaveLength(1);
    expect(received[0]?.signature.match(/v1=/g)).toHaveLength(2);
    const verify = (secret: string) =>
      stripe.webhooks.constructEvent(received[0]?.body ?? '', received[0]?.signature ?? '', secret).id;
    expect([verify('whsec_new'), verify(SECRET)]).toEqual([events[0]?.id, events[0]?.id]);
    endpoint.useSecrets('whsec_new');
    await create();
    await emulator.webhooks.idle();
    expect(endpoint.deliveries.map(({ status }) => status)).toEqual([200, 400]);
  });

  it('make a secret of their own when none is given', async () => {
    const { received, endpoint } = await receive({ attempts: 1 });
    const own = emulator.webhooks.add({ url: endpoint.url, attempts: 1 });
    await create();
    await emulator.webhooks.idle();
    expect(own.secrets).toEqual([expect.stringMatching(/^whsec_[\w-]{32}$/)]);
    const verified = received.filter(({ body, signature }) => {
      try {
        return stripe.webhooks.constructEvent(body, signature, own.secrets[0] ?? '').livemode === false;
      } catch {
        return false;
      }
    });
    expect([received.length, verified.length]).toEqual([2, 1]);
  });

  it('go to those who asked for the type and the mode', async () => {
    const succeeded = await receive({ events: ['payment_intent.succeeded'] });
    const intents = await receive({ events: ['payment_intent.*'] });
    const live = await receive({ livemode: true });
    const test = await receive({ livemode: false, events: ['payment_intent.created'] });
    await pay();
    emulator.customers.create({ id: 'cus_live', livemode: true });
    const liveStripe = createCheckedClient(emulator, { key: 'rk_live_1ChargeOnceEmulator' }).stripe;
    await liveStripe.paymentIntents.create({ amount: 100, currency: 'usd', customer: 'cus_live' });
    await emulator.webhooks.idle();
    expect(succeeded.events.map(({ type }) => type)).toEqual(['payment_intent.succeeded']);
    expect(intents.events.map(({ livemode }) => livemode)).toEqual([false, false, true]);
    expect(live.events.map(({ type, livemode }) => [type, livemode])).toEqual([['payment_intent.created', true]]);
    expect(test.events.map(({ livemode }) => livemode)).toEqual([false]);
  });

  it('arrive twice, with one id, when told to', async () => {
    const { events, endpoint } = await receive({ events: ['payment_intent.*'] });
    endpoint.duplicate({ type: 'payment_intent.succeeded' });
    await pay();
    await pay();
    await emulator.webhooks.idle();
    const succeeded = events.filter(({ type }) => type === 'payment_intent.succeeded').map(({ id }) => id);
    expect([succeeded.length, new Set(succeeded).size, succeeded[0]]).toEqual([3, 2, succeeded[1]]);
  });

  it('are lost when told to, and the list of undelivered events has them', async () => {
    const { events, endpoint } = await receive({ events: ['payment_intent.created'] });
    endpoint.drop({ times: 2 });
    const intents = [await create(), await create(), await create()];
    await emulator.webhooks.idle();
    expect(idsOf(events)).toEqual([intents[2]?.id]);
    expect(endpoint.lost).toHaveLength(2);
    const listed = async (delivery_success: boolean) =>
      (await stripe.events.list({ type: 'payment_intent.created', delivery_success })).data;
    expect(idsOf(await listed(false))).toEqual([intents[1]?.id, intents[0]?.id]);
    expect(idsOf(await listed(true))).toEqual([intents[2]?.id]);
  });

  it('arrive in another order when told to, even when fewer come than were waited for', async () => {
    const { events, endpoint } = await receive({ events: ['payment_intent.created'] });
    endpoint.reorder(3);
    const ids: string[] = [];
    for (let made = 0; made < 4; made += 1) ids.push((await create()).id);
    await emulator.webhooks.idle();
    expect(idsOf(events)).toEqual([ids[2], ids[1], ids[0], ids[3]]);
    endpoint.reorder();
    const alone = await create();
    await emulator.webhooks.idle();
    expect(idsOf(events).at(-1)).toBe(alone.id);
  });

  it.each([500, 404, 302, 0])(
    'are tried again after %i, with a new signature, until they are taken',
    async (status) => {
      const { events, endpoint, received } = await receive({}, (nth) => {
        emulator.clock.advance(1_000);
        return nth < 3 ? status : 204;
      });
      await create();
      await emulator.webhooks.idle();
      const shown = status === 0 ? undefined : status;
      expect(endpoint.deliveries.map((each) => [each.attempt, each.status])).toEqual([
        [1, shown],
        [2, shown],
        [3, 204],
      ]);
      expect(new Set(events.map(({ id }) => id)).size).toBe(1);
      const times = received.map(({ signature }) => /^t=(\d+),/.exec(signature)?.[1]);
      expect(new Set(times).size).toBe(3);
      expect(endpoint.lost).toEqual([]);
    },
  );

  it('are given up after the last try, and do not hold up others', async () => {
    const first = await create();
    const isFirst = (event: Stripe.Event) => (event.data.object as { id: string }).id === first.id;
    const { events, endpoint } = await receive({ attempts: 2 }, (_, event) => (isFirst(event) ? 500 : 200));
    await stripe.paymentIntents.cancel(first.id);
    const second = await create();
    await emulator.webhooks.idle();
    expect(idsOf(events).filter((id) => id === first.id)).toHaveLength(2);
    expect(idsOf(events)).toContain(second.id);
    expect(endpoint.lost).toEqual([events[0]?.id]);
  });

  it('of a receiver that asks Stripe back are waited for, with what it causes', async () => {
    const { events } = await receive({ events: ['payment_intent.*'] }, async (_, event) => {
      const { id } = event.data.object as Stripe.PaymentIntent;
      if (event.type === 'payment_intent.created') await stripe.paymentIntents.cancel(id);
      return (await stripe.paymentIntents.retrieve(id)).status === 'canceled' ? 200 : 500;
    });
    await create();
    await emulator.webhooks.idle();
    expect(events.map(({ type }) => type)).toEqual(['payment_intent.created', 'payment_intent.canceled']);
  });

  it('to a receiver that never answers end with the emulator', async () => {
    const silent = await receive({}, () => new Promise<number>(() => {}));
    const other = await startStripeEmulator();
    other.webhooks.add({ url: silent.endpoint.url, secret: SECRET });
    await createCheckedClient(other).stripe.paymentIntents.create({ amount: 100, currency: 'usd' });
    await other.close();
    await other.webhooks.idle();
  });

  it('to a receiver that is silent too long are tried again', async () => {
    const { endpoint } = await receive({ timeoutMs: 1_000 }, (nth) =>
      nth === 1 ? new Promise<number>(() => {}) : 200,
    );
    await create();
    await emulator.webhooks.idle();
    expect(endpoint.deliveries.map(({ status }) => status)).toEqual([undefined, 200]);
  });

  it.each([
    ['https://example.com/hook', 'received https://example.com; allowed: http on 127.0.0.1'],
    ['http://10.0.0.1/hook', 'received http://10.0.0.1;'],
    ['http://127.0.0.1.example.com/', 'received http://127.0.0.1.example.com;'],
    ['http://127.0.0.1@example.com/', 'received http://example.com;'],
    ['http://localhost.example.com/', 'received http://localhost.example.com;'],
    ['https://127.0.0.1/', 'received https://127.0.0.1;'],
    ['http://0.0.0.0/', 'received http://0.0.0.0;'],
    ['webhooks', "received 'webhooks', which is no address"],
  ])('are never sent to %s', (url, message) => {
    expect(() => emulator.webhooks.add({ url })).toThrow(message);
  });

  it.each(['http://127.0.0.1:1/', 'http://127.8.9.1:1/', 'http://[::1]:1/', 'http://localhost:1/'])(
    'may go to %s',
    (url) => {
      expect(emulator.webhooks.add({ url }).url).toBe(url);
    },
  );

  it('refuse settings that make no sense', async () => {
    const url = 'http://127.0.0.1:1/';
    expect(() => emulator.webhooks.add({ url, secret: ' ' })).toThrow('received an empty secret');
    expect(() => emulator.webhooks.add({ url, secret: [] })).toThrow('received no secret');
    expect(() => emulator.webhooks.add({ url, attempts: 0 })).toThrow('attempts: received 0');
    expect(() => emulator.webhooks.add({ url }).reorder(1)).toThrow('reorder: received 1');
  });
});
