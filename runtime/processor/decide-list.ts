/** Table row "list": the row names no intent; the customer's intents that carry our billing key are all here. */
import { type Decision, LEAVE_UNKNOWN, MAX_TRIES, NO_WRITE, only, type Phase, UNKNOWN_REASON } from './decision';
import type { IntentView, StripeAnswer } from './ports';

type ListPhase = Extract<Phase, { step: 'list' }>;

export function decideList(phase: ListPhase, answer: StripeAnswer): Decision {
  switch (answer.kind) {
    case 'intents':
      return adopt(phase, answer.intents);
    case 'unauthorized':
      return only({ do: 'halt', message: answer.message });
    case 'refused':
      // The customer cannot be listed; the create will say the same, or why not.
      return only({ do: 'create', backoff: true });
    case 'busy':
    case 'server_error':
    case 'no_answer':
      return only(phase.tries < MAX_TRIES ? { do: 'list', why: phase.why, backoff: true } : LEAVE_UNKNOWN);
    case 'intent':
    case 'wrong_shape':
    case 'declined':
    case 'unexpected_state':
    case 'idempotency_mismatch':
      return only(LEAVE_UNKNOWN, 'retrieve_wrong_shape');
  }
}

/**
 * Where money has moved or is moving first (and an alarm: it must not have been confirmed unsaved), then the oldest
 * that is still alive.
 */
function adopt(phase: ListPhase, intents: readonly IntentView[]): Decision {
  const alive = intents.filter((intent) => intent.status !== 'canceled');
  const succeeded = alive.find((intent) => intent.status === 'succeeded');
  const moving = succeeded ?? alive.find((intent) => intent.status === 'processing');
  const chosen = moving ?? alive[0];
  if (chosen) {
    const decision: Decision = {
      write: { kind: 'save_intent', paymentIntentId: chosen.id },
      next: { do: 'retrieve', reason: UNKNOWN_REASON, backoff: false },
    };
    return moving ? { ...decision, alarm: 'confirmed_before_saved' } : decision;
  }
  if (phase.why === 'burnt' || intents.length > 0) {
    // The old create key leads nowhere, or to an intent that was seen canceled.
    return { write: { kind: 'next_attempt' }, next: { do: 'create', backoff: false } };
  }
  if (phase.why === 'wrong_shape') return only(LEAVE_UNKNOWN);
  return { write: NO_WRITE, next: { do: 'create', backoff: false } };
}
