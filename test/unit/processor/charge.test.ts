import { describe, expect, it } from 'vitest';
import { CRASH_POINTS } from '../../../runtime/contract';
import { firstAsk } from '../../../runtime/processor/charge';
import type { ChargeRow } from '../../../runtime/processor/ports';
import { aConfirmedRow, anIntent, aRow } from '../../support/rows';
import {
  busy,
  declined,
  found,
  listed,
  none,
  ok,
  refused,
  serverError,
  silence,
  unauthorized,
  unexpected,
} from './answers';
import { runCharge, type Script } from './scripted';

const HAPPY: Script = [
  ['create', ok('requires_confirmation')],
  ['confirm', ok('succeeded')],
];

describe('the journey of a fresh row', () => {
  it('creates, saves, passes the gate, confirms and settles, and passes its crash points in journey order', async () => {
    const { outcome, trace } = await runCharge(aRow(), HAPPY);
    expect(outcome).toEqual({ kind: 'ended', status: 'charged' });
    expect(trace).toEqual([
      'create key-1',
      '[after-create]',
      'save pi_1',
      '[after-save]',
      'gate',
      '[after-gate]',
      'confirm key-1-confirm-1',
      '[after-confirm]',
      'settle charged',
      '[after-settle]',
    ]);
    const points = trace.filter((line) => line.startsWith('[')).map((line) => line.slice(1, -1));
    expect(points).toEqual(CRASH_POINTS.filter((point) => points.includes(point)));
  });

  it("looks the customer's default method up once and freezes it before it creates", async () => {
    const { outcome, trace } = await runCharge(aRow({ paymentMethod: null }), [['resolve', found], ...HAPPY]);
    expect(outcome).toEqual({ kind: 'ended', status: 'charged' });
    expect(trace.slice(0, 3)).toEqual(['resolve cus_acme', 'freeze pm_default', 'create key-1']);
  });

  it('ends a customer without a payment method as rejected, without a charge', async () => {
    const { outcome, trace } = await runCharge(aRow({ paymentMethod: null }), [['resolve', none]]);
    expect(outcome).toEqual({ kind: 'ended', status: 'rejected' });
    expect(trace).toEqual(['resolve cus_acme', 'settle rejected', '[after-settle]']);
  });
});

describe('where a claimed row begins', () => {
  const cases: readonly (readonly [string, Partial<ChargeRow>, string])[] = [
    ['the first claim of all creates', {}, 'create'],
    ['a take-over without an intent lists', { fence: 2n }, 'list'],
    ['a saved intent whose gate never ran is confirmed', { paymentIntentId: 'pi_1', fence: 2n }, 'confirm'],
    ['an intent whose gate ran is retrieved', { paymentIntentId: 'pi_1', confirmStarted: true, fence: 2n }, 'retrieve'],
    ['a processing row is retrieved', { paymentIntentId: 'pi_1', status: 'processing' }, 'retrieve'],
    ['a declined row is retrieved', { paymentIntentId: 'pi_1', status: 'card_declined' }, 'retrieve'],
  ];
  for (const [name, changes, first] of cases) {
    it(name, () => {
      expect(firstAsk(aRow(changes)).do).toBe(first);
    });
  }

  it('a take-over whose list shows nothing creates with the same key', async () => {
    const { trace } = await runCharge(aRow({ fence: 2n }), [['list', listed()], ...HAPPY]);
    expect(trace.slice(0, 2)).toEqual(['list cus_acme', 'create key-1']);
  });

  it('a take-over adopts the intent that the list shows, and reads it before it confirms', async () => {
    const { trace, outcome } = await runCharge(aRow({ fence: 2n }), [
      ['list', listed(anIntent('requires_confirmation'))],
      ['retrieve', ok('requires_confirmation')],
      ['confirm', ok('succeeded')],
    ]);
    expect(trace).not.toContain('create key-1');
    expect(outcome).toEqual({ kind: 'ended', status: 'charged' });
  });
});

