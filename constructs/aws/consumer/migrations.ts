/** Who brings the ledger's schema up to date. */
export enum Migrations {
  /** Each task, before its worker starts: a no-op of a tenth of a second when the schema is current. */
  AT_START = 'at-start',
  /**
   * You, with the command that is an output of the deploy and in every worker's log. A worker that finds the schema
   * too old waits, unready, for some minutes; then the deploy rolls back. So begin a new ledger with
   * `desiredCount: 0`, run the command, and deploy again with the count you want.
   */
  MANUAL = 'manual',
}
