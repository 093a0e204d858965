import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type StripeEmulator, startStripeEmulator, TEST_METHOD_IDS } from '../stripe';
import { type CheckedClient, createCheckedClient, failureOf } from './checked-client';
import { OPENAPI, objectViolations, requestViolations, responseViolations } from './index';
import { prune } from './prune';

const CREATE = 'amount=100&currency=usd&customer=cus_1&payment_method=pm_1&allowed_payment_method_types[0]=card';

describe('the pruned OpenAPI document', () => {
  it('names its version and is stable under pruning', () => {
    expect(OPENAPI.info.version).toMatch(/^\d{4}-\d{2}-\d{2}\.\w+$/);
    expect(prune(OPENAPI)).toEqual(OPENAPI);
  });
});

describe('request checks', () => {
  it('accepts the two requests of a charge and the list of a reconciliation', () => {
    expect(requestViolations('POST', '/v1/payment_intents', `${CREATE}&metadata[billing_key]=k`)).toEqual([]);
    expect(requestViolations('POST', '/v1/payment_intents/pi_1/confirm', 'off_session=true')).toEqual([]);
    expect(requestViolations('GET', '/v1/payment_intents', 'customer=cus_1&created[gte]=17&limit=100')).toEqual([]);
  });

  it.each([
    ['a wrong name', `${CREATE}&amonut=1`, 'amonut'],
    ['a wrong nested name', `${CREATE}&automatic_payment_methods[enabeld]=true`, 'enabeld'],
    ['a wrong name three deep', `${CREATE}&shipping[name]=x&shipping[address][strasse]=x`, 'strasse'],
    ['a name that Stripe has retired', `${CREATE}&payment_method_types[]=card`, 'payment_method_types'],
    ['text for a number', 'amount=1.5&currency=usd', '/amount must be integer'],
    ['a value not allowed', `${CREATE}&capture_method=later`, '/capture_method'],
    ['a missing amount', 'currency=usd', "required property 'amount'"],
    ['metadata that is no map', `${CREATE}&metadata=x`, '/metadata'],
  ])('catches %s', (_, form, part) => {
    expect(requestViolations('POST', '/v1/payment_intents', form).join('\n')).toContain(part);
  });

  it('catches a wrong query parameter and an unknown endpoint', () => {
    expect(requestViolations('GET', '/v1/payment_intents', 'created[since]=1').join('\n')).toContain('since');
    expect(requestViolations('POST', '/v1/payment_intent', CREATE)).toHaveLength(1);
  });
});

describe('answers of the emulator', () => {
  let emulator: StripeEmulator;
  let client: CheckedClient;

  beforeEach(async () => {
    emulator = await startStripeEmulator();
    client = createCheckedClient(emulator);
  });
  afterEach(() => emulator.close());

  it.each(TEST_METHOD_IDS)('conform for a charge with %s', async (methodId) => {
    const { stripe, violations } = client;
    const customer = emulator.customers.create({ defaultPaymentMethod: methodId });
    const intent = await stripe.paymentIntents.create({
      amount: 100,
      currency: 'usd',
      customer: customer.id,
      payment_method: customer.invoice_settings.default_payment_method as string,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      description: 'usage',
      metadata: { billing_key: 'k' },
    });
    await stripe.paymentIntents.confirm(intent.id, { off_session: true }).catch(() => undefined);
    await stripe.paymentIntents.retrieve(intent.id, { expand: ['latest_charge', 'customer', 'payment_method'] });
    await stripe.charges.list({ payment_intent: intent.id });
    expect(emulator.requests.map((request) => request.status)).not.toContain(500);
    expect(violations).toEqual([]);
  });

  it('conform on-session, after every kind of end, in lists, searches, refunds, events and refusals', async () => {
    const { stripe, violations } = client;
    const customer = await stripe.customers.create({ name: 'A', metadata: { k: 'v' } });
    await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    const methods = await stripe.customers.listPaymentMethods(customer.id);
    await stripe.paymentMethods.retrieve(methods.data[0]?.id ?? '');
    await stripe.customers.update(customer.id, {
      invoice_settings: { default_payment_method: methods.data[0]?.id ?? '' },
    });
    const charge = async (method: string) => {
      const given = { amount: 100, currency: 'usd', customer: customer.id, payment_method: method };
      return stripe.paymentIntents.create({
        ...given,
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        confirm: true,
      });
    };
    const paid = await charge('pm_card_visa');
    await stripe.refunds.retrieve((await stripe.refunds.create({ payment_intent: paid.id, amount: 40 })).id);
    for (const outcome of ['succeeded', 'failed'] as const) {
      emulator.completeAction((await charge('pm_card_threeDSecure2Required')).id, outcome);
      emulator.settleProcessing((await charge('pm_usBankAccount')).id, outcome);
    }
    const canceled = await charge('pm_card_threeDSecure2Required');
    await stripe.paymentIntents.cancel(canceled.id, { cancellation_reason: 'abandoned' });
    await stripe.paymentIntents.update(paid.id, { metadata: { late: 'yes' } });
    await failureOf(stripe.paymentIntents.confirm(paid.id));
    await failureOf(stripe.paymentIntents.cancel(paid.id));
    await failureOf(stripe.paymentIntents.retrieve('pi_none'));
    await failureOf(stripe.paymentIntents.create({ amount: 1, currency: 'usd' }));
    emulator.clock.advance(60_000);
    await stripe.paymentIntents.search({ query: "metadata['late']:'yes'" });
    await stripe.paymentIntents.list({ customer: customer.id, created: { gte: 1 }, expand: ['data.latest_charge'] });
    const events = await stripe.events.list({ limit: 100 });
    for (const event of events.data) {
      const subject = event.data.object as { object: string };
      expect(objectViolations(subject.object, subject), event.type).toEqual([]);
    }
    await stripe.accounts.retrieveCurrent();
    expect(violations).toEqual([]);
  });

  it('would be caught with a wrong field, at the root and nested', async () => {
    const intent = await client.stripe.paymentIntents.create({ amount: 100, currency: 'usd' });
    const path = `/v1/payment_intents/${intent.id}`;
    const check = (body: object) => responseViolations('GET', path, 200, JSON.stringify(body)).join('\n');
    const answer = JSON.parse(JSON.stringify(emulator.intent(intent.id))) as Record<string, object>;
    expect(check(answer)).toBe('');
    expect(check({ ...answer, captured: true })).toContain('captured');
    expect(check({ ...answer, status: 'paid' })).toContain('/status');
    expect(check({ ...answer, amount_details: { tip: { amonut: 1 } } })).toContain('amonut');
    expect(check({ ...answer, last_payment_error: { type: 'card_error', declined: 'x' } })).toContain('declined');
    const refusal = { error: { type: 'card_error', payment_intent: { ...answer, extra: 1 } } };
    expect(responseViolations('GET', path, 402, JSON.stringify(refusal)).join('\n')).toContain('extra');
  });
});
