/** Stripe's objects as the emulator keeps them: plain JSON in the shape of the API's answers. */

export type Status =
  | 'requires_payment_method'
  | 'requires_confirmation'
  | 'requires_action'
  | 'processing'
  | 'succeeded'
  | 'canceled';

export interface StripeObject {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly livemode: boolean;
  readonly [field: string]: unknown;
}

export interface PaymentMethod extends StripeObject {
  readonly object: 'payment_method';
  readonly type: 'card' | 'us_bank_account';
  customer: string | null;
}

export interface PaymentError {
  readonly type: 'card_error' | 'invalid_request_error';
  readonly code: string;
  readonly decline_code?: string;
  readonly advice_code?: string;
  readonly param?: string;
  readonly charge?: string;
  readonly message: string;
  readonly payment_method?: PaymentMethod;
}

export interface PaymentIntent extends StripeObject {
  readonly object: 'payment_intent';
  amount: number;
  amount_received: number;
  readonly automatic_payment_methods: { enabled: boolean; allow_redirects: string } | null;
  canceled_at: number | null;
  cancellation_reason: string | null;
  readonly client_secret: string;
  currency: string;
  customer: string | null;
  description: string | null;
  last_payment_error: PaymentError | null;
  latest_charge: string | null;
  metadata: Record<string, string>;
  next_action: Record<string, unknown> | null;
  payment_method: string | null;
  /** What may be used: in answers only; requests say `allowed_payment_method_types`. */
  readonly payment_method_types: string[];
  status: Status;
}

export interface Charge extends StripeObject {
  readonly object: 'charge';
  readonly amount: number;
  amount_captured: number;
  amount_refunded: number;
  captured: boolean;
  readonly currency: string;
  readonly customer: string | null;
  failure_code: string | null;
  failure_message: string | null;
  readonly metadata: Record<string, string>;
  paid: boolean;
  /** Null: a legacy charge, made without an intent. */
  readonly payment_intent: string | null;
  refunded: boolean;
  status: 'failed' | 'pending' | 'succeeded';
}

export interface Customer extends StripeObject {
  readonly object: 'customer';
  default_source: string | null;
  description: string | null;
  email: string | null;
  readonly invoice_settings: { default_payment_method: string | null; [field: string]: unknown };
  metadata: Record<string, string>;
  name: string | null;
}

export interface Refund extends StripeObject {
  readonly object: 'refund';
  readonly amount: number;
  readonly charge: string;
  readonly payment_intent: string | null;
}

export interface StripeEvent extends StripeObject {
  readonly object: 'event';
  readonly type: string;
  /** Endpoints that have not taken the event yet. */
  pending_webhooks: number;
  readonly data: { readonly object: StripeObject };
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null };
}

const NO_ADDRESS = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };
export const NO_BILLING_DETAILS = { address: NO_ADDRESS, email: null, name: null, phone: null, tax_id: null };

interface Birth {
  readonly id: string;
  readonly created: number;
  readonly livemode: boolean;
}

export function newPaymentIntent(
  birth: Birth & { secret: string },
  given: Pick<
    PaymentIntent,
    | 'amount'
    | 'automatic_payment_methods'
    | 'currency'
    | 'customer'
    | 'description'
    | 'metadata'
    | 'payment_method'
    | 'payment_method_types'
  > & {
    allowed_payment_method_types: string[] | null;
    capture_method: string;
    confirmation_method: string;
    setup_future_usage: string | null;
    [field: string]: unknown;
  },
): PaymentIntent {
  const { secret, ...rest } = birth;
  return {
    ...rest,
    object: 'payment_intent',
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    canceled_at: null,
    cancellation_reason: null,
    client_secret: `${birth.id}_secret_${secret}`,
    customer_account: null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    next_action: null,
    on_behalf_of: null,
    payment_method_configuration_details: null,
    payment_method_options: {},
    processing: null,
    receipt_email: null,
    review: null,
    shipping: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    transfer_data: null,
    transfer_group: null,
    ...given,
    status: given.payment_method === null ? 'requires_payment_method' : 'requires_confirmation',
  };
}

