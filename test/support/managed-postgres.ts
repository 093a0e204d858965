/** A PostgreSQL server as a managed one is: its owner is no superuser, but may make roles and give them rds_iam. */
import { Client } from 'pg';
import { type PostgresServer, startPostgres } from '../emulators/postgres';

export const OWNER = 'chargeonce_owner';
export const OWNER_PASSWORD = 'owner-password';
export const DATABASE = 'chargeonce';

export interface ManagedPostgres {
  readonly server: PostgresServer;
  /** By the owner. */
  readonly ownerUrl: string;
  urlOf(user: string, password: string): string;
  /** Runs SQL as the superuser, which on a managed server is the provider alone. */
  asProvider(sql: string): Promise<Record<string, unknown>[]>;
  /** An empty database of the owner's in place of the one there is, and no role but the provider's and the owner's. */
  reset(): Promise<void>;
}

export async function startManagedPostgres(options: { readonly rdsIam?: boolean } = {}): Promise<ManagedPostgres> {
  const server = await startPostgres();
  const urlOf = (user: string, password: string) =>
    `postgres://${user}:${password}@${server.host}:${server.port}/${DATABASE}`;
  const run = (sql: string, database: string) => query(server.url(database), sql);
  await run(`CREATE ROLE ${OWNER} LOGIN NOSUPERUSER CREATEROLE CREATEDB PASSWORD '${OWNER_PASSWORD}'`, 'postgres');
  if (options.rdsIam ?? true) {
    await run('CREATE ROLE rds_iam NOLOGIN', 'postgres');
    await run(`GRANT rds_iam TO ${OWNER} WITH ADMIN OPTION`, 'postgres');
  }
  await run(`CREATE DATABASE ${DATABASE} OWNER ${OWNER}`, 'postgres');
  return {
    server,
    ownerUrl: urlOf(OWNER, OWNER_PASSWORD),
    urlOf,
    asProvider: (sql) => run(sql, DATABASE),
    async reset() {
      await run(`DROP DATABASE ${DATABASE} WITH (FORCE)`, 'postgres');
      const made = await run(
        `SELECT quote_ident(rolname) AS name FROM pg_roles
         WHERE rolname NOT IN ('postgres', '${OWNER}', 'rds_iam') AND rolname NOT LIKE 'pg\\_%'`,
        'postgres',
      );
      for (const { name } of made) await run(`DROP ROLE ${name}`, 'postgres');
      await run(`CREATE DATABASE ${DATABASE} OWNER ${OWNER}`, 'postgres');
    },
  };
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
