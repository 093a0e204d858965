/** `chargeonce reconcile`: shows the rows that are not finished; with --apply, moves on those that nobody works on. */
import { readChargingConfig, readDatabaseConfig, redactSecrets } from '../config';
import { createMetrics, onSignals } from '../host';
import { ledgerConnection } from './ledger-connection';
import { openRowsTable, reconciledWords } from './open-rows-table';
import { refuseConfig } from './problems';
import { stderrLog } from './stderr-log';
import type { ExitCode, Verb, VerbContext } from './verb';

const HELP = `chargeonce reconcile: rows that are not finished, and how to finish them

Without --apply it only reads: which rows are pending, processing, waiting for the customer, or declined and to be read
once more. It needs no Stripe key then, and nothing is changed or charged.

With --apply it claims those that nobody works on and moves each one on, by asking Stripe what became of it first. That
is what the reconciler in every worker does by itself; use it when no worker runs, or to see why a row does not move.
What it may do is what a worker may: a row is never charged twice, and a claim that somebody holds is left alone.

  --apply      move them on; needs STRIPE_API_KEY, STRIPE_MODE and SPEND_CAP_MODE as a worker has them
  --limit N    rows to show, the oldest first (20)
  --json       one JSON document on stdout

Exit codes: 0 nothing is open (or all that was taken ended), 1 rows are still open, 2 could not do it.
`;

const MOST_SHOWN = 10_000;

export const reconcileVerb: Verb = {
  name: 'reconcile',
  summary: 'show rows that are not finished (plan); --apply moves them on',
  help: HELP,
  options: { apply: { type: 'boolean' }, limit: { type: 'string' }, json: { type: 'boolean' } },
  positionals: { min: 0, max: 0 },
  async run(context) {
    const { values, refuse } = context;
    const limit = Number(values.limit ?? '20');
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_SHOWN) {
      return refuse(`--limit: received ${values.limit}; allowed: rows to show, 1 to ${MOST_SHOWN}`);
    }
    try {
      return values.apply === true ? await apply(context, limit) : await plan(context, limit);
    } catch (error) {
      return refuse(`${redactSecrets(error instanceof Error ? error.message : String(error))}`);
    }
  },
};

/** Reads and shows. The rooms that could charge are not even loaded. */
async function plan({ shell, host, values }: VerbContext, limit: number): Promise<ExitCode> {
  const read = readDatabaseConfig(shell.env);
  if (!read.ok) return refuseConfig(shell, read.problems, read.warnings);
  const { openLedger } = await import('../ledger/index.js');
  const ledger = openLedger({
    connection: await ledgerConnection(read.config),
    worker: 'reconcile',
    claimTtlMs: 1,
    spendCap: { mode: 'off', defaults: {} },
    host,
    log: stderrLog(shell),
    metrics: createMetrics(),
  });
  try {
    await ledger.checkSchema();
    const open = await ledger.openRows(limit);
    shell.out(values.json === true ? `${JSON.stringify({ apply: false, ...open })}\n` : openRowsTable(open));
    return open.total === 0 ? 0 : 1;
  } finally {
    await ledger.close();
  }
}

async function apply({ shell, host, values, refuse }: VerbContext, limit: number): Promise<ExitCode> {
  const read = readChargingConfig(shell.env);
  if (!read.ok) return refuseConfig(shell, read.problems, read.warnings);
  const { reconcileOnce } = await import('../reconcile.js');
  const log = stderrLog(shell);
  // As long as the slowest row may take, so that an interrupted one is finished and booked.
  const signals = onSignals({ log, drainTimeoutMs: read.config.billing.claimTtlMs });
  try {
    const done = await reconcileOnce(read.config, {
      host,
      log,
      metrics: createMetrics(),
      worker: `reconcile-${host.uuid()}`,
      signal: signals.drain,
      limit,
      onProgress: ({ taken, ended }) => shell.err(`taken ${taken}, ended ${ended}\n`),
    });
    shell.out(values.json === true ? `${JSON.stringify({ apply: true, ...done })}\n` : reconciledWords(done));
    if (done.refused !== undefined) return refuse(`Stripe refuses the key, nothing more was tried: ${done.refused}`);
    return done.open.total === 0 ? 0 : 1;
  } finally {
    signals.dispose();
  }
}
