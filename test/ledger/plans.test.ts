/** The table keeps every row for ever: no statement of the journey may read it from end to end. */
import { expect, test } from 'vitest';
import { QUERIES } from '../../runtime/ledger/generated/sql';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import { claimWithIntent, event, openTestLedger, request } from './support';

const FILL = `
  INSERT INTO billing_records (customer_id, billing_period, stripe_customer_id, amount_cents, currency, status,
    idempotency_key, payment_intent_id, settled_at, updated_at)
  SELECT 'old-' || n, 'p', 'cus', 1, 'usd', 'charged', 'k', 'pi_old_' || n, now(), now() - n * interval '1 minute'
  FROM generate_series(1, 30000) AS n`;

const OTHERS = `
  SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;

/** Runs the journey on one connection before and after the table grows; answers how often the table was read whole. */
async function fullReads(before: (database: LedgerDatabase) => Promise<unknown>): Promise<number> {
  const database = await ledgerDatabase();
  const ledger = openTestLedger(database.url, { maxConnections: 1, recheckAfterMs: 0, closingReadAfterMs: 0 });
  const journey = async (name: string) => {
    const row = await claimWithIntent(ledger, name);
    await ledger.settle(row, { status: 'card_declined' });
    for (const due of await ledger.claimDue(10)) await ledger.settle(due, { status: 'charged' });
    await ledger.claim(Array.from({ length: 50 }, (_, index) => request(`${name}-${index}`)));
    await ledger.look([event(name), event('absent')]);
  };
  try {
    await before(database);
    for (let times = 0; times < 8; times += 1) await journey(`early-${times}`);
    await database.query(FILL);
    for (let times = 0; times < 8; times += 1) await journey(`late-${times}`);
    // A connection reports what it did when it ends.
    await ledger.close();
    while ((await database.query(OTHERS)).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const [row] = await database.query<{ scans: string }>(
      "SELECT pg_stat_get_numscans('billing_records'::regclass) AS scans",
    );
    return Number(row?.scans);
  } finally {
    await ledger.close();
    await database.drop();
  }
}

test('every statement finds its rows by an index, also with plans made while the table was empty', async () => {
  expect(await fullReads(async () => undefined)).toBe(0);
});

test('twin: when the planner may choose, the table is read whole', async () => {
  const free = ['claim_batch', 'write_batch', 'claim_due'];
  const reads = await fullReads(async (database) => {
    for (const name of free) await database.query(`ALTER FUNCTION ${name} RESET ALL`);
  });
  expect(reads).toBeGreaterThan(0);
});

test('what people ask for now and then reads the partial indexes, once the server knows the table', async () => {
  const database = await ledgerDatabase();
  try {
    await database.query(FILL);
    await database.query('VACUUM ANALYZE billing_records');
    for (const [sql, values] of [
      [QUERIES.listOpen, [20]],
      [QUERIES.counts, [300_000]],
    ] as const) {
      const plan = JSON.stringify(await database.query(`EXPLAIN (FORMAT JSON) ${sql}`, [...values]));
      expect(plan).toContain('billing_records_claims');
      expect(plan).not.toContain('Seq Scan');
    }
  } finally {
    await database.drop();
  }
});
