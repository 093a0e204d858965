/** What holds for every row, phase and answer, whatever the table says in its cells. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROW_STATUSES } from '../../../runtime/contract';
import { type Decide, decide } from '../../../runtime/processor/decide';
import type { Decision, ListReason, Phase } from '../../../runtime/processor/decision';
import type { ChargeRow, IntentView, PaymentMethodAnswer, StripeAnswer } from '../../../runtime/processor/ports';
import { aRow } from '../../support/rows';
import { INTENT_STATUSES, REASONS } from './answers';

const tries = fc.integer({ min: 1, max: 10 });
const intent: fc.Arbitrary<IntentView> = fc.record(
  {
    id: fc.constantFrom('pi_1', 'pi_2', 'pi_3'),
    status: fc.constantFrom(...INTENT_STATUSES),
    chargeId: fc.constantFrom('ch_1', 'ch_2'),
    declineCode: fc.constant('generic_decline'),
    error: fc.constant('declined'),
  },
  { requiredKeys: ['id', 'status'] },
);
const phases: fc.Arbitrary<Phase> = fc.oneof(
  fc.record({ step: fc.constant('resolve' as const), tries }),
  fc.record({ step: fc.constant('create' as const), tries }),
  fc.record({
    step: fc.constant('list' as const),
    why: fc.constantFrom<ListReason[]>('resume', 'burnt', 'wrong_shape'),
    tries,
  }),
  fc.record({ step: fc.constant('confirm' as const), tries }),
  fc.record({ step: fc.constant('retrieve' as const), reason: fc.constantFrom(...Object.values(REASONS)), tries }),
);
const stripeAnswer: fc.Arbitrary<StripeAnswer> = fc.oneof(
  fc.record({ kind: fc.constant('intent' as const), intent, replayed: fc.boolean() }),
  fc.record({ kind: fc.constant('intents' as const), intents: fc.array(intent, { maxLength: 4 }) }),
  fc.constant<StripeAnswer>({ kind: 'wrong_shape', detail: 'x' }),
  fc.record(
    {
      kind: fc.constant('declined' as const),
      declineCode: fc.constant('lost_card'),
      message: fc.constant('no'),
      intent,
      replayed: fc.boolean(),
    },
    { requiredKeys: ['kind', 'declineCode', 'message', 'replayed'] },
  ),
  fc.record({ kind: fc.constant('unexpected_state' as const), intent }, { requiredKeys: ['kind'] }),
  fc.constant<StripeAnswer>({ kind: 'idempotency_mismatch', message: 'x' }),
  fc.record({
    kind: fc.constant('refused' as const),
    status: fc.constantFrom(400, 404),
    code: fc.constant('x'),
    message: fc.constant('no'),
  }),
  fc.record({
    kind: fc.constant('unauthorized' as const),
    status: fc.constantFrom(401, 403),
    message: fc.constant('no'),
  }),
  fc.record({ kind: fc.constant('busy' as const), why: fc.constantFrom('in_use' as const, 'rate' as const) }),
  fc.record({ kind: fc.constant('server_error' as const), replayed: fc.boolean(), message: fc.constant('x') }),
  fc.constant<StripeAnswer>({ kind: 'no_answer', message: 'x' }),
);
const methodAnswer: fc.Arbitrary<PaymentMethodAnswer> = fc.constantFrom<PaymentMethodAnswer[]>(
  { kind: 'found', paymentMethod: 'pm_9' },
  { kind: 'none', message: 'none' },
  { kind: 'refused', status: 404, code: 'resource_missing', message: 'no' },
  { kind: 'unauthorized', status: 401, message: 'no' },
  { kind: 'busy', why: 'rate' },
  { kind: 'server_error', replayed: false, message: 'x' },
  { kind: 'no_answer', message: 'x' },
  { kind: 'wrong_shape', detail: 'x' },
);

interface Cell {
  readonly row: ChargeRow;
  readonly phase: Phase;
  readonly answer: StripeAnswer | PaymentMethodAnswer;
}

/** Rows as they can stand in a phase: create, resolve and list while no intent is named, the others when one is. */
const cells: fc.Arbitrary<Cell> = phases.chain((phase) => {
  const named = phase.step === 'confirm' || phase.step === 'retrieve';
  // Only a retrieve is asked of a row that is not pending.
  const status = phase.step === 'retrieve' ? fc.constantFrom(...ROW_STATUSES) : fc.constant('pending' as const);
  return fc.record({
    row: fc
      .record({ status, attempt: fc.integer({ min: 1, max: 5 }), fence: fc.bigInt({ min: 1n, max: 9n }) })
      .map((part) => aRow({ ...part, ...(named && { paymentIntentId: 'pi_1', confirmStarted: true }) })),
    phase: fc.constant(phase),
    answer: phase.step === 'resolve' ? methodAnswer : stripeAnswer,
  });
});

