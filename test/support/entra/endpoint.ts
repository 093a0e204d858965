/**
 * An endpoint as Azure Database for PostgreSQL has one with Microsoft Entra authentication: TLS only, and a login is a
 * token, whose signature, audience, time and identity are checked; the identity must be the one that the role is mapped to.
 */
import { type LoginGate, startLoginGate } from '../login-gate';
import { type Entra, POSTGRES_SERVICE } from './entra';
import type { EntraPostgres } from './postgres';

export type EntraEndpoint = LoginGate;

export interface EntraEndpointOptions {
  readonly postgres: EntraPostgres;
  readonly entra: Entra;
}

export function startEntraEndpoint({ postgres, entra }: EntraEndpointOptions): Promise<EntraEndpoint> {
  return startLoginGate({
    server: postgres.server,
    authority: 'a stand-in for Azure Database for PostgreSQL',
    async check(user, token) {
      const principal = await postgres.principalOf(user);
      if (principal === undefined) return `password authentication failed for user "${user}"`;
      const claims = entra.verify(token, POSTGRES_SERVICE);
      if (typeof claims === 'string') return claims;
      if (claims.oid === principal) return undefined;
      return `Service Principals cannot generate AAD_AUTH_TOKENTYPE_APP_USER tokens for role[${user}]`;
    },
  });
}
