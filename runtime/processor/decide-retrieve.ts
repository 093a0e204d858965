/** Table row "retrieve says": what the intent is now. A GET moves nothing, so it may be asked at any time. */
import type { RowStatus } from '../contract';
import {
  charged,
  type Decision,
  DONE,
  LEAVE_UNKNOWN,
  MAX_TRIES,
  only,
  type Phase,
  type RetrieveReason,
  settle,
} from './decision';
import type { ChargeRow, IntentView, SettledStatus, StripeAnswer } from './ports';

/** Statuses that a read may change into something other than `charged`. */
const MOVES_ON: ReadonlySet<RowStatus> = new Set([
  'pending',
  'processing',
  'action_required',
  'card_declined',
  'rejected',
]);

type RetrievePhase = Extract<Phase, { step: 'retrieve' }>;

export function decideRetrieve(row: ChargeRow, phase: RetrievePhase, answer: StripeAnswer): Decision {
  switch (answer.kind) {
    case 'intent':
      return byStatus(row, phase.reason, answer.intent);
    case 'unauthorized':
      return only({ do: 'halt', message: answer.message });
    case 'refused':
      // The row's intent is not in this account or mode: never a verdict.
      return only(LEAVE_UNKNOWN, 'intent_missing');
    case 'busy':
    case 'server_error':
    case 'no_answer':
      return only(phase.tries < MAX_TRIES ? { do: 'retrieve', reason: phase.reason, backoff: true } : LEAVE_UNKNOWN);
    case 'intents':
    case 'wrong_shape':
    case 'declined':
    case 'unexpected_state':
    case 'idempotency_mismatch':
      return only(LEAVE_UNKNOWN, 'retrieve_wrong_shape');
  }
}

function byStatus(row: ChargeRow, reason: RetrieveReason, intent: IntentView): Decision {
  // Whatever the row says: a late success is booked (R14).
  if (intent.status === 'succeeded') return charged(intent.chargeId);
  if (!MOVES_ON.has(row.status)) return only(DONE);
  switch (intent.status) {
    case 'processing':
      return settle({ status: 'processing' });
    case 'requires_action':
      return settle({ status: 'action_required' });
    case 'canceled':
      if (isClosingRead(row)) return close(row);
      return { write: { kind: 'drop_intent' }, next: { do: 'create', backoff: false } };
    case 'requires_capture':
      return only(LEAVE_UNKNOWN, 'requires_capture');
    case 'requires_payment_method':
    case 'requires_confirmation':
      return unpaid(row, reason, intent);
  }
}

/** The intent can still succeed. What that means depends on what the row says and on why it was asked. */
function unpaid(row: ChargeRow, reason: RetrieveReason, intent: IntentView): Decision {
  if (isClosingRead(row)) return close(row);
  if (row.status === 'processing' || row.status === 'action_required') {
    if (intent.status === 'requires_confirmation') return settle({ status: row.status });
    return failedLater(intent, row.status);
  }
  switch (reason.why) {
    case 'unknown':
      // Left by an earlier attempt, perhaps, while this one still travels: send again, do not judge (H4).
      return only({ do: 'confirm', backoff: true });
    case 'replayed_status':
      // This very attempt was accepted and failed since; its key can only repeat the old answer, so asking again
      // would go in circles until the key is pruned. The hold stays, and a late success is still booked.
      if (intent.status === 'requires_payment_method') return failedLater(intent, 'accepted');
      return { write: { kind: 'next_attempt' }, next: { do: 'confirm', backoff: false } };
    case 'replayed_decline':
      return settle({ status: 'card_declined', declineCode: reason.declineCode, error: reason.message });
    case 'refused':
      return settle({ status: 'rejected', error: reason.message });
    case 'burnt':
      return { write: { kind: 'next_attempt' }, next: { do: 'confirm', backoff: false } };
  }
}

function failedLater(intent: IntentView, was: string): Decision {
  return settle({
    status: 'card_declined',
    declineCode: intent.declineCode ?? 'payment_failed',
    error: intent.error ?? `The payment failed after it was ${was}`,
  });
}

/** A declined or rejected row is read once more before it is closed (R14). */
function isClosingRead(row: ChargeRow): boolean {
  return row.status === 'card_declined' || row.status === 'rejected';
}

function close(row: ChargeRow): Decision {
  return settle({ status: row.status as SettledStatus, closed: true });
}
