/** The ledger in PostgreSQL: the only room that talks to `pg`. */
export type { AccountIdentity } from './binding';
export type { SpendCapOptions } from './claims';
export type { LedgerConnection, LedgerTls, PasswordFunction } from './connection';
export { AccountMismatch, LedgerUnavailable, SchemaTooNew, SchemaTooOld } from './errors';
export { type Ledger, type LedgerCounts, type LedgerOptions, openLedger } from './ledger';
export { type MigrateOptions, type MigrateResult, migrate } from './migrate';
export type { OpenRow, OpenRows } from './open-rows';
export { SCHEMA_VERSION } from './schema-version';
export { checkWorkerRoleName, type WorkerRole, type WorkerRoleResult } from './worker-role';
