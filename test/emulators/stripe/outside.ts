/** What happens to an intent without a request of ours: the bank settles, the customer authenticates, a person cancels. */
import { failAttempt, succeed } from './charging';
import type { PaymentIntent, PaymentMethod, Status } from './objects';
import { FROM_OUTSIDE, type World } from './world';

export type Outcome = 'succeeded' | 'failed';

/** A bank debit ends, days after its confirmation. */
export function settleProcessing(world: World, intentId: string, outcome: Outcome): void {
  const intent = expectStatus(world, intentId, 'processing');
  const method = methodOf(world, intent);
  if (outcome === 'succeeded') {
    succeed(world, intent, method, FROM_OUTSIDE);
    return;
  }
  const charge = intent.latest_charge === null ? undefined : world.charges.get(intent.latest_charge);
  const message = "The customer's bank account could not be debited.";
  const failed = { status: 'failed', paid: false, captured: false, amount_captured: 0 } as const;
  if (charge !== undefined) {
    Object.assign(charge, failed, { failure_code: 'charge_exceeds_source_limit', failure_message: message });
    world.emit('charge.failed', charge, FROM_OUTSIDE);
  }
  failAttempt(
    world,
    intent,
    method,
    {
      type: 'invalid_request_error',
      code: 'payment_intent_payment_attempt_failed',
      message,
      ...(charge ? { charge: charge.id } : {}),
    },
    FROM_OUTSIDE,
  );
}

/** The customer authenticates the payment, or fails to. */
export function completeAction(world: World, intentId: string, outcome: Outcome): void {
  const intent = expectStatus(world, intentId, 'requires_action');
  const method = methodOf(world, intent);
  if (outcome === 'succeeded') {
    world.markSetUp(method.id);
    succeed(world, intent, method, FROM_OUTSIDE);
    return;
  }
  failAttempt(
    world,
    intent,
    method,
    {
      type: 'invalid_request_error',
      code: 'payment_intent_authentication_failure',
      message:
        'We are unable to authenticate your payment method. Please choose a different payment method and try again.',
    },
    FROM_OUTSIDE,
  );
}

/** Cancels an intent as from the Dashboard. Throws when it has ended already. */
export function cancelFromOutside(world: World, intentId: string): void {
  const intent = world.intent(intentId);
  if (!CANCELABLE.has(intent.status)) throw new Error(`cancel: ${intentId} is ${intent.status}`);
  markCanceled(world, intent, null);
  world.emit('payment_intent.canceled', intent, FROM_OUTSIDE);
}

export const CANCELABLE: ReadonlySet<Status> = new Set([
  'requires_payment_method',
  'requires_confirmation',
  'requires_action',
]);

export function markCanceled(world: World, intent: PaymentIntent, reason: string | null): void {
  Object.assign(intent, {
    status: 'canceled',
    canceled_at: world.clock.seconds(),
    cancellation_reason: reason,
    next_action: null,
  });
}

function expectStatus(world: World, intentId: string, status: Status): PaymentIntent {
  const intent = world.intent(intentId);
  if (intent.status !== status) throw new Error(`${intentId} is ${intent.status}, not ${status}`);
  return intent;
}

function methodOf(world: World, intent: PaymentIntent): PaymentMethod {
  return world.paymentMethod(intent.payment_method ?? '', 'payment_method', false);
}
