/** Errors of the ledger. Whatever else a method rejects with is PostgreSQL's own error. */

const GENERAL_HELP = 'Check that the database runs and that this process may reach it and log in.';

/** The database did not answer in time, although the statement was repeated. What it asked for may still happen. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable';

  /** `loginRefused`: the database answered, but only to refuse the login. */
  constructor(
    statement: string,
    waitedMs: number,
    cause: unknown,
    readonly loginRefused = false,
    help = GENERAL_HELP,
  ) {
    super(`The ledger did not answer '${statement}' within ${Math.round(waitedMs)} ms: ${reason(cause)}. ${help}`, {
      cause,
    });
  }
}

/** The schema was migrated by a newer release, in a way this one cannot work with. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew';

  constructor(schema: number, needed: number, known: number) {
    super(
      `The ledger's schema is version ${schema} and needs a runtime that knows version ${needed} or later; ` +
        `this one knows ${known}. Run the newer release.`,
    );
  }
}

/** The schema lacks migrations that this runtime needs. */
export class SchemaTooOld extends Error {
  override readonly name = 'SchemaTooOld';
  /** What was found and what is needed, without what to do about it. */
  readonly found: string;

  constructor(schema: number | undefined, known: number) {
    const has = schema === undefined ? 'no ledger schema' : `the ledger's schema at version ${schema}`;
    const found = `The database has ${has}; this runtime needs version ${known}`;
    super(`${found}. Run: chargeonce migrate --apply`);
    this.found = found;
  }
}

/** The ledger belongs to another Stripe account or mode than the key. */
export class AccountMismatch extends Error {
  override readonly name = 'AccountMismatch';
}

/** The text of an error, whatever was thrown. */
export function reason(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reason).join('; ');
  return error instanceof Error ? error.message : String(error);
}
