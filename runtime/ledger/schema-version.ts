import { MIGRATIONS } from './generated/sql';

/** The version that this runtime knows: its last migration's. */
export const SCHEMA_VERSION: number = Math.max(...MIGRATIONS.map(({ version }) => version));