/** What a charge takes over from its intent, or from the request that made it without one. */
export interface ChargeBasis {
  readonly amount: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Absent: a legacy charge. */
  readonly paymentIntent?: string;
  /** Other fields, as the request gave them. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export function newCharge(
  birth: Birth & { balanceTransaction: string | null },
  basis: ChargeBasis,
  method: PaymentMethod,
  outcome: { status: Charge['status']; failure?: PaymentError; isBlocked?: boolean },
): Charge {
  const { balanceTransaction, ...rest } = birth;
  const isPaid = outcome.status === 'succeeded';
  return {
    ...rest,
    object: 'charge',
    amount: basis.amount,
    amount_captured: outcome.status === 'failed' ? 0 : basis.amount,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: balanceTransaction,
    billing_details: NO_BILLING_DETAILS,
    calculated_statement_descriptor: 'CHARGEONCE',
    captured: outcome.status !== 'failed',
    currency: basis.currency,
    customer: basis.customer,
    description: basis.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: outcome.failure?.code ?? null,
    failure_message: outcome.failure?.message ?? null,
    fraud_details: {},
    metadata: { ...basis.metadata },
    on_behalf_of: null,
    outcome: chargeOutcome(outcome),
    paid: isPaid || outcome.status === 'pending',
    payment_intent: basis.paymentIntent ?? null,
    payment_method: method.id,
    payment_method_details: chargedDetails(method),
    receipt_email: null,
    receipt_number: null,
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: outcome.status,
    transfer_data: null,
    transfer_group: null,
    ...basis.more,
  };
}

/** What a charge repeats of its payment method. */
function chargedDetails(method: PaymentMethod) {
  const source = (method[method.type] ?? {}) as Record<string, unknown>;
  const names = method.type === 'card' ? CARD_FIELDS : BANK_FIELDS;
  const details = Object.fromEntries(names.map((name) => [name, source[name] ?? null]));
  const network = method.type === 'card' ? { network: source.brand } : {};
  return { type: method.type, [method.type]: { ...details, ...network } };
}

const CARD_FIELDS = ['brand', 'checks', 'country', 'exp_month', 'exp_year', 'fingerprint', 'funding', 'last4'];
const BANK_FIELDS = ['account_holder_type', 'account_type', 'bank_name', 'fingerprint', 'last4', 'routing_number'];

function chargeOutcome(outcome: { status: Charge['status']; failure?: PaymentError; isBlocked?: boolean }) {
  const hasFailed = outcome.status === 'failed';
  const blocked = outcome.isBlocked === true;
  return {
    advice_code: outcome.failure?.advice_code ?? null,
    network_advice_code: null,
    network_decline_code: null,
    network_status: blocked ? 'not_sent_to_network' : hasFailed ? 'declined_by_network' : 'approved_by_network',
    reason: outcome.failure?.decline_code ?? outcome.failure?.code ?? null,
    risk_level: blocked ? 'highest' : 'normal',
    seller_message: hasFailed ? 'The bank did not return any further details with this decline.' : 'Payment complete.',
    type: blocked ? 'blocked' : hasFailed ? 'issuer_declined' : 'authorized',
  };
}

export function newCustomer(birth: Birth): Customer {
  return {
    ...birth,
    object: 'customer',
    address: null,
    balance: 0,
    currency: null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: null,
    email: null,
    invoice_prefix: birth.id.slice(-8).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    metadata: {},
    name: null,
    next_invoice_sequence: 1,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  };
}

export function newPaymentMethod(
  birth: Birth,
  details: { type: PaymentMethod['type']; brand: string; last4: string },
): PaymentMethod {
  const shared = {
    ...birth,
    object: 'payment_method' as const,
    allow_redisplay: 'unspecified',
    billing_details: NO_BILLING_DETAILS,
    customer: null,
    customer_account: null,
    metadata: {},
    type: details.type,
  };
  if (details.type === 'us_bank_account') return { ...shared, us_bank_account: bankAccount(details.last4) };
  return { ...shared, card: card(details.brand, details.last4) };
}

function card(brand: string, last4: string) {
  return {
    brand,
    checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'pass' },
    country: 'US',
    display_brand: brand,
    exp_month: 12,
    exp_year: 2034,
    fingerprint: `fp${last4}chargeonce`,
    funding: 'credit',
    generated_from: null,
    last4,
    networks: { available: [brand], preferred: null },
    regulated_status: 'unregulated',
    three_d_secure_usage: { supported: true },
    wallet: null,
  };
}

function bankAccount(last4: string) {
  return {
    account_holder_type: 'individual',
    account_type: 'checking',
    bank_name: 'STRIPE TEST BANK',
    financial_connections_account: null,
    fingerprint: `fp${last4}chargeonce`,
    last4,
    networks: { preferred: 'ach', supported: ['ach'] },
    routing_number: '110000000',
    status_details: {},
  };
}

export function newRefund(
  birth: Omit<Birth, 'livemode'>,
  charge: Charge,
  given: { amount: number; reason: string | null; metadata: Record<string, string>; balanceTransaction: string },
) {
  return {
    ...birth,
    object: 'refund' as const,
    amount: given.amount,
    balance_transaction: given.balanceTransaction,
    charge: charge.id,
    currency: charge.currency,
    metadata: given.metadata,
    payment_intent: charge.payment_intent,
    reason: given.reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'succeeded',
    transfer_reversal: null,
  };
}
