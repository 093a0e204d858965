/** Who brings the ledger's schema up to date. */
export enum Migrations {
  /** Each task, before its worker starts: a no-op of a tenth of a second when the schema is current. */
  AT_START = 'at-start',
  /** You, with the command that the deploy prints. Workers wait, unready, until the schema is new enough. */
  MANUAL = 'manual',
}