describe('backoff', () => {
  it('waits longer each time, at most 8 s, and leaves the row unknown after the last try', async () => {
    const asks: Script = Array.from({ length: 6 }, () => ['create', busy('rate')] as const);
    const { outcome, pauses } = await runCharge(aRow(), asks);
    expect(outcome).toEqual({ kind: 'unknown' });
    expect(pauses).toHaveLength(6);
    expect(pauses[0]).toBe(0);
    [250, 500, 1_000, 2_000, 4_000].forEach((longest, index) => {
      expect(pauses[index + 1]).toBeGreaterThanOrEqual(longest / 2);
      expect(pauses[index + 1]).toBeLessThanOrEqual(longest);
    });
  });

  it('slows down too when confirm and retrieve take turns', async () => {
    const turns: Script = Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0 ? (['retrieve', ok('requires_confirmation')] as const) : (['confirm', silence] as const),
    );
    const { outcome, pauses } = await runCharge(aConfirmedRow({ fence: 2n }), turns);
    expect(outcome).toEqual({ kind: 'unknown' });
    expect(Math.max(...pauses)).toBeGreaterThanOrEqual(4_000);
    expect(pauses.length).toBeLessThan(25);
  });

  it('waits as long as Stripe asked for, but not for the whole of the claim', async () => {
    const asked = (retryAfterMs: number) => ({ ...busy('rate'), retryAfterMs });
    const { pauses } = await runCharge(aRow(), [['create', asked(5_000)], ['create', asked(900_000)], ...HAPPY]);
    expect(pauses.slice(1, 3)).toEqual([5_000, 30_000]);
  });

  it('starts short again after the row moved', async () => {
    const { pauses } = await runCharge(aRow(), [
      ['create', busy('rate')],
      ['create', busy('rate')],
      ['create', ok('requires_confirmation')],
      ['confirm', busy('in_use')],
      ['confirm', ok('succeeded')],
    ]);
    expect(pauses[4]).toBeLessThanOrEqual(250);
  });
});

describe('where a charge stops', () => {
  it('begins no step after the deadline, and keeps the claim until it expires', async () => {
    const { outcome, trace } = await runCharge(
      aRow(),
      [
        ['create', silence],
        ['create', silence],
      ],
      { takesMs: 30_000, limits: { deadline: 45_000 } },
    );
    expect(outcome).toEqual({ kind: 'unknown' });
    expect(trace).not.toContain('release');
  });

  it('without ownership: asks nothing, writes nothing, gives the claim back', async () => {
    const { outcome, trace } = await runCharge(aRow(), [], { limits: { mayGoOn: () => false } });
    expect(outcome).toEqual({ kind: 'stopped' });
    expect(trace).toEqual(['release']);
  });

  it('ownership lost after the create: the intent is saved, nothing is confirmed', async () => {
    let owned = true;
    const { outcome, trace } = await runCharge(aRow(), HAPPY, {
      limits: { mayGoOn: () => owned },
      onTrace: (line) => {
        if (line.startsWith('create')) owned = false;
      },
    });
    expect(outcome).toEqual({ kind: 'stopped' });
    expect(trace.slice(2)).toEqual(['save pi_1', '[after-save]', 'release']);
  });

  it('ownership lost between the gate and the confirm: nothing is confirmed', async () => {
    let owned = true;
    const { outcome, trace } = await runCharge(aRow(), HAPPY, {
      limits: { mayGoOn: () => owned },
      onTrace: (line) => {
        if (line === 'gate') owned = false;
      },
    });
    expect(outcome).toEqual({ kind: 'stopped' });
    expect(trace.at(-1)).toBe('release');
    expect(trace.some((line) => line.startsWith('confirm'))).toBe(false);
  });

  it('ownership lost while the confirm travels: its answer is still booked', async () => {
    let owned = true;
    const { outcome, trace } = await runCharge(aRow(), HAPPY, {
      limits: { mayGoOn: () => owned },
      onTrace: (line) => {
        if (line.startsWith('confirm')) owned = false;
      },
    });
    expect(outcome).toEqual({ kind: 'ended', status: 'charged' });
    expect(trace.at(-2)).toBe('settle charged');
  });

  it('a claim that cannot be given back only expires', async () => {
    const release = async () => {
      throw new Error('connection terminated');
    };
    const { outcome, log } = await runCharge(aRow(), [], { limits: { mayGoOn: () => false }, ledger: { release } });
    expect(outcome).toEqual({ kind: 'stopped' });
    expect(log.has(/could not be given back/)).toBe(true);
  });

  it('a refused key halts: the row stays pending and its claim is given back', async () => {
    const { outcome, trace } = await runCharge(aConfirmedRow(), [['retrieve', unauthorized()]]);
    expect(outcome).toEqual({ kind: 'halted', message: 'Bad key.' });
    expect(trace).toEqual(['retrieve pi_1', 'release']);
  });
});

