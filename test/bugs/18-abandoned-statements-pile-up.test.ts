/**
 * Somebody holds a row's lock for long (an open transaction of an operator). The worker gives a statement up after a
 * while and repeats it on a new connection, but the server goes on waiting with the old one: without a limit of its own
 * the abandoned ones pile up until the server takes no more connections.
 */
import { Client } from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimOne, claimWithIntent, openTestLedger, request } from '../ledger/support';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';

let database: LedgerDatabase;
let operator: Client;
beforeEach(async () => {
  database = await ledgerDatabase();
  operator = new Client({ connectionString: database.url });
  await operator.connect();
});
afterEach(async () => {
  await operator.end();
  await database.drop();
});

const waiting = async (): Promise<number> => {
  const [row] = await database.query<{ count: string }>(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return Number(row?.count);
};

it('a write and a claim give up on the server before the worker gives them up', { timeout: 30_000 }, async () => {
  const ledger = openTestLedger(database.url, { retryForMs: 1 });
  const row = await claimWithIntent(ledger, 'a');
  await claimOne(ledger, 'b');
  await database.query("UPDATE billing_records SET claim_expires_at = now() - interval '1 ms' WHERE customer_id = 'b'");
  await operator.query('BEGIN');
  await operator.query('SELECT FROM billing_records FOR UPDATE');

  const answers = await Promise.allSettled([ledger.settle(row, { status: 'charged' }), ledger.claim([request('b')])]);

  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(/lock timeout/) } });
  }
  expect(await waiting()).toBe(0);

  await operator.query('ROLLBACK');
  expect(await ledger.settle(row, { status: 'charged' })).toBe(true);
  await ledger.close();
});
