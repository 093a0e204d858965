/** The legacy way to charge: one request, no intent, so nothing but an idempotency key stands against a second charge. */
import { checkAmount, checkCurrency } from './amounts';
import { invalidRequest, StripeError } from './errors';
import { EXPAND } from './list';
import { type Charge, type ChargeBasis, newCharge, type PaymentError, type PaymentMethod } from './objects';
import type { Operation } from './operation';
import { clearable, flag, integer, metadata, type ParamSpecs, text } from './params';
import { AUTHENTICATION_REQUIRED, testMethodOfToken } from './test-methods';
import type { Call, Cause, World } from './world';

const CREATE: ParamSpecs = {
  ...EXPAND,
  'amount!': integer,
  'currency!': text(3),
  capture: flag,
  customer: text(),
  description: clearable(40_000),
  metadata,
  receipt_email: clearable(),
  source: text(),
  statement_descriptor: clearable(22),
  statement_descriptor_suffix: clearable(22),
  transfer_group: clearable(),
};

const GIVEN = ['receipt_email', 'statement_descriptor', 'statement_descriptor_suffix', 'transfer_group'];

function checkCreate({ params }: Pick<Call, 'params'>): void {
  const currency = (params.text('currency') ?? '').toLowerCase();
  checkCurrency(currency);
  checkAmount(params.integer('amount') ?? 0, currency);
  if (!params.has('source') && !params.has('customer')) {
    throw invalidRequest('Must provide source or customer.', { code: 'parameter_missing' });
  }
  if (params.text('capture') === 'false') {
    throw invalidRequest('This emulator does not hold funds for a later capture. Leave capture out.', {
      param: 'capture',
    });
  }
}

function create({ world, params, cause }: Call): Charge {
  const customer = params.text('customer') ?? null;
  const method = chargedMethod(world, params.text('source'), customer);
  const basis: ChargeBasis = {
    amount: params.integer('amount') ?? 0,
    currency: (params.text('currency') ?? '').toLowerCase(),
    customer,
    description: params.textOrNull('description'),
    metadata: params.mergedMetadata({}),
    more: Object.fromEntries(GIVEN.map((name) => [name, params.textOrNull(name)])),
  };
  const behaviour = world.behaviour(method);
  if (behaviour.kind === 'declines') fail(world, basis, method, behaviour, cause);
  // A legacy charge has no way to ask the customer, so the bank refuses it.
  if (behaviour.kind === 'authenticates' && !(behaviour.when === 'unless-set-up' && world.isSetUp(method.id))) {
    fail(world, basis, method, { error: AUTHENTICATION_REQUIRED, isBlocked: false }, cause);
  }
  if (behaviour.kind === 'processes') {
    throw invalidRequest('This emulator debits bank accounts through PaymentIntents only. Charge a card here.', {
      param: 'source',
    });
  }
  const birth = { ...world.birth('ch'), balanceTransaction: world.newId('txn') };
  const charge = newCharge(birth, basis, method, { status: 'succeeded' });
  world.charges.set(charge.id, charge);
  enter(world, charge, cause);
  world.emit('charge.succeeded', charge, cause);
  return charge;
}

function enter(world: World, charge: Charge, cause: Cause): void {
  world.books.record({
    chargeId: charge.id,
    paymentIntentId: charge.id,
    account: world.account,
    livemode: world.livemode,
    customer: charge.customer,
    amount: charge.amount,
    currency: charge.currency,
    at: world.clock.now(),
    metadata: charge.metadata,
    idempotencyKey: cause.idempotencyKey,
  });
}

/** A customer pays with a source of their own; without a customer a token pays. */
function chargedMethod(world: World, source: string | undefined, customerId: string | null): PaymentMethod {
  if (customerId !== null) return customersMethod(world, source, customerId);
  const method = source === undefined ? undefined : world.cloneTestMethod(testMethodOfToken(source) ?? '');
  if (method !== undefined) return method;
  throw invalidRequest(`No such token: '${source ?? ''}'`, { code: 'resource_missing', param: 'source' });
}

function customersMethod(world: World, source: string | undefined, customerId: string): PaymentMethod {
  const customer = world.customer(customerId, 'customer', false);
  const id = source ?? customer.default_source;
  if (id === null) {
    throw new StripeError(402, {
      type: 'card_error',
      code: 'missing',
      param: 'card',
      message: 'Cannot charge a customer that has no active card',
      doc_url: 'https://stripe.com/docs/error-codes/missing',
    });
  }
  const method = world.paymentMethods.get(id);
  if (method?.customer === customerId) return method;
  throw new StripeError(404, {
    type: 'invalid_request_error',
    code: 'missing',
    param: 'source',
    message: `Customer ${customerId} does not have a linked source with ID ${id}.`,
    doc_url: 'https://stripe.com/docs/error-codes/missing',
  });
}

function fail(
  world: World,
  basis: ChargeBasis,
  method: PaymentMethod,
  reason: { readonly error: Omit<PaymentError, 'type'>; readonly isBlocked: boolean },
  cause: Cause,
): never {
  const failure: PaymentError = { type: 'card_error', ...reason.error };
  const birth = { ...world.birth('ch'), balanceTransaction: null };
  const charge = newCharge(birth, basis, method, { status: 'failed', failure, isBlocked: reason.isBlocked });
  world.charges.set(charge.id, charge);
  world.emit('charge.failed', charge, cause);
  throw new StripeError(402, {
    ...failure,
    type: 'card_error',
    charge: charge.id,
    doc_url: `https://stripe.com/docs/error-codes/${failure.code.replaceAll('_', '-')}`,
    request_log_url: `https://dashboard.stripe.com/logs/${cause.requestId ?? ''}`,
  });
}

export const LEGACY_CHARGES: readonly Operation[] = [
  {
    name: 'charges.create',
    method: 'POST',
    path: '/v1/charges',
    permission: 'charge_write',
    params: CREATE,
    check: checkCreate,
    execute: create,
  },
];