type Rule = (cell: Cell, decision: Decision) => boolean;

/** The statuses of the intents that an answer shows. */
function shown(answer: Cell['answer']): readonly IntentView[] {
  switch (answer.kind) {
    case 'intent':
    case 'unexpected_state':
      return answer.intent ? [answer.intent] : [];
    case 'intents':
      return answer.intents;
    default:
      return [];
  }
}

const RULES: Readonly<Record<string, Rule>> = {
  'charged is only written of an intent that was seen succeeded': ({ answer }, { write }) =>
    write.kind !== 'settle' ||
    write.settlement.status !== 'charged' ||
    shown(answer).some((i) => i.status === 'succeeded'),

  'an intent that was seen succeeded by a confirm or a retrieve is booked': ({ phase, answer }, { write }) =>
    !(phase.step === 'confirm' || phase.step === 'retrieve') ||
    answer.kind !== 'intent' ||
    answer.intent.status !== 'succeeded' ||
    (write.kind === 'settle' && write.settlement.status === 'charged'),

  'an intent is only dropped when it was seen canceled (R6)': ({ answer }, { write }) =>
    write.kind !== 'drop_intent' || shown(answer).some((i) => i.status === 'canceled'),

  'while the row names an intent, nothing is created unless that intent is dropped first (R5, R6)': (
    { row },
    { write, next },
  ) => row.paymentIntentId === null || next.do !== 'create' || write.kind === 'drop_intent',

  'a confirm follows only while the row names an intent, or with the save of one (R2)': ({ row }, { write, next }) =>
    next.do !== 'confirm' || row.paymentIntentId !== null || write.kind === 'save_intent',

  'a confirm is only asked for a pending row': ({ row }, { next }) => next.do !== 'confirm' || row.status === 'pending',

  'no intent is saved over another one (R4)': ({ row }, { write }) =>
    write.kind !== 'save_intent' || row.paymentIntentId === null,

  'kinds that are no verdict never settle': ({ answer }, { write }) =>
    !['no_answer', 'server_error', 'busy', 'wrong_shape', 'unauthorized', 'idempotency_mismatch'].includes(
      answer.kind,
    ) || write.kind !== 'settle',

  'a pending row that names an intent is declined only by a 402 or by a read that followed an old answer (H4)': (
    { row, phase, answer },
    { write },
  ) => {
    if (write.kind !== 'settle' || write.settlement.status !== 'card_declined' || row.status !== 'pending') return true;
    if (phase.step === 'confirm') return answer.kind === 'declined' && !answer.replayed;
    return (
      phase.step === 'retrieve' &&
      (phase.reason.why === 'replayed_decline' || phase.reason.why === 'replayed_status') &&
      answer.kind === 'intent'
    );
  },

  'a confirm is never rejected without a read (R19)': ({ phase }, { write }) =>
    phase.step !== 'confirm' || write.kind !== 'settle' || write.settlement.status !== 'rejected',

  'a replayed answer other than a success or a cancel is read before it is settled (R20)': (
    { phase, answer },
    { write },
  ) => {
    if (phase.step !== 'confirm' || !('replayed' in answer) || !answer.replayed || write.kind === 'none') return true;
    return answer.kind === 'intent' && ['succeeded', 'canceled'].includes(answer.intent.status);
  },

  'a new attempt is only begun when the key is burnt or the old answer is stale': ({ phase, answer }, { write }) =>
    write.kind !== 'next_attempt' ||
    (phase.step === 'retrieve' && ['burnt', 'replayed_status'].includes(phase.reason.why)) ||
    (phase.step === 'list' && answer.kind === 'intents' && answer.intents.every((i) => i.status === 'canceled')),

  'charged and zero_amount rows are only ever said to be charged (R8)': ({ row }, { write }) =>
    !['charged', 'zero_amount'].includes(row.status) ||
    write.kind === 'none' ||
    (write.kind === 'settle' && write.settlement.status === 'charged'),

  'whoever ends the walk without a write leaves the row as it is, and only a settlement ends it otherwise': (
    { row },
    { write, next },
  ) => next.do !== 'done' || write.kind === 'settle' || !['pending', 'processing'].includes(row.status),

  'the same step is not sent for ever: the last try leads elsewhere': ({ phase }, { next, write }) =>
    phase.tries < 6 || write.kind !== 'none' || next.do !== phase.step,
};

