import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemHost as host } from '../../runtime/host/host';
import { LedgerUnavailable } from '../../runtime/ledger';
import { GroupCommit } from '../../runtime/ledger/group-commit';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import { countingMetrics, openTestLedger, request } from './support';

/** Statements that answer when the test says so. */
function manual(maxBatch?: number) {
  const sent: { items: readonly string[]; answer: () => void; fail: (error: unknown) => void }[] = [];
  const commits = new GroupCommit<string, string>({
    host,
    identity: (item) => item.split('#')[0] ?? '',
    ...(maxBatch === undefined ? {} : { maxBatch }),
    run: (items) =>
      new Promise((resolve, reject) => {
        sent.push({ items, answer: () => resolve(items.map((item) => `${item}!`)), fail: reject });
      }),
  });
  return { sent, commits };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe('calls that arrive together share a statement', () => {
  test('each gets its own answers, in order', async () => {
    const { sent, commits } = manual();
    const answers = Promise.all([commits.submit(['a', 'b']), commits.submit([]), commits.submit(['c'])]);
    await until(() => sent.length === 1);
    expect(sent[0]?.items).toEqual(['a', 'b', 'c']);
    sent[0]?.answer();
    expect(await answers).toEqual([['a!', 'b!'], [], ['c!']]);
  });

  test('one statement is under way at a time; what arrives meanwhile goes together', async () => {
    const { sent, commits } = manual();
    const first = commits.submit(['a']);
    await until(() => sent.length === 1);
    const later = Promise.all([commits.submit(['b']), commits.submit(['c'])]);
    await host.sleep(20);
    expect(sent).toHaveLength(1);
    sent[0]?.answer();
    await first;
    await until(() => sent.length === 2);
    expect(sent[1]?.items).toEqual(['b', 'c']);
    sent[1]?.answer();
    await later;
  });

  test('two calls for one identity never share a statement, and keep their order', async () => {
    const { sent, commits } = manual();
    const all = Promise.all(['a#1', 'a#2', 'b#1', 'a#3'].map((item) => commits.submit([item])));
    const expected = [['a#1', 'b#1'], ['a#2'], ['a#3']];
    for (const [index, items] of expected.entries()) {
      await until(() => sent.length === index + 1);
      expect(sent[index]?.items).toEqual(items);
      sent[index]?.answer();
    }
    expect(await all).toEqual([['a#1!'], ['a#2!'], ['b#1!'], ['a#3!']]);
  });

  test('a statement has a largest size; a larger call goes alone', async () => {
    const { sent, commits } = manual(2);
    void commits.submit(['a', 'b', 'c']);
    void commits.submit(['d']);
    void commits.submit(['e']);
    void commits.submit(['f']);
    for (const [index, items] of [['a', 'b', 'c'], ['d', 'e'], ['f']].entries()) {
      await until(() => sent.length === index + 1);
      expect(sent[index]?.items).toEqual(items);
      sent[index]?.answer();
    }
  });

  test('one bad value fails its own call and no other', async () => {
    const { sent, commits } = manual();
    const invalid = Object.assign(new Error('invalid byte'), { code: '22021' });
    const all = Promise.allSettled([commits.submit(['good']), commits.submit(['bad'])]);
    await until(() => sent.length === 1);
    sent[0]?.fail(invalid);
    await until(() => sent.length === 2);
    sent[1]?.answer();
    await until(() => sent.length === 3);
    sent[2]?.fail(invalid);
    expect(await all).toMatchObject([{ status: 'fulfilled', value: ['good!'] }, { status: 'rejected' }]);
  });

  test('an absent database fails them all at once', async () => {
    const { sent, commits } = manual();
    const all = Promise.allSettled([commits.submit(['a']), commits.submit(['b'])]);
    await until(() => sent.length === 1);
    sent[0]?.fail(new LedgerUnavailable('claim', 1, new Error('gone')));
    expect(await all).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(sent).toHaveLength(1);
  });
});

describe('under load', () => {
  let database: LedgerDatabase;
  beforeAll(async () => {
    database = await ledgerDatabase();
  });
  afterAll(() => database.drop());

  /** Charges with a Stripe that answers after 25 to 75 ms; answers the ledger statements of each. */
  async function statementsPerCharge(lanes: number, charges: number): Promise<number> {
    const metrics = countingMetrics();
    const ledger = openTestLedger(database.url, { metrics });
    const stripe = () => host.sleep(25 + host.random() * 50);
    let next = 0;
    const lane = async () => {
      while (next < charges) {
        const name = `load-${lanes}-${next++}`;
        const [claimed] = await ledger.claim([request(name)]);
        if (claimed?.outcome !== 'mine') throw new Error(`${name} is not mine`);
        await stripe();
        const row = { ...claimed.row, paymentIntentId: `pi_${name}` };
        expect(await ledger.saveIntent(claimed.row, row.paymentIntentId)).toBe(true);
        expect(await ledger.gate(row)).toBe(true);
        await stripe();
        expect(await ledger.settle(row, { status: 'charged', chargeId: 'ch' })).toBe(true);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    await ledger.close();
    return metrics.total() / charges;
  }

  test('64 charges at a time cost at most 0.3 statements each; one at a time costs four', async () => {
    expect(await statementsPerCharge(64, 1280)).toBeLessThanOrEqual(0.3);
    expect(await statementsPerCharge(1, 5)).toBe(4);
  });
});
