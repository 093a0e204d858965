/**
 * A PostgreSQL server as Azure has it with Microsoft Entra authentication only: its administrators are no superusers, the
 * databases belong to the provider, the schema public to azure_pg_admin whatever the version
 * (learn.microsoft.com/azure/postgresql/security/security-access-control), and roles are mapped to identities by the
 * functions pgaadauth_… in the database `postgres`. Whoever is not the provider is let in without being asked:
 * `startEntraEndpoint` in front of it asks for a token.
 */
import { escapeIdentifier, escapeLiteral } from 'pg';
import type { PostgresServer } from '../../emulators/postgres';
import { LOOPBACK, query, startRuledPostgres } from '../ruled-postgres';
import { PGAADAUTH } from './pgaadauth';

export interface EntraPostgres {
  readonly server: PostgresServer;
  readonly database: string;
  /** Runs SQL as the superuser, which on a managed server is the provider alone. */
  asProvider(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Maps a role to the identity and makes it an administrator, as the control plane does. */
  addAdministrator(identity: { readonly name: string; readonly principalId: string }): Promise<void>;
  /** The object id that the role is mapped to. */
  principalOf(role: string): Promise<string | undefined>;
  /** An empty database in place of the one there is, and no role but the provider's and the administrators'. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

export interface EntraPostgresOptions {
  /** Default: chargeonce. */
  readonly database?: string;
  readonly administrators: readonly { readonly name: string; readonly principalId: string }[];
}

export async function startEntraPostgres(options: EntraPostgresOptions): Promise<EntraPostgres> {
  const { database = 'chargeonce', administrators } = options;
  const { server, stop } = await startRuledPostgres([
    `host all postgres ${LOOPBACK} scram-sha-256`,
    `host all all ${LOOPBACK} trust`,
  ]);
  const asProvider = (sql: string, where = database) => query(server.url(where), sql);
  const create = `CREATE DATABASE ${escapeIdentifier(database)}`;
  const addAdministrator: EntraPostgres['addAdministrator'] = async ({ name, principalId }) => {
    const [role, oid] = [name, principalId].map(escapeLiteral);
    await asProvider(`SELECT pgaadauth_create_principal_with_oid(${role}, ${oid}, 'service', true, false)`, 'postgres');
  };
  try {
    await asProvider('CREATE ROLE azure_pg_admin NOLOGIN; ALTER SCHEMA public OWNER TO azure_pg_admin', 'template1');
    await asProvider(PGAADAUTH, 'postgres');
    for (const administrator of administrators) await addAdministrator(administrator);
    await asProvider(create, 'postgres');
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    server,
    database,
    asProvider,
    addAdministrator,
    async principalOf(role) {
      const found = await asProvider(
        `SELECT object_id FROM pgaadauth_list_principals(false)
          AS p(role_name, principal_type, object_id, tenant_id, is_mfa, is_admin) WHERE role_name = ${escapeLiteral(role)}`,
        'postgres',
      );
      return found[0]?.object_id as string | undefined;
    },
    async reset() {
      await asProvider(`DROP DATABASE ${escapeIdentifier(database)} WITH (FORCE)`, 'postgres');
      const kept = ['postgres', 'azure_pg_admin', ...administrators.map(({ name }) => name)].map(escapeLiteral).join();
      const made = await asProvider(
        `SELECT quote_ident(rolname) AS name FROM pg_roles WHERE rolname NOT IN (${kept}) AND rolname NOT LIKE 'pg\\_%'`,
        'postgres',
      );
      for (const { name } of made) await asProvider(`DROP ROLE ${name}`, 'postgres');
      await asProvider(create, 'postgres');
    },
    stop,
  };
}
