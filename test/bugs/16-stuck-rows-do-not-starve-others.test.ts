/**
 * Rows whose look comes to nothing (their intent cannot be read) are due again whenever their claim has ended. As many
 * of them as the reconciler takes at once must not keep it from the rows behind them.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimOne, claimWithIntent, openTestLedger } from '../ledger/support';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';

let database: LedgerDatabase;
beforeAll(async () => {
  database = await ledgerDatabase();
});
afterAll(() => database.drop());

it('takes turns between rows that never move on and rows that wait for a claim', async () => {
  const ledger = openTestLedger(database.url);
  for (const id of ['stuck-1', 'stuck-2']) {
    await ledger.settle(await claimWithIntent(ledger, id), { status: 'processing' });
  }
  await database.query(
    "UPDATE billing_records SET updated_at = now() - interval '1 hour', first_attempted_at = now() - interval '1 hour'",
  );
  await claimOne(ledger, 'parked');
  const expire = () =>
    database.query(
      "UPDATE billing_records SET claim_expires_at = now() - interval '1 ms' WHERE claim_expires_at IS NOT NULL",
    );

  const taken: string[] = [];
  for (let round = 0; round < 3; round++) {
    await expire();
    taken.push(...(await ledger.claimDue(2)).map((row) => row.customerId));
  }

  await ledger.close();
  expect(taken).toContain('parked');
});
