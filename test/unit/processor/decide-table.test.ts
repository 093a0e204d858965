/**
 * The table of the money protocol, cell by cell, written down a second time: phase × answer → what is written and
 * asked next. Every kind of answer stands in every column, which the types enforce.
 */
import { describe, expect, it } from 'vitest';
import { decide } from '../../../runtime/processor/decide';
import { MAX_SERVER_ERROR_TRIES, MAX_TRIES, type Phase } from '../../../runtime/processor/decision';
import type { ChargeRow, PaymentMethodAnswer, StripeAnswer } from '../../../runtime/processor/ports';
import { aConfirmedRow, anIntent, aRow } from '../../support/rows';
import {
  busy,
  declined,
  found,
  listed,
  mismatch,
  none,
  ok,
  phase,
  REASONS,
  refused,
  serverError,
  short,
  silence,
  unauthorized,
  unexpected,
  wrongShape,
} from './answers';

/** What was answered, in which phase (the column's first send when absent) and what follows. */
type Cell = readonly [name: string, answer: StripeAnswer | PaymentMethodAnswer, then: string, phase?: Phase];
type Column = Readonly<Record<StripeAnswer['kind'], readonly Cell[]>>;

const last = { create: phase.create(MAX_TRIES), confirm: phase.confirm(MAX_TRIES) };

const CREATE: Column = {
  intent: [
    ['200', ok('requires_confirmation'), 'save pi_1 → confirm'],
    ['200 replayed', ok('requires_confirmation', true), 'save pi_1 → confirm'],
    ['200 that needs a method', ok('requires_payment_method'), 'save pi_1 → confirm'],
  ],
  intents: [['a list', listed(anIntent('succeeded')), '→ create~ !create_wrong_shape']],
  wrong_shape: [
    ['200 of the wrong shape', wrongShape, '→ create~ !create_wrong_shape'],
    ['200 of the wrong shape again', wrongShape, '→ list wrong_shape~ !create_wrong_shape', phase.create(2)],
  ],
  declined: [
    ['402', declined(), '→ create~ !create_wrong_shape'],
    ['402 again', declined(true), '→ list wrong_shape~ !create_wrong_shape', phase.create(2)],
  ],
  unexpected_state: [['400 unexpected_state', unexpected('succeeded'), '→ create~ !create_wrong_shape']],
  idempotency_mismatch: [['400 idempotency_error', mismatch, '→ list burnt !idempotency_mismatch']],
  refused: [
    ['another 400', refused(400), 'settle rejected → done'],
    ['404', refused(404), 'settle rejected → done'],
  ],
  unauthorized: [
    ['401', unauthorized(401), '→ halt'],
    ['403', unauthorized(403), '→ halt'],
  ],
  busy: [
    ['409 in use', busy('in_use'), '→ create~'],
    ['429 rate', busy('rate'), '→ create~'],
    ['429 lock', busy('lock'), '→ create~'],
    ['429 once too often', busy('rate'), '→ unknown', last.create],
  ],
  server_error: [
    ['5xx fresh', serverError(), '→ create~'],
    ['424', serverError(false, 424), '→ create~'],
    ['5xx fresh, third time', serverError(), '→ unknown', phase.create(MAX_SERVER_ERROR_TRIES)],
    ['5xx replayed', serverError(true, 500), '→ list burnt'],
  ],
  no_answer: [
    ['no answer', silence, '→ create~'],
    ['no answer once too often', silence, '→ unknown', last.create],
  ],
};

