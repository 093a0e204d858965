/** The room against the Stripe emulator, every request and answer held against Stripe's own OpenAPI document. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ChargeRow, IntentView, StripeAnswer } from '../../../runtime/processor/ports';
import { requestViolations, responseViolations } from '../../emulators/openapi/conformity';
import { type StripeEmulator, startStripeEmulator } from '../../emulators/stripe';
import { row, stripeFor } from './fixtures';

// The first use of each of the document's schemas compiles it, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 30_000 });

let emulator: StripeEmulator;
const violations: string[] = [];
beforeAll(async () => {
  emulator = await startStripeEmulator();
});
afterEach(() => {
  expect(violations).toEqual([]);
  expect(emulator.books.charges.length).toBe(new Set(emulator.books.charges.map((m) => m.paymentIntentId)).size);
});
afterAll(() => emulator.close());

const checkedFetch: typeof fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  const method = init?.method ?? 'GET';
  const form = method === 'GET' ? url.search.slice(1) : String(init?.body ?? '');
  violations.push(...requestViolations(method, url.pathname, form));
  const response = await fetch(input, init);
  violations.push(...responseViolations(method, url.pathname, response.status, await response.clone().text()));
  return response;
};

const room = () => stripeFor({ url: new URL(emulator.url) }, { fetch: checkedFetch, timeoutMs: 30_000 });

/** A row of a customer of its own. */
function freshRow(over: Partial<ChargeRow> = {}): ChargeRow {
  const { id } = emulator.customers.create();
  return row({ customerId: id, stripeCustomerId: id, idempotencyKey: `key-${id}`, paymentIntentId: null, ...over });
}

function intentOf(answer: StripeAnswer): IntentView {
  if (answer.kind !== 'intent') throw new Error(`an intent was expected, not ${JSON.stringify(answer)}`);
  return answer.intent;
}

async function created(over: Partial<ChargeRow> = {}): Promise<ChargeRow> {
  const fresh = freshRow(over);
  return { ...fresh, paymentIntentId: intentOf(await room().createIntent(fresh)).id };
}

it('create, confirm, retrieve, list: one charge', async () => {
  const fresh = freshRow();
  const first = await room().createIntent(fresh);
  expect(first).toMatchObject({ kind: 'intent', replayed: false, intent: { status: 'requires_confirmation' } });
  expect(await room().createIntent(fresh)).toEqual({ ...first, replayed: true });
  const saved = { ...fresh, paymentIntentId: intentOf(first).id };
  const confirmed = await room().confirmIntent(saved);
  expect(confirmed).toMatchObject({ kind: 'intent', replayed: false, intent: { status: 'succeeded' } });
  expect(intentOf(confirmed).chargeId).toMatch(/^ch_/);
  expect(await room().confirmIntent(saved)).toEqual({ ...confirmed, replayed: true });
  expect(await room().retrieveIntent(saved)).toMatchObject({ kind: 'intent', intent: intentOf(confirmed) });
  expect(await room().listIntents(fresh)).toEqual({ kind: 'intents', intents: [intentOf(confirmed)] });
  // Another attempt's key meets the paid intent.
  expect(await room().confirmIntent({ ...saved, attempt: 2 })).toMatchObject({
    kind: 'unexpected_state',
    intent: { id: saved.paymentIntentId, status: 'succeeded' },
  });
});

it('a decline, then the same intent with another method', async () => {
  const declined = await created({ paymentMethod: 'pm_card_chargeCustomerFail' });
  const answer = await room().confirmIntent(declined);
  expect(answer).toMatchObject({
    kind: 'declined',
    replayed: false,
    intent: { id: declined.paymentIntentId, status: 'requires_payment_method' },
  });
  expect(await room().confirmIntent(declined)).toEqual({ ...answer, replayed: true });
  const retried = { ...declined, attempt: 2, paymentMethod: 'pm_card_visa' };
  expect(await room().confirmIntent(retried)).toMatchObject({ kind: 'intent', intent: { status: 'succeeded' } });
});

it.each([
  ['pm_usBankAccount', 'processing'],
  ['pm_card_visa', 'succeeded'],
])('%s ends as %s: the method’s kind need not be known', async (paymentMethod, status) => {
  expect(intentOf(await room().confirmIntent(await created({ paymentMethod }))).status).toBe(status);
});

