/** Table column "create": no intent is named by the row, so nothing here can have moved money (R1, R2). */
import { type Decision, LEAVE_UNKNOWN, MAX_SERVER_ERROR_TRIES, MAX_TRIES, only, type Phase, settle } from './decision';
import type { PaymentMethodAnswer, StripeAnswer } from './ports';

const AGAIN = { do: 'create', backoff: true } as const;

export function decideCreate(phase: Extract<Phase, { step: 'create' }>, answer: StripeAnswer): Decision {
  switch (answer.kind) {
    case 'intent':
      return {
        write: { kind: 'save_intent', paymentIntentId: answer.intent.id },
        next: { do: 'confirm', backoff: false },
      };
    case 'intents':
    case 'wrong_shape':
    case 'declined':
    case 'unexpected_state':
      // A decline of something that was never confirmed is no decline.
      return phase.tries < 2
        ? only(AGAIN, 'create_wrong_shape')
        : only({ do: 'list', why: 'wrong_shape', backoff: true }, 'create_wrong_shape');
    case 'idempotency_mismatch':
      return only({ do: 'list', why: 'burnt', backoff: false }, 'idempotency_mismatch');
    case 'refused':
      return settle({ status: 'rejected', error: answer.message });
    case 'unauthorized':
      return only({ do: 'halt', message: answer.message });
    case 'busy':
    case 'no_answer':
      return only(phase.tries < MAX_TRIES ? AGAIN : LEAVE_UNKNOWN);
    case 'server_error':
      if (answer.replayed) return only({ do: 'list', why: 'burnt', backoff: false });
      return only(phase.tries < MAX_SERVER_ERROR_TRIES ? AGAIN : LEAVE_UNKNOWN);
  }
}

/** The customer's default payment method, looked up once and frozen in the row. */
export function decideResolve(phase: Extract<Phase, { step: 'resolve' }>, answer: PaymentMethodAnswer): Decision {
  switch (answer.kind) {
    case 'found':
      return {
        write: { kind: 'freeze_payment_method', paymentMethod: answer.paymentMethod },
        next: { do: 'create', backoff: false },
      };
    case 'none':
    case 'refused':
      return settle({ status: 'rejected', error: answer.message });
    case 'unauthorized':
      return only({ do: 'halt', message: answer.message });
    case 'busy':
    case 'server_error':
    case 'no_answer':
    case 'wrong_shape':
      return only(phase.tries < MAX_TRIES ? { do: 'resolve', backoff: true } : LEAVE_UNKNOWN);
  }
}