function find(rule: Rule, table: Decide): Cell | undefined {
  const checked = fc.check(
    fc.property(cells, (cell) => rule(cell, table(cell.row, cell.phase, cell.answer))),
    { numRuns: 5_000, seed: 7 },
  );
  return checked.failed ? checked.counterexample?.[0] : undefined;
}

describe('decide, whatever is answered', () => {
  for (const [name, rule] of Object.entries(RULES)) {
    it(name, () => {
      expect(find(rule, decide)).toBeUndefined();
    });
  }

  it('never throws and always decides the same', () => {
    fc.assert(
      fc.property(cells, ({ row, phase, answer }) => {
        expect(decide(row, phase, answer)).toEqual(decide(row, phase, answer));
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('the rules above find a table that breaks them', () => {
  /** A wrong answer in one place; everywhere else the real table. */
  const wrong = (when: (cell: Cell) => boolean, decision: Decision): Decide => {
    return (row, phase, answer) => (when({ row, phase, answer }) ? decision : decide(row, phase, answer));
  };
  const silentConfirm = (cell: Cell) => cell.phase.step === 'confirm' && cell.answer.kind === 'no_answer';
  const done = { do: 'done' } as const;
  const unpaidRead = ({ phase, answer, row }: Cell) =>
    phase.step === 'retrieve' &&
    phase.reason.why === 'unknown' &&
    row.status === 'pending' &&
    answer.kind === 'intent' &&
    answer.intent.status === 'requires_payment_method';
  const broken: readonly (readonly [rule: RegExp, table: Decide])[] = [
    [
      /^charged is only/,
      wrong(silentConfirm, { write: { kind: 'settle', settlement: { status: 'charged' } }, next: done }),
    ],
    [
      /^kinds that are no verdict/,
      wrong(silentConfirm, { write: { kind: 'settle', settlement: { status: 'rejected' } }, next: done }),
    ],
    [
      /^an intent is only dropped/,
      wrong(silentConfirm, { write: { kind: 'drop_intent' }, next: { do: 'create', backoff: false } }),
    ],
    [
      /^while the row names an intent/,
      wrong(silentConfirm, { write: { kind: 'none' }, next: { do: 'create', backoff: false } }),
    ],
    [/\(H4\)$/, wrong(unpaidRead, { write: { kind: 'settle', settlement: { status: 'card_declined' } }, next: done })],
    [
      /\(R19\)$/,
      wrong((c) => c.phase.step === 'confirm' && c.answer.kind === 'refused', {
        write: { kind: 'settle', settlement: { status: 'rejected' } },
        next: done,
      }),
    ],
    [
      /\(R20\)$/,
      wrong((c) => c.phase.step === 'confirm' && c.answer.kind === 'declined' && c.answer.replayed, {
        write: { kind: 'settle', settlement: { status: 'card_declined' } },
        next: done,
      }),
    ],
    [
      /^the same step/,
      wrong((c) => c.phase.step === 'create' && c.answer.kind === 'no_answer', {
        write: { kind: 'none' },
        next: { do: 'create', backoff: true },
      }),
    ],
    [
      /\(R8\)$/,
      wrong((c) => c.row.status === 'charged', {
        write: { kind: 'settle', settlement: { status: 'card_declined' } },
        next: done,
      }),
    ],
  ];
  for (const [pattern, table] of broken) {
    const [name, rule] = Object.entries(RULES).find(([text]) => pattern.test(text))!;
    it(`found: not "${name}"`, () => {
      expect(find(rule, table)).toBeDefined();
    });
  }
});