const CONFIRM: Column = {
  intent: [
    ['200 succeeded', ok('succeeded'), 'settle charged → done'],
    ['200 succeeded replayed', ok('succeeded', true), 'settle charged → done'],
    ['200 processing', ok('processing'), 'settle processing → done'],
    ['200 processing replayed', ok('processing', true), '→ retrieve replayed_status'],
    ['200 requires_action', ok('requires_action'), 'settle action_required → done'],
    ['200 requires_action replayed', ok('requires_action', true), '→ retrieve replayed_status'],
    ['200 canceled', ok('canceled'), 'drop → create'],
    ['200 requires_payment_method', ok('requires_payment_method'), '→ retrieve unknown~'],
    ['200 requires_confirmation', ok('requires_confirmation'), '→ retrieve unknown~'],
    ['200 requires_capture', ok('requires_capture'), '→ retrieve unknown~ !requires_capture'],
  ],
  intents: [['a list', listed(anIntent('canceled')), '→ retrieve unknown~ !confirm_wrong_shape']],
  wrong_shape: [['200 of the wrong shape', wrongShape, '→ retrieve unknown~ !confirm_wrong_shape']],
  declined: [
    ['402 fresh', declined(), 'settle card_declined → done'],
    ['402 replayed', declined(true), '→ retrieve replayed_decline'],
  ],
  unexpected_state: [
    ['400 unexpected_state succeeded', unexpected('succeeded'), 'settle charged → done'],
    ['400 unexpected_state processing', unexpected('processing'), 'settle processing → done'],
    ['400 unexpected_state canceled', unexpected('canceled'), 'drop → create'],
    ['400 unexpected_state requires_action', unexpected('requires_action'), '→ retrieve unknown~'],
    ['400 unexpected_state requires_payment_method', unexpected('requires_payment_method'), '→ retrieve unknown~'],
    ['400 unexpected_state without an intent', unexpected(), '→ retrieve unknown~'],
  ],
  idempotency_mismatch: [['400 idempotency_error', mismatch, '→ retrieve burnt !idempotency_mismatch']],
  refused: [
    ['another 400', refused(400), '→ retrieve refused'],
    ['404', refused(404), '→ retrieve refused'],
  ],
  unauthorized: [
    ['401', unauthorized(401), '→ halt'],
    ['403', unauthorized(403), '→ halt'],
  ],
  busy: [
    ['409 in use', busy('in_use'), '→ confirm~'],
    ['429 rate', busy('rate'), '→ confirm~'],
    ['429 lock', busy('lock'), '→ confirm~'],
    ['429 once too often', busy('lock'), '→ retrieve unknown~', last.confirm],
  ],
  server_error: [
    ['5xx fresh', serverError(), '→ retrieve unknown~'],
    ['424', serverError(false, 424), '→ retrieve unknown~'],
    ['5xx replayed', serverError(true, 500), '→ retrieve burnt'],
  ],
  no_answer: [['no answer', silence, '→ retrieve unknown~']],
};

const retrieve = phase.retrieve(REASONS.unknown);
const RETRIEVE: Column = {
  intent: [
    ['succeeded', ok('succeeded'), 'settle charged → done'],
    ['processing', ok('processing'), 'settle processing → done'],
    ['requires_action', ok('requires_action'), 'settle action_required → done'],
    ['canceled', ok('canceled'), 'drop → create'],
    ['requires_capture', ok('requires_capture'), '→ unknown !requires_capture'],
    ['requires_confirmation on a pending row', ok('requires_confirmation'), '→ confirm~'],
    ['requires_payment_method on a pending row', ok('requires_payment_method'), '→ confirm~'],
    ...afterAReplay(),
  ],
  intents: [['a list', listed(), '→ unknown !retrieve_wrong_shape']],
  wrong_shape: [['200 of the wrong shape', wrongShape, '→ unknown !retrieve_wrong_shape']],
  declined: [['402', declined(), '→ unknown !retrieve_wrong_shape']],
  unexpected_state: [['400 unexpected_state', unexpected('canceled'), '→ unknown !retrieve_wrong_shape']],
  idempotency_mismatch: [['400 idempotency_error', mismatch, '→ unknown !retrieve_wrong_shape']],
  refused: [['404', refused(404), '→ unknown !intent_missing']],
  unauthorized: [['401', unauthorized(), '→ halt']],
  busy: [
    ['429', busy('rate'), '→ retrieve unknown~'],
    ['429 once too often', busy('rate'), '→ unknown', phase.retrieve(REASONS.unknown, MAX_TRIES)],
  ],
  server_error: [
    ['5xx', serverError(), '→ retrieve unknown~'],
    ['5xx for a refused confirm', serverError(), '→ retrieve refused~', phase.retrieve(REASONS.refused)],
  ],
  no_answer: [
    ['no answer', silence, '→ retrieve unknown~'],
    ['no answer once too often', silence, '→ unknown', phase.retrieve(REASONS.unknown, MAX_TRIES)],
  ],
};

