/** The role that workers log in with: it may do what the runtime does, and nothing else. */
import type { Client } from 'pg';
import { checkPrincipalId, type EntraRole, entraRoleStatements, runEntraStatement } from './entra-role';
import { QUERIES } from './generated/sql';
import { SCHEMA_VERSION } from './schema-version';
import { LEDGER_TABLES, WORKER_FUNCTIONS, WORKER_TABLE_GRANTS } from './worker-grants';

export interface WorkerRole {
  /** 1 to 63 letters, digits, `_` and `-`, beginning with a letter or `_`. */
  readonly name: string;
  /**
   * `rds-iam`: logs in with tokens of Amazon RDS; `entra`: with tokens of Microsoft Entra, on Azure Database for
   * PostgreSQL. Absent: whoever made the role has given it a password.
   */
  readonly auth?: 'rds-iam' | 'entra';
  /** Object id of the identity that logs in, a GUID. Needed with `entra`, and not allowed without it. */
  readonly principalId?: string;
}

/** Connections of the role that migrates. */
export interface MigrationClients {
  /** To the ledger's database. */
  readonly ledger: Client;
  /** To the database where roles of Microsoft Entra are made. Asked for only when such a role is wanted. */
  readonly entra: () => Promise<Client>;
}

export interface WorkerRoleResult {
  readonly name: string;
  /** What was done, or would be, in SQL; none when the role is as it must be. */
  readonly statements: string[];
  /** What the role may write although it must not, and this cannot take away. Empty for a plan. */
  readonly overreach: string[];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/;
/** Roles of PostgreSQL, Amazon and Azure, and words that are no role. */
const RESERVED = /^(pg_|rds|azure_pg_|azuresu$|public$|none$|current_user$|session_user$|current_role$)/i;

/** Throws when no worker may be called so. */
export function checkWorkerRoleName(name: string): void {
  if (NAME.test(name) && !RESERVED.test(name)) return;
  throw new Error(
    `The worker's role was ${JSON.stringify(name)}; allowed are 1 to 63 letters, digits, _ and -, beginning with a letter ` +
      'or _, and not with pg_, rds or azure_pg_. Choose a name such as chargeonce_worker.',
  );
}

/**
 * What would be done.
 *
 * @param schemaVersion of the database. On a newer schema than this release knows nothing is taken away: it was granted
 *   by a newer release, whose workers may run beside this one's or come back after a rollback.
 */
export async function planWorkerRole(
  clients: MigrationClients,
  role: WorkerRole,
  schemaVersion: number,
): Promise<WorkerRoleResult> {
  await checkRole(clients.ledger, role);
  const statements: string[] = [];
  for (const { find } of steps(clients, role, schemaVersion)) statements.push(...(await find()));
  return { name: role.name, statements, overreach: [] };
}

/**
 * Inside the transaction of the migrations, so that both happen or neither; only a role of Microsoft Entra, which is made
 * in another database, stays when they fail. `schemaVersion` as for the plan.
 */
export async function applyWorkerRole(
  clients: MigrationClients,
  role: WorkerRole,
  schemaVersion: number,
): Promise<WorkerRoleResult> {
  const client = clients.ledger;
  await checkRole(client, role);
  const statements: string[] = [];
  for (const { find, run } of steps(clients, role, schemaVersion)) {
    for (const statement of await find()) {
      await run(statement);
      statements.push(statement);
    }
  }
  // Who may not give a privilege away is only warned by the server.
  const [still] = await missing(client, role);
  if (still !== undefined) {
    throw new Error(`This came to nothing: ${still}. Run it as the owner of the ledger's tables.`);
  }
  if (schemaVersion > SCHEMA_VERSION) return { name: role.name, statements, overreach: [] };
  const { rows } = await client.query<{ what: string }>(QUERIES.workerOverreach, [
    role.name,
    JSON.stringify(WORKER_TABLE_GRANTS),
    LEDGER_TABLES,
  ]);
  return { name: role.name, statements, overreach: rows.map(({ what }) => what) };
}

interface Step {
  /** What has to be done, as statements. */
  find(): Promise<string[]>;
  run(statement: string): Promise<unknown>;
}

/** In turn: taking a privilege from a table takes it from the columns too. */
function steps(clients: MigrationClients, role: WorkerRole, schemaVersion: number): Step[] {
  const { ledger } = clients;
  const here = (find: (client: Client, role: WorkerRole) => Promise<string[]>): Step => ({
    find: () => find(ledger, role),
    run: (statement) => ledger.query(statement),
  });
  const login = role.auth === 'entra' ? entraLogin(clients, role) : here(loginOf);
  return schemaVersion > SCHEMA_VERSION ? [login, here(missing)] : [login, here(excess), here(missing)];
}

function entraLogin({ entra }: MigrationClients, { name, principalId = '' }: WorkerRole): Step {
  const role: EntraRole = { name, principalId };
  return {
    find: async () => entraRoleStatements(await entra(), role),
    run: async (statement) => runEntraStatement(await entra(), role, statement),
  };
}

async function checkRole(client: Client, { name, auth, principalId }: WorkerRole): Promise<void> {
  checkWorkerRoleName(name);
  if (auth === 'entra') checkPrincipalId(principalId ?? '');
  const found = await find(client, name);
  if (found?.migrates) {
    throw new Error(`${name} is the role that migrates, so it may do everything. Give the worker a role of its own.`);
  }
  if (found && found.powers.length > 0) {
    throw new Error(
      `The role ${name} exists and is ${found.powers.join(', ')}: no worker may be. Choose another name, ` +
        'or take that away from it.',
    );
  }
  if (auth === 'rds-iam' && !(await find(client, 'rds_iam'))) {
    throw new Error(
      'This server has no role rds_iam, so nobody can log in with a token of Amazon RDS. Use a server of Amazon RDS or ' +
        'Aurora, or leave out --worker-auth and give the role a password.',
    );
  }
}

async function find(client: Client, name: string): Promise<{ migrates: boolean; powers: string[] } | undefined> {
  return (await client.query<{ migrates: boolean; powers: string[] }>(QUERIES.findRole, [name])).rows[0];
}

function loginOf(client: Client, { name, auth }: WorkerRole): Promise<string[]> {
  return statementsOf(client, 'workerRoleStatements', [name, auth === 'rds-iam']);
}

function excess(client: Client, { name }: WorkerRole): Promise<string[]> {
  return statementsOf(client, 'excessWorkerGrants', [name, JSON.stringify(WORKER_TABLE_GRANTS), LEDGER_TABLES]);
}

function missing(client: Client, { name }: WorkerRole): Promise<string[]> {
  return statementsOf(client, 'missingWorkerGrants', [name, JSON.stringify(WORKER_TABLE_GRANTS), WORKER_FUNCTIONS]);
}

async function statementsOf(
  client: Client,
  query: keyof typeof QUERIES,
  values: readonly unknown[],
): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(QUERIES[query], [...values]);
  return rows.map(({ statement }) => statement);
}
