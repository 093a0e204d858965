/** How a confirmation ends: here, and in the legacy `charges.ts`, money moves and the books are written. */
import { invalidRequest, StripeError, unexpectedState } from './errors';
import { type Charge, newCharge, type PaymentError, type PaymentIntent, type PaymentMethod } from './objects';
import { AUTHENTICATION_REQUIRED } from './test-methods';
import { type Cause, randomText, type World } from './world';

export interface ConfirmOptions {
  readonly offSession: boolean;
  readonly errorOnRequiresAction: boolean;
  readonly returnUrl: string | undefined;
}

type Decline = Omit<PaymentError, 'payment_method' | 'charge' | 'type'>;

/** Charges the intent with its payment method. Throws the 402 or 400 that Stripe answers. */
export function attempt(world: World, intent: PaymentIntent, options: ConfirmOptions, cause: Cause): void {
  if (!['requires_payment_method', 'requires_confirmation', 'requires_action'].includes(intent.status)) {
    throw unexpectedState(confirmRefusal(intent), structuredClone(intent));
  }
  if (intent.payment_method === null) {
    throw unexpectedState(
      "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update the PaymentIntent with a payment method and then confirm it again, or confirm it again directly with a payment method or ConfirmationToken.",
      structuredClone(intent),
    );
  }
  if (intent.automatic_payment_methods?.allow_redirects === 'always' && options.returnUrl === undefined) {
    throw invalidRequest(
      "This PaymentIntent is configured to accept payment methods enabled in your Dashboard. Because some of these payment methods might redirect your customer off of your page, you must provide a `return_url`. If you don't want to accept redirect-based payment methods, set `automatic_payment_methods[enabled]` to `true` and `automatic_payment_methods[allow_redirects]` to `never` when creating Setup Intents and Payment Intents.",
      { param: 'return_url', payment_intent: structuredClone(intent) },
    );
  }
  const method = world.paymentMethod(intent.payment_method, 'payment_method', false);
  const behaviour = world.behaviour(method);
  if (behaviour.kind === 'declines') decline(world, intent, method, behaviour.error, behaviour.isBlocked, cause);
  const asks = behaviour.kind === 'authenticates' && asksCustomer(behaviour.when, world, method, options);
  if (asks && (options.offSession || options.errorOnRequiresAction)) {
    decline(world, intent, method, AUTHENTICATION_REQUIRED, false, cause);
  }
  if (asks) requireAction(world, intent, options, cause);
  else if (behaviour.kind === 'processes') startProcessing(world, intent, method, cause);
  else succeed(world, intent, method, cause);
}

function confirmRefusal(intent: PaymentIntent): string {
  if (intent.status === 'succeeded') {
    return 'You cannot confirm this PaymentIntent because it has already succeeded after being previously confirmed.';
  }
  return `You cannot confirm this PaymentIntent because it has a status of ${intent.status}. Only a PaymentIntent with one of the following statuses may be confirmed: requires_confirmation, requires_action, requires_payment_method.`;
}

function asksCustomer(
  when: 'always' | 'on-session' | 'unless-set-up',
  world: World,
  method: PaymentMethod,
  options: ConfirmOptions,
): boolean {
  if (when === 'always' || !options.offSession) return true;
  return when === 'unless-set-up' && !world.isSetUp(method.id);
}

/** Money moves here. A pending charge of the intent becomes the successful one. */
export function succeed(world: World, intent: PaymentIntent, method: PaymentMethod, cause: Cause): void {
  const pending = intent.latest_charge === null ? undefined : world.charges.get(intent.latest_charge);
  const charge =
    pending?.status === 'pending'
      ? Object.assign(pending, { status: 'succeeded', paid: true, balance_transaction: world.newId('txn') })
      : addCharge(world, intent, method, { status: 'succeeded' });
  world.books.record({
    chargeId: charge.id,
    paymentIntentId: intent.id,
    account: world.account,
    livemode: world.livemode,
    customer: intent.customer,
    amount: intent.amount,
    currency: intent.currency,
    at: world.clock.now(),
    metadata: intent.metadata,
    idempotencyKey: cause.idempotencyKey,
  });
  Object.assign(intent, {
    status: 'succeeded',
    amount_received: intent.amount,
    last_payment_error: null,
    next_action: null,
    processing: null,
  });
  world.emit('charge.succeeded', charge, cause);
  world.emit('payment_intent.succeeded', intent, cause);
}

function addCharge(
  world: World,
  intent: PaymentIntent,
  method: PaymentMethod,
  outcome: Parameters<typeof newCharge>[3],
): Charge {
  const balanceTransaction = outcome.status === 'succeeded' ? world.newId('txn') : null;
  const basis = { ...intent, paymentIntent: intent.id };
  const charge = newCharge({ ...world.birth('ch'), balanceTransaction }, basis, method, outcome);
  world.charges.set(charge.id, charge);
  intent.latest_charge = charge.id;
  return charge;
}

function decline(
  world: World,
  intent: PaymentIntent,
  method: PaymentMethod,
  reason: Decline,
  isBlocked: boolean,
  cause: Cause,
): never {
  const failure: PaymentError = { type: 'card_error', ...reason };
  const charge = addCharge(world, intent, method, { status: 'failed', failure, isBlocked });
  const error = failAttempt(world, intent, method, { ...failure, charge: charge.id }, cause);
  world.emit('charge.failed', charge, cause);
  throw new StripeError(402, {
    ...error,
    type: 'card_error',
    doc_url: `https://stripe.com/docs/error-codes/${error.code.replaceAll('_', '-')}`,
    payment_intent: structuredClone(intent),
    request_log_url: `https://dashboard.stripe.com/logs/${cause.requestId ?? ''}`,
  });
}

/** The intent wants another payment method. */
export function failAttempt(
  world: World,
  intent: PaymentIntent,
  method: PaymentMethod,
  failure: PaymentError,
  cause: Cause,
): PaymentError {
  const error = { ...failure, payment_method: structuredClone(method) };
  Object.assign(intent, {
    status: 'requires_payment_method',
    payment_method: null,
    last_payment_error: error,
    next_action: null,
    processing: null,
  });
  world.emit('payment_intent.payment_failed', intent, cause);
  return error;
}

function requireAction(world: World, intent: PaymentIntent, options: ConfirmOptions, cause: Cause): void {
  const address = `https://hooks.stripe.com/3d_secure_2/${intent.id}/${randomText(12)}`;
  intent.status = 'requires_action';
  intent.last_payment_error = null;
  intent.next_action =
    options.returnUrl === undefined
      ? { type: 'use_stripe_sdk', use_stripe_sdk: { type: 'three_d_secure_redirect', stripe_js: address } }
      : { type: 'redirect_to_url', redirect_to_url: { return_url: options.returnUrl, url: address } };
  world.emit('payment_intent.requires_action', intent, cause);
}

function startProcessing(world: World, intent: PaymentIntent, method: PaymentMethod, cause: Cause): void {
  const charge = addCharge(world, intent, method, { status: 'pending' });
  intent.status = 'processing';
  intent.last_payment_error = null;
  world.emit('charge.pending', charge, cause);
  world.emit('payment_intent.processing', intent, cause);
}