/** What was asked because of an old, refused or burnt answer: only "unpaid" means something else. */
function afterAReplay(): Cell[] {
  const cells: Cell[] = [];
  const unpaid: Readonly<Record<string, readonly [rpm: string, rc: string]>> = {
    replayed_decline: ['settle card_declined → done', 'settle card_declined → done'],
    replayed_status: ['settle card_declined → done', 'attempt+1 → confirm'],
    refused: ['settle rejected → done', 'settle rejected → done'],
    burnt: ['attempt+1 → confirm', 'attempt+1 → confirm'],
  };
  for (const why of ['replayed_decline', 'replayed_status', 'refused', 'burnt'] as const) {
    const asked = phase.retrieve(REASONS[why]);
    const [rpm, rc] = unpaid[why]!;
    cells.push(
      [`succeeded after ${why}`, ok('succeeded'), 'settle charged → done', asked],
      [`processing after ${why}`, ok('processing'), 'settle processing → done', asked],
      [`requires_action after ${why}`, ok('requires_action'), 'settle action_required → done', asked],
      [`canceled after ${why}`, ok('canceled'), 'drop → create', asked],
      [`requires_payment_method after ${why}`, ok('requires_payment_method'), rpm, asked],
      [`requires_confirmation after ${why}`, ok('requires_confirmation'), rc, asked],
    );
  }
  return cells;
}

const resume = phase.list('resume');
const burnt = phase.list('burnt');
const LIST: Column = {
  intents: [
    ['none, taken over', listed(), '→ create'],
    ['none, key burnt', listed(), 'attempt+1 → create', burnt],
    ['none, wrong shape', listed(), '→ unknown', phase.list('wrong_shape')],
    ['one', listed(anIntent('requires_confirmation')), 'save pi_1 → retrieve unknown'],
    [
      'two: the oldest',
      listed(anIntent('requires_confirmation', { id: 'pi_old' }), anIntent('requires_action', { id: 'pi_new' })),
      'save pi_old → retrieve unknown',
    ],
    [
      'two, the younger succeeded',
      listed(anIntent('requires_confirmation', { id: 'pi_old' }), anIntent('succeeded', { id: 'pi_paid' })),
      'save pi_paid → retrieve unknown !confirmed_before_saved',
    ],
    [
      'two, the younger processing',
      listed(anIntent('requires_confirmation', { id: 'pi_old' }), anIntent('processing', { id: 'pi_moving' })),
      'save pi_moving → retrieve unknown !confirmed_before_saved',
    ],
    [
      'two, one processing, one succeeded',
      listed(anIntent('processing', { id: 'pi_moving' }), anIntent('succeeded', { id: 'pi_paid' })),
      'save pi_paid → retrieve unknown !confirmed_before_saved',
    ],
    [
      'two, the older canceled',
      listed(anIntent('canceled', { id: 'pi_old' }), anIntent('requires_confirmation', { id: 'pi_new' })),
      'save pi_new → retrieve unknown',
    ],
    ['all canceled', listed(anIntent('canceled')), 'attempt+1 → create'],
    ['all canceled, wrong shape', listed(anIntent('canceled')), 'attempt+1 → create', phase.list('wrong_shape')],
  ],
  intent: [['one intent', ok('succeeded'), '→ unknown !retrieve_wrong_shape']],
  wrong_shape: [['200 of the wrong shape', wrongShape, '→ unknown !retrieve_wrong_shape']],
  declined: [['402', declined(), '→ unknown !retrieve_wrong_shape']],
  unexpected_state: [['400 unexpected_state', unexpected('canceled'), '→ unknown !retrieve_wrong_shape']],
  idempotency_mismatch: [['400 idempotency_error', mismatch, '→ unknown !retrieve_wrong_shape']],
  refused: [['404', refused(404), '→ create~']],
  unauthorized: [['403', unauthorized(403), '→ halt']],
  busy: [
    ['429', busy('rate'), '→ list resume~'],
    ['429 once too often', busy('rate'), '→ unknown', phase.list('resume', MAX_TRIES)],
  ],
  server_error: [['5xx', serverError(), '→ list burnt~', burnt]],
  no_answer: [['no answer', silence, '→ list resume~']],
};

const RESOLVE: Readonly<Record<PaymentMethodAnswer['kind'], readonly Cell[]>> = {
  found: [['a default method', found, 'freeze pm_default → create']],
  none: [['no default method', none, 'settle rejected → done']],
  refused: [['404', refused(404), 'settle rejected → done']],
  unauthorized: [['401', unauthorized(), '→ halt']],
  busy: [
    ['429', busy('rate'), '→ resolve~'],
    ['429 once too often', busy('rate'), '→ unknown', phase.resolve(MAX_TRIES)],
  ],
  server_error: [['5xx', serverError(), '→ resolve~']],
  no_answer: [['no answer', silence, '→ resolve~']],
  wrong_shape: [['200 of the wrong shape', wrongShape as PaymentMethodAnswer, '→ resolve~']],
};

