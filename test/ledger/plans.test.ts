/** The table keeps every row for ever: no statement of the journey may read it from end to end. */
import { expect, test } from 'vitest';
import { ledgerDatabase } from '../support/ledger-database';
import { claimWithIntent, event, openTestLedger, request } from './support';

const FILL = `
  INSERT INTO billing_records (customer_id, billing_period, stripe_customer_id, amount_cents, currency, status,
    idempotency_key, payment_intent_id, settled_at, updated_at)
  SELECT 'old-' || n, 'p', 'cus', 1, 'usd', 'charged', 'k', 'pi_old_' || n, now(), now() - n * interval '1 minute'
  FROM generate_series(1, 30000) AS n`;

async function scans(database: Awaited<ReturnType<typeof ledgerDatabase>>): Promise<number> {
  const [row] = await database.query<{ seq_scan: string }>(
    "SELECT pg_stat_get_numscans('billing_records'::regclass) AS seq_scan",
  );
  return Number(row?.seq_scan);
}

test('every statement finds its rows by an index, also on a connection that was opened while the table was empty', async () => {
  const database = await ledgerDatabase();
  const ledger = openTestLedger(database.url, { maxConnections: 1, recheckAfterMs: 0, closingReadAfterMs: 0 });
  const journey = async (name: string) => {
    const row = await claimWithIntent(ledger, name);
    await ledger.settle(row, { status: 'card_declined' });
    const due = await ledger.claimDue(10);
    for (const one of due) await ledger.settle(one, { status: 'charged' });
    await ledger.claim(Array.from({ length: 50 }, (_, index) => request(`${name}-${index}`)));
    await ledger.look([event(name), event('absent')]);
  };
  // The connection keeps its plans from now on.
  for (let times = 0; times < 8; times += 1) await journey(`early-${times}`);
  await database.query(FILL);
  const other = openTestLedger(database.url);
  await other.ping();
  await other.close();
  await database.query('SELECT pg_stat_force_next_flush()');
  const before = await scans(database);
  for (let times = 0; times < 8; times += 1) await journey(`late-${times}`);
  // A connection reports its statistics when it ends.
  await ledger.close();
  const ended =
    'SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = $1';
  while ((await database.query(ended, ['client backend'])).length > 0)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const after = await scans(database);
  expect(after - before).toBeLessThan(8);
  // Twin: a statement that does read it all is seen.
  await database.query("SELECT count(*) FROM billing_records WHERE stripe_customer_id = 'x'");
  await database.query('SELECT pg_stat_force_next_flush()');
  expect(await scans(database)).toBeGreaterThan(after);
  await database.drop();
});
