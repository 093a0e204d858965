/** Stripe's test payment methods: what each one does when it is charged. */
import type { PaymentError } from './objects';

export type Behaviour =
  | { readonly kind: 'succeeds' }
  /** Money comes days later, or does not. */
  | { readonly kind: 'processes' }
  | {
      readonly kind: 'declines';
      readonly error: Omit<PaymentError, 'payment_method' | 'charge' | 'type'>;
      /** Stripe refuses to attach the method to a customer, for the same reason. */
      readonly onAttach: boolean;
      readonly isBlocked: boolean;
    }
  /** `always`: each charge asks the customer. `unless-set-up`: off-session charges are free after one success. */
  | { readonly kind: 'authenticates'; readonly when: 'always' | 'on-session' | 'unless-set-up' };

export interface TestMethod {
  readonly type: 'card' | 'us_bank_account';
  readonly brand: string;
  readonly last4: string;
  readonly behaviour: Behaviour;
}

const succeeds: Behaviour = { kind: 'succeeds' };

function card(last4: string, behaviour: Behaviour = succeeds, brand = 'visa'): TestMethod {
  return { type: 'card', brand, last4, behaviour };
}

type Decline = Extract<Behaviour, { kind: 'declines' }>;

function declines(
  code: string,
  declineCode: string,
  message: string,
  advice: string,
  more: Partial<Decline> & { param?: string } = {},
): Decline {
  const { param, ...rest } = more;
  const error = {
    code,
    decline_code: declineCode,
    advice_code: advice,
    message,
    ...(param === undefined ? {} : { param }),
  };
  return { kind: 'declines', onAttach: true, isBlocked: false, ...rest, error };
}

const DECLINED = 'Your card was declined.';
const generic = (more: Partial<Decline> = {}) =>
  declines('card_declined', 'generic_decline', DECLINED, 'try_again_later', more);

const METHODS: Readonly<Record<string, TestMethod>> = {
  pm_card_visa: card('4242'),
  pm_card_visa_debit: card('5556'),
  pm_card_mastercard: card('4444', succeeds, 'mastercard'),
  pm_card_amex: card('8431', succeeds, 'amex'),
  pm_card_discover: card('9424', succeeds, 'discover'),
  pm_card_diners: card('0004', succeeds, 'diners'),
  pm_card_jcb: card('0505', succeeds, 'jcb'),
  pm_card_unionpay: card('0005', succeeds, 'unionpay'),
  pm_card_chargeDeclined: card('0002', generic()),
  pm_card_chargeDeclinedInsufficientFunds: card(
    '9995',
    declines('card_declined', 'insufficient_funds', 'Your card has insufficient funds.', 'try_again_later'),
  ),
  pm_card_chargeDeclinedLostCard: card('9987', declines('card_declined', 'lost_card', DECLINED, 'do_not_try_again')),
  pm_card_chargeDeclinedStolenCard: card(
    '9979',
    declines('card_declined', 'stolen_card', DECLINED, 'do_not_try_again'),
  ),
  pm_card_chargeDeclinedExpiredCard: card(
    '0069',
    declines('expired_card', 'expired_card', 'Your card has expired.', 'do_not_try_again', { param: 'exp_month' }),
  ),
  pm_card_chargeDeclinedIncorrectCvc: card(
    '0127',
    declines('incorrect_cvc', 'incorrect_cvc', "Your card's security code is incorrect.", 'confirm_card_data', {
      param: 'cvc',
    }),
  ),
  pm_card_chargeDeclinedProcessingError: card(
    '0119',
    declines(
      'processing_error',
      'processing_error',
      'An error occurred while processing your card. Try again in a little bit.',
      'try_again_later',
    ),
  ),
  pm_card_chargeDeclinedVelocityLimitExceeded: card(
    '6975',
    declines(
      'card_declined',
      'card_velocity_exceeded',
      'Your card was declined for making repeated attempts too frequently or exceeding its amount limit.',
      'try_again_later',
    ),
  ),
  pm_card_chargeCustomerFail: card('0341', generic({ onAttach: false })),
  pm_card_radarBlock: card(
    '0019',
    declines('card_declined', 'fraudulent', DECLINED, 'do_not_try_again', { onAttach: false, isBlocked: true }),
  ),
  pm_card_authenticationRequired: card('3184', { kind: 'authenticates', when: 'always' }),
  pm_card_authenticationRequiredOnSetup: card('3155', { kind: 'authenticates', when: 'unless-set-up' }),
  pm_card_authenticationRequiredSetupForOffSession: card('3155', { kind: 'authenticates', when: 'on-session' }),
  pm_card_threeDSecureRequired: card('3063', { kind: 'authenticates', when: 'always' }),
  pm_card_threeDSecure2Required: card('3220', { kind: 'authenticates', when: 'always' }),
  pm_card_threeDSecureOptional: card('3055'),
  pm_usBankAccount: { type: 'us_bank_account', brand: '', last4: '6789', behaviour: { kind: 'processes' } },
  pm_usBankAccount_processing: { type: 'us_bank_account', brand: '', last4: '0200', behaviour: { kind: 'processes' } },
};

/** `pm_card_visa_chargeDeclined…` and `pm_card_chargeDeclined…` are the same method. */
export function testMethod(id: string): TestMethod | undefined {
  if (Object.hasOwn(METHODS, id)) return METHODS[id];
  const short = id.replace(/^pm_card_visa_charge/, 'pm_card_charge');
  return Object.hasOwn(METHODS, short) ? METHODS[short] : undefined;
}

/** `tok_visa`, `tok_chargeDeclined…`: the token of the test card of the same name, for legacy charges. */
export function testMethodOfToken(token: string): string | undefined {
  const id = token.replace(/^tok_/, 'pm_card_');
  return id !== token && testMethod(id) !== undefined ? id : undefined;
}

/** Ids of the test methods that the emulator knows. */
export const TEST_METHOD_IDS: readonly string[] = Object.keys(METHODS);

export const AUTHENTICATION_REQUIRED: Omit<PaymentError, 'payment_method' | 'charge' | 'type'> = {
  code: 'authentication_required',
  decline_code: 'authentication_required',
  message: 'Your card was declined. This transaction requires authentication.',
};
