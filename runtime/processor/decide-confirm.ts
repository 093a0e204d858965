/** Table column "confirm n": the intent is durably named by the row and the gate has run. */
import { charged, type Decision, MAX_TRIES, NO_WRITE, only, type Phase, settle, UNKNOWN_REASON } from './decision';
import type { IntentView, StripeAnswer } from './ports';

const LOOK: Decision = only({ do: 'retrieve', reason: UNKNOWN_REASON, backoff: true });

export function decideConfirm(phase: Extract<Phase, { step: 'confirm' }>, answer: StripeAnswer): Decision {
  switch (answer.kind) {
    case 'intent':
      return byStatus(answer.intent, answer.replayed);
    case 'intents':
    case 'wrong_shape':
      return { ...LOOK, alarm: 'confirm_wrong_shape' };
    case 'declined':
      return answer.replayed
        ? only({
            do: 'retrieve',
            reason: { why: 'replayed_decline', declineCode: answer.declineCode, message: answer.message },
            backoff: false,
          })
        : settle({ status: 'card_declined', declineCode: answer.declineCode, error: answer.message });
    case 'unexpected_state':
      return answer.intent ? byUnexpectedStatus(answer.intent) : LOOK;
    case 'idempotency_mismatch':
      return only({ do: 'retrieve', reason: { why: 'burnt' }, backoff: false }, 'idempotency_mismatch');
    case 'refused':
      return only({ do: 'retrieve', reason: { why: 'refused', message: answer.message }, backoff: false });
    case 'unauthorized':
      return only({ do: 'halt', message: answer.message });
    case 'busy':
      return phase.tries < MAX_TRIES ? only({ do: 'confirm', backoff: true }) : LOOK;
    case 'server_error':
      return answer.replayed ? only({ do: 'retrieve', reason: { why: 'burnt' }, backoff: false }) : LOOK;
    case 'no_answer':
      return LOOK;
  }
}

function byStatus(intent: IntentView, replayed: boolean): Decision {
  switch (intent.status) {
    case 'succeeded':
      return charged(intent.chargeId);
    case 'processing':
    case 'requires_action':
      if (replayed) return only({ do: 'retrieve', reason: { why: 'replayed_status' }, backoff: false });
      return settle({ status: intent.status === 'processing' ? 'processing' : 'action_required' });
    case 'canceled':
      // A stored answer is a snapshot; canceled is final, so even an old one proves it.
      return { write: { kind: 'drop_intent' }, next: { do: 'create', backoff: false } };
    case 'requires_capture':
      return { ...LOOK, alarm: 'requires_capture' };
    case 'requires_payment_method':
    case 'requires_confirmation':
      return LOOK;
  }
}

/** 400 payment_intent_unexpected_state: the intent that is embedded says why. */
function byUnexpectedStatus(intent: IntentView): Decision {
  switch (intent.status) {
    case 'succeeded':
      return charged(intent.chargeId);
    case 'processing':
      return settle({ status: 'processing' });
    case 'canceled':
      return { write: { kind: 'drop_intent' }, next: { do: 'create', backoff: false } };
    case 'requires_action':
    case 'requires_capture':
    case 'requires_payment_method':
    case 'requires_confirmation':
      return { write: NO_WRITE, next: { do: 'retrieve', reason: UNKNOWN_REASON, backoff: true } };
  }
}