it('a changed row under the same key is a mismatch, and the list finds the first intent', async () => {
  const saved = await created();
  const changed = { ...saved, paymentIntentId: null, description: 'Another' };
  expect(await room().createIntent(changed)).toMatchObject({ kind: 'idempotency_mismatch' });
  expect(await room().listIntents(changed)).toMatchObject({
    kind: 'intents',
    intents: [{ id: saved.paymentIntentId }],
  });
});

it('a customer with more than a page of intents: only the row’s are found, oldest first', async () => {
  const first = await created();
  const plain = stripeFor({ url: new URL(emulator.url) });
  for (let i = 0; i < 101; i++) {
    await plain.createIntent({
      ...first,
      paymentIntentId: null,
      billingPeriod: `p${i}`,
      idempotencyKey: `${i}${first.customerId}`,
    });
  }
  const second = intentOf(
    await room().createIntent({ ...first, paymentIntentId: null, attempt: 2, idempotencyKey: `b${first.customerId}` }),
  );
  const found = await room().listIntents(first);
  expect(found.kind === 'intents' && found.intents.map(({ id }) => id)).toEqual([first.paymentIntentId, second.id]);
});

describe('customers and account', () => {
  it('finds the default, new or legacy, or says that there is none', async () => {
    const { id } = emulator.customers.create({ defaultSource: 'card_legacy' });
    const none = emulator.customers.create({ defaultPaymentMethod: null });
    expect(await room().defaultPaymentMethod(freshRow())).toMatchObject({
      kind: 'found',
      paymentMethod: expect.stringMatching(/^pm_/),
    });
    expect(await room().defaultPaymentMethod(row({ stripeCustomerId: id }))).toMatchObject({
      paymentMethod: expect.stringMatching(/^card_/),
    });
    expect(await room().defaultPaymentMethod(row({ stripeCustomerId: none.id }))).toMatchObject({ kind: 'none' });
    expect(await room().defaultPaymentMethod(row({ stripeCustomerId: 'cus_nobody' }))).toMatchObject({
      kind: 'refused',
      status: 404,
    });
  });

  it('says whose key it is', async () => {
    expect(await room().account()).toEqual({ livemode: false, accountId: emulator.account });
  });
});

describe('faults after the money moved end unknown, and the read finds the charge', () => {
  it.each([
    'drop',
    'stall-after-headers',
    'drip',
    'truncated-json',
    'html-502',
    'error-500',
    'wrong-shape',
    'not-json',
  ] as const)('%s', async (what) => {
    const saved = await created();
    emulator.faults.add({ on: 'confirm', when: 'before-respond', what });
    const plain = stripeFor({ url: new URL(emulator.url) }, { timeoutMs: 1_000 });
    const answer = await plain.confirmIntent(saved);
    expect(['no_answer', 'server_error', 'wrong_shape']).toContain(answer.kind);
    expect(intentOf(await room().retrieveIntent(saved)).status).toBe('succeeded');
    expect(emulator.books.charges.filter((m) => m.paymentIntentId === saved.paymentIntentId)).toHaveLength(1);
  });

  it('a 500 that the key keeps is replayed as such', async () => {
    const saved = await created();
    emulator.faults.add({ on: 'confirm', when: 'after-execute', what: 'error-500-cached' });
    expect(await room().confirmIntent(saved)).toMatchObject({ kind: 'server_error', replayed: false });
    expect(await room().confirmIntent(saved)).toMatchObject({ kind: 'server_error', replayed: true });
    expect(intentOf(await room().retrieveIntent(saved)).status).toBe('succeeded');
  });

  it.each([
    ['in-use-409', 'in_use', 'before-claim'],
    ['lock-timeout-429', 'lock', 'before-execute'],
    ['rate-429', 'rate', 'before-rate-limit'],
  ] as const)('%s is busy: %s', async (what, why, when) => {
    const saved = await created();
    emulator.faults.add({ on: 'confirm', when, what });
    expect(await room().confirmIntent(saved)).toMatchObject({ kind: 'busy', why });
    expect(intentOf(await room().confirmIntent(saved)).status).toBe('succeeded');
  });
});
