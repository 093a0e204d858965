/** Reads the customer's default payment method. */
import type { ChargeRow, PaymentMethodAnswer } from '../processor/ports';
import { asRecord, idOf } from './read-intent';

/**
 * The default for invoices, else the legacy default source. A deleted customer is refused: a new one with the same id
 * cannot come back.
 */
export function readDefaultPaymentMethod(body: unknown, row: ChargeRow, livemode: boolean): PaymentMethodAnswer {
  const customer = asRecord(body);
  if (customer?.object !== 'customer' || customer.id !== row.stripeCustomerId) {
    return { kind: 'wrong_shape', detail: `the answer is not the customer ${row.stripeCustomerId}` };
  }
  if (customer.deleted === true) {
    const message = `The customer ${row.stripeCustomerId} was deleted in Stripe`;
    return { kind: 'refused', status: 200, code: 'customer_deleted', message };
  }
  if (customer.livemode !== livemode) {
    return { kind: 'wrong_shape', detail: `livemode of ${row.stripeCustomerId} is not ${livemode}` };
  }
  const found = idOf(asRecord(customer.invoice_settings)?.default_payment_method) ?? idOf(customer.default_source);
  if (found !== undefined) return { kind: 'found', paymentMethod: found };
  return {
    kind: 'none',
    message:
      `The customer ${row.stripeCustomerId} has no default payment method: ` +
      'set one in Stripe (invoice_settings.default_payment_method) or name payment_method in the event',
  };
}
