/**
 * The table of the money protocol (phase × answer) as one pure function. The processor, the reconciler and
 * every verb are callers of it; SQL only carries out its writes. No I/O, no clock, no logging.
 *
 *   phase      asked                      an answer leads to
 *   resolve    the customer's default     freeze it, then create
 *   create     a new, unconfirmed intent  save it, then confirm
 *   list       the customer's intents     adopt one, or create
 *   confirm    money to move              settle, or retrieve when not known
 *   retrieve   what the intent is now     settle, or confirm again
 *
 * Three answers mean the same everywhere: 401/403 halt consuming, busy (409, 429) waits, silence is no verdict.
 */
import { decideConfirm } from './decide-confirm';
import { decideCreate, decideResolve } from './decide-create';
import { decideList } from './decide-list';
import { decideRetrieve } from './decide-retrieve';
import type { Decision, Phase } from './decision';
import type { ChargeRow, PaymentMethodAnswer, StripeAnswer } from './ports';

export type Decide = (row: ChargeRow, phase: Phase, answer: StripeAnswer | PaymentMethodAnswer) => Decision;

export const decide: Decide = (row, phase, answer) => {
  if (answer.kind === 'found' || answer.kind === 'none') {
    if (phase.step !== 'resolve') throw new TypeError(`A ${phase.step} cannot be answered with a payment method`);
    return decideResolve(phase, answer);
  }
  switch (phase.step) {
    case 'resolve':
      return decideResolve(phase, answer as PaymentMethodAnswer);
    case 'create':
      return decideCreate(phase, answer);
    case 'list':
      return decideList(phase, answer);
    case 'confirm':
      return decideConfirm(phase, answer);
    case 'retrieve':
      return decideRetrieve(row, phase, answer);
  }
};
