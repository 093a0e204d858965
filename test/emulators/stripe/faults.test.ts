import { connect } from 'node:net';
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient, failureOf, headerOf, TEST_KEY } from '../openapi/checked-client';
import { FAULT_POINTS, type Fault, type FaultPoint, type StripeEmulator, startStripeEmulator } from './index';

const CHARGE = {
  amount: 100,
  currency: 'usd',
  customer: 'cus_a',
  payment_method: 'pm_card_visa',
  allowed_payment_method_types: ['card' as const],
  confirm: true,
};
const KEY = { idempotencyKey: 'k' };
const DONE: readonly FaultPoint[] = ['after-execute', 'before-respond'];

describe('faults', () => {
  let emulator: StripeEmulator;
  let stripe: Stripe;

  beforeEach(async () => {
    emulator = await startStripeEmulator({ autoCustomers: true });
    stripe = createClient(emulator);
  });
  afterEach(() => emulator.close());

  const charge = () => stripe.paymentIntents.create(CHARGE, KEY);
  const arm = (fault: Omit<Fault, 'on'>) => emulator.faults.add({ on: 'create', ...fault });

  it.each(FAULT_POINTS)('a connection dropped at %s: the retry with the same key ends in one charge', async (when) => {
    const fault = arm({ when, what: 'drop' });
    const error = await failureOf(charge());
    expect(error).toBeInstanceOf(Stripe.errors.StripeConnectionError);
    expect(fault.hits).toBe(1);
    const isDone = DONE.includes(when);
    expect(emulator.books.charges).toHaveLength(isDone ? 1 : 0);
    expect(emulator.requests.at(-1)).toMatchObject({ status: undefined, ended: true, executed: isDone });
    const retry = await charge();
    expect(retry.status).toBe('succeeded');
    expect(headerOf(retry.lastResponse, 'idempotent-replayed')).toBe(isDone ? 'true' : undefined);
    expect(emulator.books.charges).toHaveLength(1);
  });

  it('twin: a lost answer and a new key charge twice', async () => {
    arm({ when: 'after-execute', what: 'drop' });
    await failureOf(charge());
    await stripe.paymentIntents.create(CHARGE, { idempotencyKey: 'another' });
    expect(emulator.books.charges).toHaveLength(2);
  });

  it.each(FAULT_POINTS)('a 500 at %s is not kept: the retry executes, or replays what was done', async (when) => {
    arm({ when, what: 'error-500' });
    const error = await failureOf(charge());
    expect([error.statusCode, error.type]).toEqual([500, 'StripeAPIError']);
    expect(emulator.books.charges).toHaveLength(DONE.includes(when) ? 1 : 0);
    expect((await charge()).status).toBe('succeeded');
    expect(emulator.books.charges).toHaveLength(1);
  });

  it.each([
    ['before-execute', 0],
    ['after-execute', 1],
    ['before-respond', 1],
  ] as const)('a 500 cached at %s stays the key’s answer for 24 hours', async (when, charges) => {
    arm({ when, what: 'error-500-cached', shouldRetry: false });
    for (const replayed of [undefined, 'true']) {
      const error = await failureOf(charge());
      expect(error.statusCode).toBe(500);
      expect(headerOf(error, 'idempotent-replayed')).toBe(replayed);
      expect(headerOf(error, 'stripe-should-retry')).toBe('false');
    }
    expect(emulator.books.charges).toHaveLength(charges);
    emulator.clock.advance(24 * 3600_000);
    await charge();
    expect(emulator.books.charges).toHaveLength(charges + 1);
  });

  it('on something that does not exist is an error, not a fault that never hits', () => {
    expect(() => emulator.faults.add({ on: 'confrim', when: 'before-auth', what: 'drop' })).toThrow("on 'confrim'");
  });

  it('a 500 cannot be cached before the key is claimed', () => {
    for (const when of ['before-auth', 'before-claim'] as const) {
      expect(() => arm({ when, what: 'error-500-cached' })).toThrow('no key is claimed yet');
    }
  });

  it.each([
    ['in-use-409', 409, 'idempotency_key_in_use', {}],
    ['lock-timeout-429', 429, 'lock_timeout', { 'stripe-should-retry': 'true' }],
    ['rate-429', 429, 'rate_limit', { 'stripe-rate-limited-reason': 'resource-specific' }],
  ] as const)('%s', async (what, status, code, headers) => {
    arm({ when: 'before-execute', what, reason: 'resource-specific' });
    const error = await failureOf(charge());
    expect([error.statusCode, error.code]).toEqual([status, code]);
    for (const [name, value] of Object.entries(headers)) expect(headerOf(error, name)).toBe(value);
    expect(emulator.books.charges).toEqual([]);
    expect((await charge()).status).toBe('succeeded');
  });

  it('what is no answer of Stripe’s: a gateway’s page, other JSON, no JSON, half of the JSON', async () => {
    arm({ when: 'after-execute', what: 'html-502' });
    expect(await failureOf(charge())).toBeInstanceOf(Stripe.errors.StripeAPIError);
    arm({ when: 'before-respond', what: 'not-json' });
    expect(await failureOf(charge())).toBeInstanceOf(Stripe.errors.StripeAPIError);
    arm({ when: 'before-respond', what: 'truncated-json' });
    expect(await failureOf(charge())).toBeInstanceOf(Stripe.errors.StripeError);
    arm({ when: 'before-respond', what: 'wrong-shape' });
    expect(await charge()).toMatchObject({ ok: true });
    expect((await charge()).status).toBe('succeeded');
    expect(emulator.books.charges).toHaveLength(1);
  });

  it('hit as often as told, in the order added, only what matches', async () => {
    const seen: string[] = [];
    arm({ when: 'before-execute', what: 'error-500', times: 2, onHit: ({ operation }) => seen.push(operation) });
    const other = arm({ when: 'before-execute', what: 'rate-429', match: ({ body }) => body.includes('amount=999') });
    expect((await failureOf(charge())).statusCode).toBe(500);
    expect((await failureOf(charge())).statusCode).toBe(500);
    expect((await charge()).status).toBe('succeeded');
    expect((await failureOf(stripe.paymentIntents.create({ ...CHARGE, amount: 999 }))).statusCode).toBe(429);
    expect([seen, other.hits]).toEqual([['payment_intents.create', 'payment_intents.create'], 1]);
    arm({ when: 'before-execute', what: 'error-500' }).remove();
    emulator.faults.add({ on: 'any', when: 'before-execute', what: 'error-500' });
    emulator.faults.clear();
    await stripe.customers.retrieve('cus_a');
    emulator.faults.add({ on: 'customers.retrieve', when: 'before-execute', what: 'error-500' });
    expect((await failureOf(stripe.customers.retrieve('cus_a'))).statusCode).toBe(500);
  });

  it('a slow charge holds its key and its intent, not the others', async () => {
    const [slow, quick] = [
      await stripe.paymentIntents.create({ ...CHARGE, confirm: false }),
      await stripe.paymentIntents.create({ ...CHARGE, confirm: false }),
    ];
    const hit = new Promise<void>((resolve) => {
      emulator.faults.add({
        on: 'confirm',
        when: 'before-execute',
        what: 'delay',
        delayMs: 60_000,
        onHit: () => resolve(),
      });
    });
    const pending = stripe.paymentIntents.confirm(slow.id, {}, KEY).catch((error: Error) => error);
    await hit;
    expect((await failureOf(stripe.paymentIntents.confirm(slow.id, {}, KEY))).code).toBe('idempotency_key_in_use');
    expect((await stripe.paymentIntents.confirm(quick.id)).status).toBe('succeeded');
    expect((await stripe.paymentIntents.retrieve(slow.id)).status).toBe('requires_confirmation');
    // Closing ends the wait: nothing is left behind.
    await emulator.close();
    expect(await pending).toBeInstanceOf(Stripe.errors.StripeConnectionError);
    expect(emulator.books.charges).toHaveLength(1);
    emulator = await startStripeEmulator();
  });

  it('a short delay ends by itself, and so does latency', async () => {
    arm({ when: 'before-execute', what: 'delay', delayMs: 20 });
    expect((await charge()).status).toBe('succeeded');
    await emulator.close();
    emulator = await startStripeEmulator({ latencyMs: 20, autoCustomers: true });
    const quick = createClient(emulator);
    const all = await Promise.allSettled([1, 2, 3, 4].map(() => quick.paymentIntents.create(CHARGE, KEY)));
    expect(emulator.books.charges).toHaveLength(1);
    for (const outcome of all) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ statusCode: 409 });
    }
  });

  it.each(['stall-after-headers', 'drip'] as const)('%s trips the total deadline of the fetch client', async (what) => {
    arm({ when: 'before-respond', what, delayMs: 200 });
    const impatient = createClient(emulator, { timeoutMs: 2500 });
    const error = await failureOf(impatient.paymentIntents.create(CHARGE, KEY));
    expect(error).toBeInstanceOf(Stripe.errors.StripeConnectionError);
    expect(headerOf((await charge()).lastResponse, 'idempotent-replayed')).toBe('true');
    expect(emulator.books.charges).toHaveLength(1);
  });

  describe('on a bare socket', () => {
    const open = () => {
      const socket = connect(emulator.port, '127.0.0.1');
      const body = 'amount=100&currency=usd';
      socket.write(
        `POST /v1/payment_intents HTTP/1.1\r\nhost: stripe\r\nauthorization: Bearer ${TEST_KEY}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      return socket;
    };
    const until = (socket: ReturnType<typeof open>, done: (text: string, chunks: number) => boolean) =>
      new Promise<{ text: string; chunks: number }>((resolve, reject) => {
        let [text, chunks] = ['', 0];
        socket.on('error', reject);
        socket.on('close', () => resolve({ text, chunks }));
        socket.on('data', (chunk) => {
          text += chunk.toString();
          chunks += 1;
          if (done(text, chunks)) resolve({ text, chunks });
        });
      });

    it('a stall sends whole headers and no byte of the body', async () => {
      arm({ when: 'before-respond', what: 'stall-after-headers' });
      const socket = open();
      const { text } = await until(socket, (seen) => seen.includes('\r\n\r\n'));
      expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(text.split('\r\n\r\n')[1]).toBe('');
      // A second request is answered meanwhile: only this connection stands still.
      await stripe.paymentIntents.list();
      expect(socket.readyState).toBe('open');
      socket.destroy();
    });

    it('a drip sends the body byte by byte, in the end all of it', async () => {
      arm({ when: 'before-respond', what: 'drip', delayMs: 1 });
      const { text, chunks } = await until(open(), (seen) => isWhole(seen));
      expect(chunks).toBeGreaterThan(10);
      expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({ object: 'payment_intent' });
    });

    it('a truncated body is shorter than the answer, and the headers agree with it', async () => {
      arm({ when: 'before-respond', what: 'truncated-json' });
      const length = (seen: string) => Number(/content-length: (\d+)/i.exec(seen)?.[1]);
      const { text } = await until(open(), (seen) => seen.split('\r\n\r\n')[1]?.length === length(seen));
      expect(() => JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toThrow(SyntaxError);
    });

    const isWhole = (seen: string) => {
      const [head = '', body = ''] = seen.split('\r\n\r\n');
      return Number(/content-length: (\d+)/i.exec(head)?.[1]) === Buffer.byteLength(body);
    };
  });

  it('a hold without a release ends with the emulator', async () => {
    const hold = emulator.faults.hold({ on: 'create', when: 'before-auth' });
    const pending = charge().catch((error: Error) => error);
    const info = await hold.reached;
    expect(info).toMatchObject({ operation: 'payment_intents.create', method: 'POST', idempotencyKey: 'k' });
    expect(info.body).toContain('amount=100');
    await emulator.close();
    expect(await pending).toBeInstanceOf(Error);
    expect(emulator.books.charges).toEqual([]);
    emulator = await startStripeEmulator();
  });
});

describe('the emulator itself', () => {
  it('says so at the end when it broke one of its own rules', async () => {
    const emulator = await startStripeEmulator();
    const stripe = createClient(emulator);
    const intent = await stripe.paymentIntents.create({
      ...CHARGE,
      customer: emulator.customers.create().id,
      confirm: false,
    });
    emulator.books.record({
      chargeId: 'ch_forged',
      paymentIntentId: intent.id,
      account: emulator.account,
      livemode: false,
      customer: null,
      amount: 1,
      currency: 'usd',
      at: 0,
      metadata: {},
      idempotencyKey: null,
    });
    expect((await failureOf(stripe.paymentIntents.confirm(intent.id))).statusCode).toBe(500);
    await expect(emulator.close()).rejects.toThrow('broke its own rules');
  });

  it('keeps a clock that only goes forward', async () => {
    const emulator = await startStripeEmulator();
    const before = emulator.clock.now();
    emulator.clock.advance(86_400_000);
    expect(emulator.clock.now() - before).toBeGreaterThanOrEqual(86_400_000);
    expect(() => emulator.clock.advance(-1)).toThrow(RangeError);
    await emulator.close();
  });
});
