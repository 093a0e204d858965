/**
 * The worker's role on Azure Database for PostgreSQL, which logs in with a token of Microsoft Entra.
 *
 * Facts, and where they stand: a role is mapped to the object id of an identity, by functions of pg_catalog,
 * `pgaadauth_create_principal_with_oid(roleName text, objectId text, objectType text, isAdmin boolean, isMfa boolean)` and
 * `pgaadauth_list_principals(isAdmin boolean)`; a managed identity has the object type `service`; an existing role is
 * mapped by SECURITY LABEL (learn.microsoft.com/azure/postgresql/security/security-manage-entra-users). Only a Microsoft
 * Entra administrator may do so (…/security-entra-concepts). The functions are found in the database `postgres` alone
 * (github.com/MicrosoftDocs/azure-docs/issues/102693). A mapping is never changed: who maps the role anew is refused with
 * "Drop and recreate" (github.com/Azure/ARO-HCP/pull/5833).
 */
import type { Client } from 'pg';
import { reason } from './errors';
import { QUERIES } from './generated/sql';

/** Where the functions are. */
export const ENTRA_DATABASE = 'postgres';

export interface EntraRole {
  readonly name: string;
  /** Object (principal) id of the identity, a GUID. It is not the client id. */
  readonly principalId: string;
}

const PRINCIPAL_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Throws when no identity has such an object id. */
export function checkPrincipalId(principalId: string): void {
  if (PRINCIPAL_ID.test(principalId)) return;
  throw new Error(
    `The worker's principal was ${JSON.stringify(principalId)}; allowed is the object id (principal id) of its identity, ` +
      'a GUID. It is not the client id and not the name.',
  );
}

/**
 * What has to be done in `postgres`, as statements. Rejects, in words, when the server knows no tokens of Entra or the
 * role belongs to somebody else.
 *
 * @param postgres a connection to the database `postgres`, of the role that migrates
 */
export async function entraRoleStatements(postgres: Client, role: EntraRole): Promise<string[]> {
  const { name, principalId } = role;
  const { rows: functions } = await postgres.query<{ present: boolean }>(QUERIES.findEntraFunctions);
  if (!functions[0]?.present) {
    throw new Error(
      `The database ${ENTRA_DATABASE} of this server has no functions pgaadauth_…, so nobody can log in with a token of ` +
        'Microsoft Entra. Turn Entra authentication on, or leave out --worker-auth and give the role a password.',
    );
  }
  const { rows } = await postgres.query<{ present: boolean; object_id: string | null }>(QUERIES.findEntraPrincipal, [
    name,
  ]);
  const mapped = rows[0]?.object_id ?? undefined;
  if (rows[0]?.present && mapped?.toLowerCase() !== principalId.toLowerCase()) throw refusal(role, mapped);
  const found = await postgres.query<{ statement: string }>(QUERIES.entraRoleStatements, [name, principalId]);
  return found.rows.map(({ statement }) => statement);
}

/** One of the statements; its failure says what they need. */
export async function runEntraStatement(
  postgres: Client,
  { name, principalId }: EntraRole,
  statement: string,
): Promise<void> {
  try {
    await postgres.query(statement);
  } catch (cause) {
    throw new Error(
      `The role ${name} could not be made for the identity ${principalId}: ${reason(cause)}. Only a Microsoft Entra ` +
        "administrator of the server may do it, and the identity must exist in the server's tenant (a new one may take " +
        'some minutes to be known).',
      { cause },
    );
  }
}

function refusal({ name, principalId }: EntraRole, mapped: string | undefined): Error {
  if (mapped === undefined) {
    return new Error(
      `The role ${name} exists and is mapped to no identity of Microsoft Entra. Choose another name, or let an Entra ` +
        `administrator map it, in the database ${ENTRA_DATABASE}: ` +
        `SECURITY LABEL FOR "pgaadauth" ON ROLE "${name}" IS 'aadauth,oid=${principalId},type=service'`,
    );
  }
  return new Error(
    `The role ${name} is mapped to the identity ${mapped}, not to ${principalId}. If the identity was made anew under its ` +
      `old name, drop the role and migrate again: DROP OWNED BY "${name}" in the ledger's database, then DROP ROLE ` +
      `"${name}". If the role is somebody else's, choose another name.`,
  );
}
