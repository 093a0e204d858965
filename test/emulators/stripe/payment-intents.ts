/** Endpoints of PaymentIntents that change one. */
import { checkAmount, checkCurrency } from './amounts';
import { attempt } from './charging';
import { invalidRequest, unexpectedState } from './errors';
import { EXPAND } from './list';
import { newPaymentIntent, type PaymentIntent } from './objects';
import type { Operation } from './operation';
import { CANCELABLE, markCanceled } from './outside';
import {
  choice,
  clearable,
  either,
  flag,
  integer,
  list,
  metadata,
  object,
  type ParamSpecs,
  type Params,
  text,
  unknownParam,
} from './params';
import { type Call, randomText, type World } from './world';

const OFF_SESSION = either(flag, choice('one_off', 'recurring'));

const CREATE: ParamSpecs = {
  ...EXPAND,
  'amount!': integer,
  'currency!': text(3),
  allowed_payment_method_types: list(text()),
  automatic_payment_methods: object({ 'enabled!': flag, allow_redirects: choice('always', 'never') }),
  capture_method: choice('automatic', 'automatic_async'),
  confirm: flag,
  confirmation_method: choice('automatic', 'manual'),
  customer: text(),
  description: clearable(1000),
  error_on_requires_action: flag,
  metadata,
  off_session: OFF_SESSION,
  payment_method: text(),
  payment_method_types: list(text()),
  receipt_email: clearable(),
  return_url: text(),
  setup_future_usage: choice('off_session', 'on_session'),
  statement_descriptor: clearable(22),
  statement_descriptor_suffix: clearable(22),
  transfer_group: clearable(),
  use_stripe_sdk: flag,
};

const CONFIRM: ParamSpecs = {
  ...EXPAND,
  error_on_requires_action: flag,
  off_session: OFF_SESSION,
  payment_method: text(),
  receipt_email: clearable(),
  return_url: text(),
  setup_future_usage: choice('off_session', 'on_session'),
  use_stripe_sdk: flag,
};

const UPDATE: ParamSpecs = {
  ...EXPAND,
  amount: integer,
  currency: text(3),
  customer: text(),
  description: clearable(1000),
  metadata,
  payment_method: clearable(),
};

/** Parameters that Stripe takes on create only together with `confirm`. */
const ONLY_WITH_CONFIRM = ['error_on_requires_action', 'off_session', 'return_url', 'use_stripe_sdk'];

/** From this release on (2026-10-28.endive is one) requests no longer have `payment_method_types`. */
const WITHOUT_METHOD_TYPES = '2026-09';

function checkCreate({ params, apiVersion }: Parameters<NonNullable<Operation['check']>>[0]): void {
  if (params.has('payment_method_types') && apiVersion >= WITHOUT_METHOD_TYPES)
    throw unknownParam('payment_method_types');
  const currency = (params.text('currency') ?? '').toLowerCase();
  checkCurrency(currency);
  checkAmount(params.integer('amount') ?? 0, currency);
  if (params.has('automatic_payment_methods') && params.has('payment_method_types')) {
    throw invalidRequest(
      'You may only specify one of these parameters: automatic_payment_methods, payment_method_types.',
      {
        param: 'automatic_payment_methods',
      },
    );
  }
  const early = params.flag('confirm') ? undefined : ONLY_WITH_CONFIRM.find((name) => params.has(name));
  if (early !== undefined) {
    throw invalidRequest(
      `You cannot set \`${early}\` when \`confirm\` is not set to \`true\`. Pass \`${early}\` when you confirm the PaymentIntent.`,
      { param: early },
    );
  }
}

function create({ world, params, cause }: Call): PaymentIntent {
  const customer = params.text('customer');
  if (customer !== undefined) world.customer(customer, 'customer', false);
  const types = params.list(
    params.has('payment_method_types') ? 'payment_method_types' : 'allowed_payment_method_types',
  );
  const automatic = params.child('automatic_payment_methods');
  const isAutomatic = types.length === 0 && (!params.has('automatic_payment_methods') || automatic.flag('enabled'));
  const currency = (params.text('currency') ?? '').toLowerCase();
  const wanted = types.length > 0 ? types : isAutomatic ? ['card', 'us_bank_account'] : ['card'];
  const allowed = wanted.filter((type) => type !== 'us_bank_account' || currency === 'usd');
  const methodId = params.text('payment_method');
  const intent = newPaymentIntent(
    { ...world.birth('pi'), secret: randomText(25) },
    {
      allowed_payment_method_types: params.has('allowed_payment_method_types') ? types : null,
      amount: params.integer('amount') ?? 0,
      automatic_payment_methods: isAutomatic
        ? { enabled: true, allow_redirects: automatic.text('allow_redirects') ?? 'always' }
        : null,
      capture_method: params.text('capture_method') ?? 'automatic_async',
      confirmation_method: params.text('confirmation_method') ?? 'automatic',
      currency,
      customer: customer ?? null,
      description: params.textOrNull('description'),
      metadata: params.mergedMetadata({}),
      payment_method: methodId === undefined ? null : usableMethod(world, methodId, customer ?? null, allowed),
      payment_method_types: allowed,
      receipt_email: params.textOrNull('receipt_email'),
      setup_future_usage: params.textOrNull('setup_future_usage'),
      statement_descriptor: params.textOrNull('statement_descriptor'),
      statement_descriptor_suffix: params.textOrNull('statement_descriptor_suffix'),
      transfer_group: params.textOrNull('transfer_group'),
    },
  );
  world.intents.set(intent.id, intent);
  world.emit('payment_intent.created', intent, cause);
  if (params.flag('confirm')) attempt(world, intent, confirmOptions(params), cause);
  return intent;
}

