/** Microsoft Entra and a PostgreSQL server that logs its identities in, on one machine. */
export { type EntraEndpoint, type EntraEndpointOptions, startEntraEndpoint } from './endpoint';
export { type Entra, type EntraOptions, POSTGRES_SERVICE, startEntra, type TokenRequest } from './entra';
export { type EntraPostgres, type EntraPostgresOptions, startEntraPostgres } from './postgres';
export type { EntraIdentity, TokenClaims } from './token';
