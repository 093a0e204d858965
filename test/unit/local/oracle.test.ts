/** The judge must be able to condemn: each kind of harm is planted and found. */
import { describe, expect, it } from 'vitest';
import { createDecoder } from '../../../runtime/decode';
import { judge, type LedgerView, type Movement } from '../../../stacks/local/oracle';

const decode = createDecoder({ defaultCurrency: 'usd' });
const line = (customer: string, amount = 500) =>
  Buffer.from(
    JSON.stringify({
      customer_id: customer,
      billing_period: '2026-10',
      stripe_customer_id: 'cus_a',
      amount_cents: amount,
    }),
  );
const record = (customerId: string, status = 'charged') => ({
  customerId,
  billingPeriod: '2026-10',
  amountCents: 500,
  currency: 'usd',
  status,
  paymentIntentId: `pi_${customerId}`,
  chargeId: `ch_${customerId}`,
});
const movement = (customer: string, intent = `pi_${customer}`): Movement => ({
  paymentIntentId: intent,
  chargeId: `ch_${customer}`,
  amount: 500,
  currency: 'usd',
});
const ledger = (view: Partial<LedgerView>): LedgerView => ({ records: [], deadLetters: [], conflicts: [], ...view });

describe('judge', () => {
  it('acquits a run in which everything is accounted for', () => {
    const published = [line('a'), line('a'), line('a', 600), Buffer.from('broken')];
    const view = ledger({
      records: [record('a')],
      deadLetters: [{ body: Buffer.from('broken') }],
      conflicts: [{ customerId: 'a', billingPeriod: '2026-10', amountCents: 600, currency: 'usd' }],
    });
    const { counts, problems } = judge(published, view, [movement('a')], decode);
    expect(problems).toEqual([]);
    expect(counts).toMatchObject({ published: 4, valid: 3, distinct: 1, charged: 1, doubleCharged: 0, lost: 0 });
  });

  it.each([
    [
      'a second intent of one identity',
      ledger({ records: [record('a')] }),
      [movement('a'), movement('a', 'pi_other')],
      'doubleCharged',
    ],
    ['an event without a row', ledger({ records: [] }), [], 'lost'],
    ['another amount that was not recorded', ledger({ records: [{ ...record('a'), amountCents: 400 }] }), [], 'lost'],
  ] as const)('condemns %s', (_, view, books, count) => {
    const { counts, problems } = judge([line('a')], view, books, decode);
    expect(counts[count]).toBe(1);
    expect(problems).not.toEqual([]);
  });

  it.each([
    ['a pending row', ledger({ records: [record('a', 'pending')] }), []],
    [
      'money that moved for a row that says declined',
      ledger({ records: [record('a', 'card_declined')] }),
      [movement('a')],
    ],
    ['a row that says charged while no money moved', ledger({ records: [record('a')] }), []],
    ['a charge of another amount', ledger({ records: [record('a')] }), [{ ...movement('a'), amount: 501 }]],
  ] as const)('condemns %s', (_, view, books) => {
    expect(judge([line('a')], view, books, decode).problems).not.toEqual([]);
  });

  it('condemns one dead letter for two malformed lines of the same bytes', () => {
    const broken = Buffer.from('broken');
    const view = ledger({ deadLetters: [{ body: broken }] });
    expect(judge([broken, broken], view, [], decode).problems).not.toEqual([]);
  });

  it('condemns a malformed line that no dead letter holds', () => {
    expect(judge([Buffer.from('broken')], ledger({}), [], decode).counts.lost).toBe(1);
  });
});