function column(title: string, row: ChargeRow, first: Phase, cells: Readonly<Record<string, readonly Cell[]>>): void {
  describe(title, () => {
    for (const [name, answer, then, asked] of Object.values(cells).flat()) {
      it(`${title} × ${name}: ${then}`, () => {
        expect(short(decide(row, asked ?? first, answer))).toBe(then);
      });
    }
  });
}

column('resolve', aRow({ paymentMethod: null }), phase.resolve(), RESOLVE);
column('create', aRow(), phase.create(), CREATE);
column('confirm', aConfirmedRow(), phase.confirm(), CONFIRM);
column('retrieve', aConfirmedRow(), retrieve, RETRIEVE);
column('list', aRow(), resume, LIST);

describe('retrieve, when the row is not pending', () => {
  const cells: readonly (readonly [ChargeRow['status'], StripeAnswer, string])[] = [
    ['processing', ok('succeeded'), 'settle charged → done'],
    ['processing', ok('processing'), 'settle processing → done'],
    ['processing', ok('requires_payment_method'), 'settle card_declined → done'],
    ['processing', ok('requires_confirmation'), 'settle processing → done'],
    ['processing', ok('canceled'), 'drop → create'],
    ['action_required', ok('succeeded'), 'settle charged → done'],
    ['action_required', ok('requires_action'), 'settle action_required → done'],
    ['action_required', ok('requires_payment_method'), 'settle card_declined → done'],
    ['action_required', ok('requires_confirmation'), 'settle action_required → done'],
    ['card_declined', ok('succeeded'), 'settle charged → done'],
    ['card_declined', ok('requires_payment_method'), 'settle card_declined closed → done'],
    ['card_declined', ok('requires_confirmation'), 'settle card_declined closed → done'],
    ['card_declined', ok('canceled'), 'settle card_declined closed → done'],
    ['card_declined', ok('processing'), 'settle processing → done'],
    ['card_declined', silence, '→ retrieve unknown~'],
    ['rejected', ok('succeeded'), 'settle charged → done'],
    ['rejected', ok('requires_confirmation'), 'settle rejected closed → done'],
    ['cap_blocked', ok('succeeded'), 'settle charged → done'],
    ['abandoned', ok('succeeded'), 'settle charged → done'],
    ...(['charged', 'zero_amount', 'cap_blocked', 'abandoned'] as const).flatMap((status) =>
      (['canceled', 'processing', 'requires_confirmation', 'requires_payment_method'] as const).map(
        (now) => [status, ok(now), '→ done'] as const,
      ),
    ),
  ];
  for (const [status, answer, then] of cells) {
    const said = answer.kind === 'intent' ? answer.intent.status : answer.kind;
    it(`retrieve × ${said} on a ${status} row: ${then}`, () => {
      expect(short(decide(aConfirmedRow({ status }), retrieve, answer))).toBe(then);
    });
  }
});

describe('what a settlement keeps', () => {
  it('the charge of a success', () => {
    expect(decide(aConfirmedRow(), phase.confirm(), ok('succeeded')).write).toEqual({
      kind: 'settle',
      settlement: { status: 'charged', chargeId: 'ch_1' },
    });
  });

  it('the code and the words of a decline, fresh or replayed', () => {
    const settlement = { status: 'card_declined', declineCode: 'insufficient_funds' };
    expect(decide(aConfirmedRow(), phase.confirm(), declined()).write).toMatchObject({ settlement });
    const replayed = decide(aConfirmedRow(), phase.confirm(), declined(true)).next;
    if (replayed.do !== 'retrieve') throw new Error(`expected a retrieve, got ${replayed.do}`);
    const then = decide(aConfirmedRow(), phase.retrieve(replayed.reason), ok('requires_payment_method'));
    expect(then.write).toMatchObject({ settlement });
  });

  it("a halt says what Stripe's answer was", () => {
    expect(decide(aRow(), phase.create(), unauthorized()).next).toEqual({ do: 'halt', message: 'Bad key.' });
  });

  it('a payment method cannot answer anything but a resolve', () => {
    expect(() => decide(aRow(), phase.create(), found)).toThrow(/create cannot be answered with a payment method/);
  });
});
