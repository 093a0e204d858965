/**
 * The simulator's ledger against the real one on PostgreSQL, so that the model cannot drift from the SQL.
 * `SIM_SEQUENCES=n` runs more of them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestLedger } from '../ledger/support';
import { type LedgerDatabase, ledgerDatabase } from '../support/ledger-database';
import type { ModelOptions, Rule } from './model-ledger';
import { SideBySide } from './same-as-sql';

let database: LedgerDatabase;
beforeAll(async () => {
  database = await ledgerDatabase();
});
afterAll(() => database.drop());

const SEQUENCES = Number(process.env.SIM_SEQUENCES ?? 6);
const CAPS = [undefined, { usd: 1_000_000 }, { usd: 2_500, eur: 0 }];

/** The first difference within the sequence; undefined when there is none. */
async function firstDifference(seed: number, steps: number, off: readonly Rule[] = []): Promise<string | undefined> {
  await database.query('TRUNCATE billing_records, billing_conflicts, spend_caps');
  const capDefaults = CAPS[seed % CAPS.length];
  const options: ModelOptions = {
    claimTtlMs: 60_000,
    capDefaults,
    overdueAfterMs: 30_000,
    recheckAfterMs: 60_000,
    closingReadAfterMs: 900_000,
    off: new Set(off),
  };
  const spendCap = { mode: capDefaults ? ('ledger' as const) : ('off' as const), defaults: capDefaults ?? {} };
  const real = openTestLedger(database.url, { spendCap, overdueAfterMs: options.overdueAfterMs });
  const both = new SideBySide(seed, real, database, options);
  try {
    for (let step = 0; step < steps; step++) {
      const differs = await both.step();
      if (differs) return `SEED=${seed} step ${step}: ${differs}\nafter\n${both.calls.slice(-5).join('\n')}`;
    }
    return undefined;
  } finally {
    await real.close();
  }
}

describe('the model of the ledger', () => {
  it('answers and keeps rows as the SQL does', { timeout: 60_000 + SEQUENCES * 5_000 }, async () => {
    for (let seed = 1; seed <= SEQUENCES; seed++) expect(await firstDifference(seed, 120)).toBeUndefined();
  });

  it.each<Rule>([
    'save-fenced',
    'save-once',
    'gate',
    'absorbing',
    'hold-kept',
    'hold-once',
    'take-over-raises-fence',
    'settle-fenced',
    'due-without-intent',
  ])('differs from it without %s', async (rule) => {
    for (let seed = 1; seed <= 12; seed++) if (await firstDifference(seed, 120, [rule])) return;
    expect.unreachable();
  });
});
