/** Endpoints of refunds. */
import { invalidRequest } from './errors';
import { EXPAND } from './list';
import { type Charge, newRefund, type Refund } from './objects';
import type { Operation } from './operation';
import { choice, integer, metadata, text } from './params';
import type { Call } from './world';

function refundedCharge({ world, params }: Call): Charge {
  const chargeId = params.text('charge');
  if (chargeId !== undefined) return world.charge(chargeId, 'charge', false);
  const intentId = params.text('payment_intent');
  if (intentId === undefined) {
    throw invalidRequest('One of the following params should be provided for this request: payment_intent or charge.');
  }
  const intent = world.intents.get(intentId);
  if (intent === undefined) {
    throw world.missing('payment_intent', intentId, 'payment_intent', false, (other) => other.intents.has(intentId));
  }
  return world.charge(intent.latest_charge ?? '', 'payment_intent', false);
}

function create(call: Call): Refund {
  const { world, params, cause } = call;
  const charge = refundedCharge(call);
  if (charge.status !== 'succeeded') {
    throw invalidRequest(`This charge (${charge.id}) has not succeeded and cannot be refunded.`, { param: 'charge' });
  }
  const left = charge.amount - charge.amount_refunded;
  if (left === 0) {
    throw invalidRequest(`Charge ${charge.id} has already been refunded.`, { code: 'charge_already_refunded' });
  }
  const amount = params.integer('amount') ?? left;
  if (amount < 1 || amount > left) {
    throw invalidRequest(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`, {
      param: 'amount',
    });
  }
  const { livemode: _, ...birth } = world.birth('re');
  const refund = newRefund(birth, charge, {
    amount,
    reason: params.textOrNull('reason'),
    metadata: params.mergedMetadata({}),
    balanceTransaction: world.newId('txn'),
  }) as unknown as Refund;
  world.refunds.set(refund.id, refund);
  charge.amount_refunded += amount;
  charge.refunded = charge.amount_refunded === charge.amount;
  world.emit('charge.refunded', charge, cause);
  world.emit('refund.created', refund, cause);
  return refund;
}

export const REFUND_OPERATIONS: readonly Operation[] = [
  {
    name: 'refunds.create',
    method: 'POST',
    path: '/v1/refunds',
    permission: 'refund_write',
    params: {
      ...EXPAND,
      amount: integer,
      charge: text(),
      metadata,
      payment_intent: text(),
      reason: choice('duplicate', 'fraudulent', 'requested_by_customer'),
    },
    execute: create,
  },
  {
    name: 'refunds.retrieve',
    method: 'GET',
    path: '/v1/refunds/:id',
    permission: 'refund_read',
    params: EXPAND,
    execute: ({ world, id }) => {
      const refund = world.refunds.get(id);
      if (refund === undefined) throw world.missing('refund', id, 'id', true, (other) => other.refunds.has(id));
      return refund;
    },
  },
];
