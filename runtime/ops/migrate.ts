/** `chargeonce migrate`: brings the ledger's database to this release's schema. */
import { readDatabaseConfig, redactSecrets } from '../config';
import type { MigrateResult } from '../ledger';
import { ledgerConnection } from './ledger-connection';
import { refuseConfig } from './problems';
import type { ExitCode, Verb } from './verb';

const HELP = `chargeonce migrate: bring the ledger's database to this release's schema

Without --apply it only says what is missing. With --apply everything missing is applied in one transaction,
under a lock, so that any number of tasks may start with it; nothing missing is fine and quick.
The database is found by DATABASE_URL or PGHOST, PGPORT, PGUSER, PGDATABASE and PGPASSWORD (or PGPASSWORD_FILE),
as a role that may create tables.

  --apply    apply what is missing
  --json     the result as one JSON document on stdout

Exit codes: 0 up to date or applied, 1 something is missing and --apply was not given, 2 could not do it.
`;

export const migrateVerb: Verb = {
  name: 'migrate',
  summary: "bring the ledger's database to this release's schema (plan; --apply acts)",
  help: HELP,
  options: { apply: { type: 'boolean' }, json: { type: 'boolean' } },
  positionals: { min: 0, max: 0 },
  async run({ shell, values, refuse }) {
    const read = readDatabaseConfig(shell.env);
    if (!read.ok) return refuseConfig(shell, read.problems, read.warnings);
    // Loaded only here, so that the other verbs start without the database driver.
    const { migrate } = await import('../ledger/index.js');
    const apply = values.apply === true;
    const { host, port, database, user } = read.config;
    try {
      const result = await migrate({ connection: await ledgerConnection(read.config), plan: !apply });
      shell.out(values.json === true ? `${JSON.stringify({ ...result, apply })}\n` : words(result, apply));
      return exitCode(result, apply);
    } catch (error) {
      return refuse(`${reason(error)} (database ${database} on ${host}:${port} as ${user})`);
    }
  },
};

function exitCode({ applied }: MigrateResult, apply: boolean): ExitCode {
  return apply || applied.length === 0 ? 0 : 1;
}

function words({ applied, version }: MigrateResult, apply: boolean): string {
  if (applied.length === 0) return `The ledger has schema version ${version}: nothing to do.\n`;
  const list = applied.map((name) => `  ${name}\n`).join('');
  return apply
    ? `Applied ${applied.length} migrations, the ledger has schema version ${version} now:\n${list}`
    : `${applied.length} migrations are missing; with --apply the ledger gets schema version ${version}:\n${list}`;
}

/** An AggregateError of a refused connection has no message of its own. */
function reason(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reason).join('; ');
  if (!(error instanceof Error)) return redactSecrets(String(error));
  const cause = error.cause === undefined ? '' : `: ${reason(error.cause)}`;
  return redactSecrets(`${error.message}${cause}`);
}
