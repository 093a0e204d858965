/** Rows, events and intents with sensible values, for tests that only care about some of them. */
import type { BillingEvent, ChargeRow, IntentView } from '../../runtime/processor/ports';

export function aRow(changes: Partial<ChargeRow> = {}): ChargeRow {
  return {
    customerId: 'acme',
    billingPeriod: '2026-10',
    stripeCustomerId: 'cus_acme',
    paymentMethod: 'pm_1',
    amountCents: 1_200,
    currency: 'usd',
    description: null,
    metadata: null,
    status: 'pending',
    idempotencyKey: 'key-1',
    attempt: 1,
    paymentIntentId: null,
    confirmStarted: false,
    reserved: true,
    fence: 1n,
    ...changes,
  };
}

/** A row that names its intent and whose gate has run. */
export function aConfirmedRow(changes: Partial<ChargeRow> = {}): ChargeRow {
  return aRow({ paymentIntentId: 'pi_1', confirmStarted: true, ...changes });
}

export function anEvent(changes: Partial<BillingEvent> = {}): BillingEvent {
  return {
    customerId: 'acme',
    billingPeriod: '2026-10',
    stripeCustomerId: 'cus_acme',
    amountCents: 1_200,
    currency: 'usd',
    paymentMethod: 'pm_1',
    ...changes,
  };
}

export function anIntent(status: IntentView['status'], changes: Partial<IntentView> = {}): IntentView {
  return { id: 'pi_1', status, ...(status === 'succeeded' && { chargeId: 'ch_1' }), ...changes };
}