describe('fenced writes that meet 0 rows', () => {
  it('save: the intent is forgotten and never confirmed (R2)', async () => {
    const { outcome, trace } = await runCharge(aRow(), HAPPY, { ledger: { saveIntent: async () => false } });
    expect(outcome).toEqual({ kind: 'lost' });
    expect(trace).toEqual(['create key-1', '[after-create]', 'save pi_1']);
  });

  it('freeze: nothing is created', async () => {
    const { outcome, trace } = await runCharge(aRow({ paymentMethod: null }), [['resolve', found]], {
      ledger: { freezePaymentMethod: async () => false },
    });
    expect(outcome).toEqual({ kind: 'lost' });
    expect(trace.at(-1)).toBe('freeze pm_default');
  });

  it('gate: nothing is confirmed (R12)', async () => {
    const { outcome, trace } = await runCharge(aRow(), HAPPY, { ledger: { gate: async () => false } });
    expect(outcome).toEqual({ kind: 'lost' });
    expect(trace.at(-1)).toBe('gate');
  });

  it('a negative settle: the row is left to its owner, without an alarm', async () => {
    const { outcome, metrics } = await runCharge(
      aRow(),
      [
        ['create', ok('requires_confirmation')],
        ['confirm', declined()],
      ],
      { ledger: { settle: async () => false } },
    );
    expect(outcome).toEqual({ kind: 'lost' });
    expect(metrics.counted('alarms charged_not_booked')).toBe(0);
    expect(metrics.counted('charges card_declined')).toBe(0);
  });

  it('a success that cannot be booked is an alarm', async () => {
    const { outcome, metrics } = await runCharge(aRow(), HAPPY, { ledger: { settle: async () => false } });
    expect(outcome).toEqual({ kind: 'lost' });
    expect(metrics.counted('alarms charged_not_booked')).toBe(1);
  });

  it('drop and next attempt', async () => {
    const dropped = await runCharge(aConfirmedRow({ fence: 2n }), [['retrieve', ok('canceled')]], {
      ledger: { dropIntent: async () => undefined },
    });
    expect(dropped.outcome).toEqual({ kind: 'lost' });
    const burnt: Script = [
      ['retrieve', ok('requires_confirmation')],
      ['confirm', serverError(true)],
      ['retrieve', ok('requires_confirmation')],
    ];
    const raised = await runCharge(aConfirmedRow({ fence: 2n }), burnt, {
      ledger: { nextAttempt: async () => undefined },
    });
    expect(raised.outcome).toEqual({ kind: 'lost' });
  });
});

describe('new attempts', () => {
  it('a burnt confirm key: attempt 2 on the same intent, through the gate again', async () => {
    const { trace, outcome } = await runCharge(aRow(), [
      ['create', ok('requires_confirmation')],
      ['confirm', serverError(true)],
      ['retrieve', ok('requires_confirmation')],
      ['confirm', ok('succeeded')],
    ]);
    expect(outcome).toEqual({ kind: 'ended', status: 'charged' });
    expect(trace.filter((line) => !line.startsWith('['))).toEqual([
      'create key-1',
      'save pi_1',
      'gate',
      'confirm key-1-confirm-1',
      'retrieve pi_1',
      'attempt 2',
      'gate',
      'confirm key-1-confirm-2',
      'settle charged',
    ]);
  });

  it('a burnt create key: list, then attempt 2 with another create key', async () => {
    const { trace } = await runCharge(aRow(), [['create', serverError(true)], ['list', listed()], ...HAPPY]);
    expect(trace).toContain('attempt 2 with key-2');
    expect(trace).toContain('create key-2');
  });

  it('an intent that was seen canceled: a new one, with the key of attempt 2', async () => {
    const { trace, outcome } = await runCharge(aConfirmedRow({ fence: 2n }), [
      ['retrieve', ok('requires_confirmation')],
      ['confirm', unexpected('canceled')],
      ['create', ok('requires_confirmation')],
      ['confirm', ok('succeeded')],
    ]);
    expect(outcome).toEqual({ kind: 'ended', status: 'charged' });
    expect(trace).toContain('drop pi_1 for key-2');
    expect(trace).toContain('create key-2');
    expect(trace).toContain('confirm key-2-confirm-2');
  });
});

describe('what is counted', () => {
  it('a row that only stays what it is does not count as ended again', async () => {
    const closing = await runCharge(aConfirmedRow({ status: 'card_declined', fence: 2n }), [
      ['retrieve', ok('requires_payment_method')],
    ]);
    expect(closing.outcome).toEqual({ kind: 'ended', status: 'card_declined' });
    expect(closing.metrics.counted('charges card_declined')).toBe(0);
    const { metrics } = await runCharge(aRow(), HAPPY);
    expect(metrics.counted('charges charged')).toBe(1);
  });

  it('answers that are no verdict, and alarms by name', async () => {
    const { metrics, log } = await runCharge(aRow(), [
      ['create', { kind: 'wrong_shape', detail: 'amount' }],
      ['create', serverError()],
      ['create', refused()],
    ]);
    expect(metrics.counted('unknown')).toBe(2);
    expect(metrics.counted('alarms create_wrong_shape')).toBe(1);
    expect(log.has(/must not happen/)).toBe(true);
  });
});
