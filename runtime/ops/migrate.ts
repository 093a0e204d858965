/** `chargeonce migrate`: brings the ledger's database to this release's schema. */
import { type DatabaseConfig, readDatabaseConfig, redactSecrets } from '../config';
import type { MigrateResult } from '../ledger';
import { faultKind } from '../ledger/faults';
import type { WorkerRole } from '../ledger/worker-role';
import { ledgerConnection } from './ledger-connection';
import { refuseConfig } from './problems';
import type { ExitCode, Verb, VerbContext } from './verb';

const HELP = `chargeonce migrate: bring the ledger's database to this release's schema

Without --apply it only says what is missing. With --apply everything missing is applied in one transaction,
under a lock, so that any number of tasks may start with it; nothing missing is fine and quick.
The database is found by DATABASE_URL or PGHOST, PGPORT, PGUSER, PGDATABASE and PGPASSWORD (or PGPASSWORD_FILE, or
DATABASE_SECRET_ARN), as a role that may create tables, and roles when --worker-role is given.

  --apply              apply what is missing
  --worker-role NAME   also make the role that workers log in with, and give it what the runtime uses: it reads and
                       writes rows, it cannot delete, truncate, create or alter anything, nor change who is billed or
                       how much. What it holds beyond that on the ledger's tables is taken from it.
  --worker-auth rds-iam | entra
                       that role logs in with tokens of Amazon RDS, or of Microsoft Entra on Azure Database for
                       PostgreSQL (then migrate as a Microsoft Entra administrator of the server). Without it, give
                       the role a password yourself.
  --worker-principal OBJECT_ID
                       with entra: the object id (principal id) of the worker's identity
  --json               the result as one JSON document on stdout

Exit codes: 0 up to date or applied, 1 something is missing and --apply was not given, 2 could not do it.
`;

export const migrateVerb: Verb = {
  name: 'migrate',
  summary: "bring the ledger's database to this release's schema (plan; --apply acts)",
  help: HELP,
  options: {
    apply: { type: 'boolean' },
    json: { type: 'boolean' },
    'worker-role': { type: 'string' },
    'worker-auth': { type: 'string' },
    'worker-principal': { type: 'string' },
  },
  positionals: { min: 0, max: 0 },
  async run({ shell, values, refuse }) {
    const read = readDatabaseConfig(shell.env);
    if (!read.ok) return refuseConfig(shell, read.problems, read.warnings);
    const role = readRole(values);
    if (typeof role === 'string') return refuse(role);
    // Loaded only here, so that the other verbs start without the database driver.
    const { migrate } = await import('../ledger/index.js');
    const apply = values.apply === true;
    let where = '';
    let loginHelp = '';
    try {
      const connection = await ledgerConnection(read.config);
      const { host, port, database, user } = connection;
      where = ` (database ${database} on ${host}:${port} as ${user})`;
      loginHelp = migratorHelp(read.config.login, user);
      const result = await migrate({ connection, plan: !apply, ...(role && { workerRole: role }) });
      shell.out(values.json === true ? `${JSON.stringify({ ...result, apply })}\n` : words(result, apply));
      return exitCode(result, apply);
    } catch (error) {
      return refuse(`${reason(error)}${where}${faultKind(error) === 'login' ? loginHelp : ''}`);
    }
  },
};

/** The role that was asked for, if one was; or what is wrong with how it was asked for. */
function readRole(values: VerbContext['values']): WorkerRole | undefined | string {
  const [name, auth, principal] = ['worker-role', 'worker-auth', 'worker-principal'].map((flag) => values[flag]);
  if (auth !== undefined && auth !== 'rds-iam' && auth !== 'entra') {
    return `--worker-auth: received ${auth}; allowed: rds-iam | entra. Leave it out for a role with a password of its own.`;
  }
  if (auth === 'entra' && principal === undefined) {
    return "--worker-auth entra needs --worker-principal OBJECT_ID: the object id (principal id) of the worker's identity.";
  }
  if (auth !== 'entra' && principal !== undefined) {
    return '--worker-principal says nothing without --worker-auth entra.';
  }
  if (name === undefined) return auth && '--worker-auth says nothing without --worker-role NAME.';
  return {
    name: String(name),
    ...(auth === undefined ? {} : { auth }),
    ...(principal === undefined ? {} : { principalId: String(principal) }),
  };
}

/** What to do when the login of who migrates is refused; nothing where the server's own words say it. */
function migratorHelp({ method }: DatabaseConfig['login'], user: string): string {
  if (method !== 'entra') return '';
  return (
    `. ${user} must be a Microsoft Entra administrator of the server, under exactly this name, and AZURE_CLIENT_ID must be ` +
    'the client id of that identity'
  );
}

function exitCode({ applied, worker }: MigrateResult, apply: boolean): ExitCode {
  return apply || (applied.length === 0 && (worker?.statements.length ?? 0) === 0) ? 0 : 1;
}

function words(result: MigrateResult, apply: boolean): string {
  return `${schemaWords(result, apply)}${roleWords(result, apply)}`;
}

function schemaWords({ applied, version }: MigrateResult, apply: boolean): string {
  if (applied.length === 0) return `The ledger has schema version ${version}: nothing to do.\n`;
  const list = listed(applied);
  return apply
    ? `Applied ${applied.length} migrations, the ledger has schema version ${version} now:\n${list}`
    : `${applied.length} migrations are missing; with --apply the ledger gets schema version ${version}:\n${list}`;
}

function roleWords({ worker }: MigrateResult, apply: boolean): string {
  if (worker === undefined) return '';
  const { name, statements, overreach } = worker;
  const done = apply ? 'Done for' : 'With --apply this is done for';
  const made =
    statements.length === 0
      ? `The role ${name} may do what a worker does: nothing to do.\n`
      : `${done} the role ${name}:\n${listed(statements)}`;
  if (overreach.length === 0) return made;
  const why = 'through PUBLIC or a role that it belongs to. Take it away there';
  return `${made}WARNING: the role ${name} may do what no worker needs, ${why}:\n${listed(overreach)}`;
}

function listed(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('');
}

/** An AggregateError of a refused connection has no message of its own. */
function reason(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reason).join('; ');
  if (!(error instanceof Error)) return redactSecrets(String(error));
  // Who wraps an error and repeats its words would have them said twice.
  const cause = error.cause === undefined ? '' : reason(error.cause);
  return redactSecrets(cause === '' || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`);
}
