/**
 * A PostgreSQL server as Amazon RDS has it: its owner is no superuser, but may make roles and give them rds_iam. Members
 * of rds_iam are let in without being asked: `startRdsEndpoint` in front of it asks them for a token.
 */
import { escapeIdentifier, escapeLiteral } from 'pg';
import type { PostgresServer } from '../emulators/postgres';
import { LOOPBACK, query, startRuledPostgres } from './ruled-postgres';

export const OWNER = 'chargeonce_owner';
const OWNER_PASSWORD = 'owner-password';
const DATABASE = 'chargeonce';

export interface ManagedPostgres {
  readonly server: PostgresServer;
  /** By the owner. */
  readonly ownerUrl: string;
  urlOf(user: string, password: string): string;
  /** Runs SQL as the superuser, which on a managed server is the provider alone. */
  asProvider(sql: string): Promise<Record<string, unknown>[]>;
  /** An empty database of the owner's in place of the one there is, and no role but the provider's and the owner's. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

export interface ManagedPostgresOptions {
  readonly owner?: string;
  readonly ownerPassword?: string;
  readonly database?: string;
}

export async function startManagedPostgres(options: ManagedPostgresOptions = {}): Promise<ManagedPostgres> {
  const { owner = OWNER, ownerPassword = OWNER_PASSWORD, database = DATABASE } = options;
  // Who may give rds_iam away is a member of it, but goes on logging in with a password.
  const { server, stop } = await startRuledPostgres([
    `host all "${owner}" ${LOOPBACK} scram-sha-256`,
    `host all +rds_iam ${LOOPBACK} trust`,
    `host all all ${LOOPBACK} scram-sha-256`,
  ]);
  const urlOf = (user: string, password: string) =>
    `postgres://${user}:${password}@${server.host}:${server.port}/${database}`;
  const run = (sql: string, where = 'postgres') => query(server.url(where), sql);
  const [name, role] = [database, owner].map(escapeIdentifier);
  const create = `CREATE DATABASE ${name} OWNER ${role}`;
  const attributes = 'LOGIN NOSUPERUSER CREATEROLE CREATEDB';
  await run(`CREATE ROLE ${role} ${attributes} PASSWORD ${escapeLiteral(ownerPassword)}`);
  await run(`CREATE ROLE rds_iam NOLOGIN ADMIN ${role}`);
  await run(create);
  return {
    server,
    ownerUrl: urlOf(owner, ownerPassword),
    urlOf,
    asProvider: (sql) => run(sql, database),
    async reset() {
      await run(`DROP DATABASE ${name} WITH (FORCE)`);
      const made = await run(
        `SELECT quote_ident(rolname) AS name FROM pg_roles
         WHERE rolname NOT IN ('postgres', ${escapeLiteral(owner)}, 'rds_iam') AND rolname NOT LIKE 'pg\\_%'`,
      );
      for (const each of made) await run(`DROP ROLE ${each.name}`);
      await run(create);
    },
    stop,
  };
}
