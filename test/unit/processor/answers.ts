/** One answer of every kind that Stripe can give, and a short form of decisions, for the tests of `decide`. */
import type { Decision, Next, Phase, RetrieveReason, Write } from '../../../runtime/processor/decision';
import type { IntentView, PaymentMethodAnswer, StripeAnswer } from '../../../runtime/processor/ports';
import { anIntent } from '../../support/rows';

export const INTENT_STATUSES = [
  'requires_payment_method',
  'requires_confirmation',
  'requires_action',
  'processing',
  'requires_capture',
  'succeeded',
  'canceled',
] as const satisfies readonly IntentView['status'][];

export const ok = (status: IntentView['status'], replayed = false): StripeAnswer => ({
  kind: 'intent',
  intent: anIntent(status),
  replayed,
});
export const listed = (...intents: IntentView[]): StripeAnswer => ({ kind: 'intents', intents });
export const wrongShape: StripeAnswer = { kind: 'wrong_shape', detail: 'amount 1 instead of 1200' };
export const declined = (replayed = false): StripeAnswer => ({
  kind: 'declined',
  declineCode: 'insufficient_funds',
  message: 'Your card has insufficient funds.',
  replayed,
});
export const unexpected = (status?: IntentView['status']): StripeAnswer => ({
  kind: 'unexpected_state',
  ...(status && { intent: anIntent(status) }),
});
export const mismatch: StripeAnswer = { kind: 'idempotency_mismatch', message: 'Keys can only be used once.' };
export const refused = (status: 400 | 404 = 400): Extract<StripeAnswer, { kind: 'refused' }> => ({
  kind: 'refused',
  status,
  code: status === 404 ? 'resource_missing' : 'amount_too_small',
  message: 'No.',
});
export const unauthorized = (status: 401 | 403 = 401): Extract<StripeAnswer, { kind: 'unauthorized' }> => ({
  kind: 'unauthorized',
  status,
  message: 'Bad key.',
});
export const busy = (why: 'in_use' | 'rate' | 'lock'): Extract<StripeAnswer, { kind: 'busy' }> => ({
  kind: 'busy',
  why,
});
export const serverError = (replayed = false, status?: number): Extract<StripeAnswer, { kind: 'server_error' }> => ({
  kind: 'server_error',
  replayed,
  message: 'Something went wrong.',
  ...(status !== undefined && { status }),
});
export const silence: Extract<StripeAnswer, { kind: 'no_answer' }> = { kind: 'no_answer', message: 'socket hang up' };
export const found: PaymentMethodAnswer = { kind: 'found', paymentMethod: 'pm_default' };
export const none: PaymentMethodAnswer = { kind: 'none', message: 'cus_acme has no default payment method' };

export const phase = {
  resolve: (tries = 1): Phase => ({ step: 'resolve', tries }),
  create: (tries = 1): Phase => ({ step: 'create', tries }),
  list: (why: 'resume' | 'burnt' | 'wrong_shape', tries = 1): Phase => ({ step: 'list', why, tries }),
  confirm: (tries = 1): Phase => ({ step: 'confirm', tries }),
  retrieve: (reason: RetrieveReason, tries = 1): Phase => ({ step: 'retrieve', reason, tries }),
};

export const REASONS: Readonly<Record<RetrieveReason['why'], RetrieveReason>> = {
  unknown: { why: 'unknown' },
  replayed_decline: { why: 'replayed_decline', declineCode: 'insufficient_funds', message: 'No funds.' },
  replayed_status: { why: 'replayed_status' },
  refused: { why: 'refused', message: 'No.' },
  burnt: { why: 'burnt' },
};

/** `settle charged → done`, `→ confirm~` (~ after a pause), `save pi_1 → confirm`, `→ list burnt !alarm`. */
export function short(decision: Decision): string {
  const alarm = decision.alarm === undefined ? '' : ` !${decision.alarm}`;
  return `${shortWrite(decision.write)}→ ${shortNext(decision.next)}${alarm}`;
}

function shortWrite(write: Write): string {
  switch (write.kind) {
    case 'none':
      return '';
    case 'freeze_payment_method':
      return `freeze ${write.paymentMethod} `;
    case 'save_intent':
      return `save ${write.paymentIntentId} `;
    case 'settle':
      return `settle ${write.settlement.status}${write.settlement.closed ? ' closed' : ''} `;
    case 'drop_intent':
      return 'drop ';
    case 'next_attempt':
      return 'attempt+1 ';
  }
}

function shortNext(next: Next): string {
  switch (next.do) {
    case 'done':
      return 'done';
    case 'leave_unknown':
      return 'unknown';
    case 'halt':
      return 'halt';
    case 'create':
    case 'resolve':
    case 'confirm':
      return `${next.do}${next.backoff ? '~' : ''}`;
    case 'list':
      return `list ${next.why}${next.backoff ? '~' : ''}`;
    case 'retrieve':
      return `retrieve ${next.reason.why}${next.backoff ? '~' : ''}`;
  }
}
