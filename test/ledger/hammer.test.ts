/** Four clients with overlapping batches, short claims, and workers that outlive theirs or go away. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemHost as host } from '../../runtime/host/host';
import type { Ledger } from '../../runtime/ledger';
import type { ChargeRow, Log } from '../../runtime/processor/ports';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import { silentLog } from '../support/quiet';
import { mutate } from './mutate';
import { openTestLedger, request } from './support';

const CLIENTS = 4;
const IDENTITIES = 240;
const BATCH = 60;
const ROUNDS = 25;

let database: LedgerDatabase;
let ledgers: Ledger[];
let deadlocks: number;

/** Counts the deadlocks that the ledger was told of; it repeats those statements. */
const deadlockLog: Log = {
  ...silentLog,
  warn(fields) {
    if (JSON.stringify(fields).includes('deadlock detected')) deadlocks += 1;
  },
};

beforeEach(async () => {
  database = await ledgerDatabase();
  deadlocks = 0;
  ledgers = Array.from({ length: CLIENTS }, (_, index) =>
    openTestLedger(database.url, {
      worker: `w${index}`,
      claimTtlMs: 40,
      log: deadlockLog,
      spendCap: { mode: 'ledger', defaults: { usd: 1_000_000 } },
    }),
  );
  for (const period of [0, 1, 2]) {
    await database.query("INSERT INTO spend_caps VALUES ($1, 'usd', $2)", [`p${period}`, (IDENTITIES / 3) * 120 * 0.7]);
  }
});
afterEach(async () => {
  await Promise.all(ledgers.map((ledger) => ledger.close()));
  await database.drop();
});

/** A small generator of its own, so that a failure can be repeated. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

class Books {
  readonly mine = new Set<string>();
  readonly charged = new Set<string>();
  readonly outcomes = new Map<string, number>();
  takeOvers = 0;
  readonly problems: string[] = [];

  claimed(row: ChargeRow): void {
    const key = JSON.stringify([row.customerId, row.billingPeriod, String(row.fence)]);
    if (this.mine.has(key)) this.problems.push(`mine twice at one fence: ${key}`);
    this.mine.add(key);
    if (row.fence > 1n) this.takeOvers += 1;
  }
}

async function worker(ledger: Ledger, pick: (below: number) => number, books: Books, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const requests = Array.from({ length: BATCH }, () => {
      const number = pick(IDENTITIES);
      const amountCents = pick(20) === 0 ? 777 : 100 + (number % 7) * 10;
      return request(`c${number}`, { billingPeriod: `p${number % 3}`, amountCents });
    });
    const answers = await ledger.claim(requests);
    if (answers.length !== BATCH) books.problems.push(`${answers.length} answers for ${BATCH} requests`);
    const rows: ChargeRow[] = [];
    for (const answer of answers) {
      books.outcomes.set(answer.outcome, (books.outcomes.get(answer.outcome) ?? 0) + 1);
      if (answer.outcome !== 'mine') continue;
      books.claimed(answer.row);
      rows.push(answer.row);
    }
    for (const row of await ledger.claimDue(5)) {
      books.claimed(row);
      rows.push(row);
    }
    if (pick(4) === 0) await host.sleep(60);
    await Promise.all(rows.filter(() => pick(4) !== 0).map((row) => finish(ledger, row, pick, books)));
  }
}

async function finish(ledger: Ledger, row: ChargeRow, pick: (below: number) => number, books: Books): Promise<void> {
  if (row.paymentIntentId === null && pick(6) === 0) {
    await ledger.settle(row, { status: 'rejected' });
    return;
  }
  const id = row.paymentIntentId ?? `pi_${row.customerId}_${row.billingPeriod}`;
  const withIntent = { ...row, paymentIntentId: id };
  if (!(await ledger.saveIntent(row, id)) || !(await ledger.gate(withIntent))) return;
  if (pick(3) === 0) await host.sleep(50);
  const status = pick(5) === 0 ? 'card_declined' : 'charged';
  if ((await ledger.settle(withIntent, { status })) && status === 'charged') books.charged.add(id);
}

const MISMATCHES = `
  SELECT s.* FROM spend_caps s LEFT JOIN billing_records b USING (billing_period, currency)
  GROUP BY s.billing_period, s.currency
  HAVING s.reserved_cents <> coalesce(sum(b.amount_cents) FILTER (WHERE b.reserved), 0)
    OR s.spent_cents <> coalesce(sum(b.amount_cents) FILTER (WHERE b.status = 'charged'), 0)
    OR s.reserved_cents + s.spent_cents > s.limit_cents`;

async function hammer(rounds: number): Promise<Books> {
  const books = new Books();
  let running = true;
  const monitor = (async () => {
    while (running) {
      for (const cap of await database.query(MISMATCHES))
        books.problems.push(`cap and rows differ: ${JSON.stringify(cap)}`);
      await host.sleep(5);
    }
  })();
  try {
    await Promise.all(ledgers.map((ledger, index) => worker(ledger, random(index + 1), books, rounds)));
  } finally {
    running = false;
    await monitor;
  }
  return books;
}

test('no deadlock, nothing mine twice at one fence, every request answered, caps and rows agree at every read', async () => {
  const books = await hammer(ROUNDS);
  expect(books.problems).toEqual([]);
  expect([...books.outcomes.values()].reduce((sum, count) => sum + count, 0)).toBe(CLIENTS * ROUNDS * BATCH);
  for (const outcome of ['mine', 'duplicate', 'settled', 'in_flight', 'conflict', 'cap_blocked']) {
    expect(books.outcomes.get(outcome), outcome).toBeGreaterThan(0);
  }
  expect(books.takeOvers).toBeGreaterThan(0);
  expect(books.charged.size).toBeGreaterThan(0);
  expect(deadlocks).toBe(0);
});

/** Two clients claim the same two identities in opposite order, and are slow between the two. */
async function claimCrosswise(): Promise<void> {
  await database.query(
    `CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.2); RETURN NEW; END'`,
  );
  await database.query('CREATE TRIGGER dawdle BEFORE INSERT ON billing_records FOR EACH ROW EXECUTE FUNCTION dawdle()');
  const [first, second] = [request('a'), request('b')];
  const answers = await Promise.all([ledgers[0]?.claim([first, second]), ledgers[1]?.claim([second, first])]);
  expect(answers.flat()).toHaveLength(4);
}

test('two clients that claim in opposite order do not deadlock', async () => {
  await claimCrosswise();
  expect(deadlocks).toBe(0);
});

test('twin: when the insert is not sorted, they do', async () => {
  await mutate(
    database,
    'claim_batch',
    'SELECT DISTINCT ON (i.customer_id COLLATE "C", i.billing_period COLLATE "C") i.*',
    'SELECT i.*',
  );
  await mutate(
    database,
    'claim_batch',
    'ORDER BY i.customer_id COLLATE "C", i.billing_period COLLATE "C", i.ord\n  )',
    'ORDER BY i.ord)',
  );
  await claimCrosswise();
  expect(deadlocks).toBeGreaterThan(0);
});
