/**
 * A login at Azure Database for PostgreSQL without a password: an access token of Microsoft Entra, which the server takes
 * in the password's place. The token's identity is matched by its object id, the role by PGUSER.
 *
 * Facts: the scope and the use as a password, learn.microsoft.com/azure/postgresql/security/security-entra-configure and
 * …/security-connect-with-managed-identity; tokens of a managed identity last up to 24 hours, those of a user one hour,
 * and a deleted identity can log in until its token ends, …/security-entra-concepts ("What's the token lifetime?").
 */
import type { PasswordFunction } from '../ledger/connection';
import { reason } from '../ledger/errors';

export interface EntraLogin {
  /** The server: its cloud says for which service the token has to be. */
  readonly host: string;
  /** The role, for people: the token does not name it. */
  readonly user: string;
  /** Client id of a user-assigned managed identity. Absent: what the default chain of Azure's SDK finds. */
  readonly clientId?: string;
}

/** The service that PostgreSQL's tokens are for, in each cloud (`az cloud show`: ossrdbmsResourceId). */
const CLOUDS: readonly (readonly [suffix: string, service: string])[] = [
  ['.postgres.database.usgovcloudapi.net', 'https://ossrdbms-aad.database.usgovcloudapi.net'],
  ['.postgres.database.chinacloudapi.cn', 'https://ossrdbms-aad.database.chinacloudapi.cn'],
];
const PUBLIC_CLOUD = 'https://ossrdbms-aad.database.windows.net';

/** What a token for this server is asked for: the public cloud's, unless the host is of another one. */
export function entraScope(host: string): string {
  const [, service = PUBLIC_CLOUD] = CLOUDS.find(([suffix]) => host.toLowerCase().endsWith(suffix)) ?? [];
  return `${service}/.default`;
}

/**
 * Asks for a token at each connection, with the default chain of Azure's SDK: it keeps a token until shortly before it
 * ends. A connection outlives its token.
 */
export async function entraToken({ host, user, clientId }: EntraLogin): Promise<PasswordFunction> {
  // Loaded only for those who log in this way.
  const { DefaultAzureCredential } = await import('@azure/identity');
  const credential = new DefaultAzureCredential(clientId === undefined ? {} : { managedIdentityClientId: clientId });
  const scope = entraScope(host);
  return async () => {
    try {
      return (await credential.getToken(scope)).token;
    } catch (cause) {
      const identity = clientId === undefined ? 'AZURE_CLIENT_ID is not set' : `AZURE_CLIENT_ID is ${clientId}`;
      throw new Error(
        `no token for ${user} on ${host} could be got, and ${identity}. On Azure, assign a managed identity to this ` +
          'process and set AZURE_CLIENT_ID to its client id (only a system-assigned one needs none); elsewhere set ' +
          `AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET. What was tried: ${tried(cause)}`,
        { cause },
      );
    }
  };
}

/** Tools of a developer's machine, which the chain asks last: that they are not there says nothing on a server. */
const TOOLS = /Visual Studio Code|Azure CLI|PowerShell|Developer CLI|^ChainedTokenCredential/;

/** The chain's answer, a line for each way, in one line. */
function tried(cause: unknown): string {
  const lines = reason(cause)
    .split('\n')
    .map((line) => line.replace(/^CredentialUnavailableError: /, '').trim());
  const told = lines.filter((line) => line !== '' && !TOOLS.test(line));
  return (told.length === 0 ? lines : told).join(' | ').slice(0, 600);
}