function confirm({ world, params, id, cause }: Call): PaymentIntent {
  const intent = world.intent(id);
  const methodId = params.text('payment_method');
  if (methodId !== undefined && CANCELABLE.has(intent.status)) {
    intent.payment_method = usableMethod(world, methodId, intent.customer, intent.payment_method_types);
  }
  attempt(world, intent, confirmOptions(params), cause);
  return intent;
}

function confirmOptions(params: Params) {
  const offSession = params.text('off_session');
  return {
    offSession: offSession !== undefined && offSession !== 'false',
    errorOnRequiresAction: params.flag('error_on_requires_action'),
    returnUrl: params.text('return_url'),
  };
}

/** The id to keep on the intent; another customer's method and a type that is not allowed are refused. */
function usableMethod(world: World, id: string, customer: string | null, allowed: readonly string[]): string {
  const method = world.paymentMethod(id, 'payment_method', false);
  if (method.customer !== null && method.customer !== customer) {
    throw invalidRequest(
      customer === null
        ? 'The provided PaymentMethod cannot be used without the Customer to which it is attached: pass `customer` too.'
        : `The customer does not have a payment method with the ID ${method.id}. The payment method must be attached to the customer.`,
      { code: 'resource_missing', param: 'payment_method' },
    );
  }
  if (!allowed.includes(method.type)) {
    throw invalidRequest(
      `The PaymentMethod provided (${method.type}) is not allowed for this PaymentIntent. Please attach a PaymentMethod of one of the following types: ${allowed.join(', ')}. Alternatively update the allowed payment_method_types for this PaymentIntent to include "${method.type}".`,
      { param: 'payment_method' },
    );
  }
  return method.id;
}

function update({ world, params, id }: Call): PaymentIntent {
  const intent = world.intent(id);
  const frozen = ['amount', 'currency', 'customer', 'payment_method'].find((name) => params.has(name));
  if (frozen !== undefined && !CANCELABLE.has(intent.status)) {
    throw unexpectedState(
      `This PaymentIntent's ${frozen} could not be updated because it has a status of ${intent.status}. You may only update the ${frozen} of a PaymentIntent with one of the following statuses: requires_payment_method, requires_confirmation, requires_action.`,
      structuredClone(intent),
    );
  }
  const currency = (params.text('currency') ?? intent.currency).toLowerCase();
  const amount = params.integer('amount') ?? intent.amount;
  checkCurrency(currency);
  checkAmount(amount, currency);
  const customer = params.text('customer') ?? intent.customer;
  if (customer !== null) world.customer(customer, 'customer', false);
  const methodId = params.text('payment_method');
  if (methodId !== undefined) {
    intent.payment_method =
      methodId === '' ? null : usableMethod(world, methodId, customer, intent.payment_method_types);
    intent.status = methodId === '' ? 'requires_payment_method' : 'requires_confirmation';
  }
  Object.assign(intent, { amount, currency, customer, metadata: params.mergedMetadata(intent.metadata) });
  if (params.has('description')) intent.description = params.textOrNull('description');
  world.intentIndex.put(structuredClone(intent));
  return intent;
}

function cancel({ world, params, id, cause }: Call): PaymentIntent {
  const intent = world.intent(id);
  if (!CANCELABLE.has(intent.status)) {
    throw unexpectedState(
      `You cannot cancel this PaymentIntent because it has a status of ${intent.status}. Only a PaymentIntent with one of the following statuses may be canceled: requires_payment_method, requires_capture, requires_confirmation, requires_action, processing.`,
      structuredClone(intent),
    );
  }
  markCanceled(world, intent, params.textOrNull('cancellation_reason'));
  world.emit('payment_intent.canceled', intent, cause);
  return intent;
}

const path = '/v1/payment_intents';
const write = { method: 'POST', permission: 'payment_intent_write' } as const;

export const PAYMENT_INTENT_WRITES: readonly Operation[] = [
  { ...write, name: 'payment_intents.create', path, params: CREATE, check: checkCreate, execute: create },
  { ...write, name: 'payment_intents.update', path: `${path}/:id`, params: UPDATE, locks: true, execute: update },
  {
    ...write,
    name: 'payment_intents.confirm',
    path: `${path}/:id/confirm`,
    params: CONFIRM,
    locks: true,
    execute: confirm,
  },
  {
    ...write,
    name: 'payment_intents.cancel',
    path: `${path}/:id/cancel`,
    params: {
      ...EXPAND,
      cancellation_reason: choice('abandoned', 'duplicate', 'fraudulent', 'requested_by_customer'),
    },
    locks: true,
    execute: cancel,
  },
];
