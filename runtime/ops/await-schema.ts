/** A worker may be started before the migration that it needs: it waits, and says what to run. */
import type { Host } from '../host';
import { LedgerUnavailable, SchemaTooOld } from '../ledger/errors';
import type { Log } from '../processor/ports';

export interface SchemaWait {
  /** What a person runs to bring the schema up to date. */
  readonly migrateCommand: string;
  /** Whether the migration also makes the role that this worker logs in with: a refused login is waited for then. */
  readonly makesLogin: boolean;
  readonly host: Host;
  readonly log: Log;
  /** Told why the start does not go on. */
  readonly waiting: (reason: string) => void;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 2_000;
const SAY_EVERY_MS = 60_000;

/**
 * What the ledger says of its schema, as soon as it is new enough. Rejects with SchemaTooNew at once, with the
 * ledger's error when it does not answer, and with what it waited for when the signal aborts.
 */
export async function awaitSchema<T>(checkSchema: () => Promise<T>, wait: SchemaWait): Promise<T> {
  const { migrateCommand, host, log, waiting, signal } = wait;
  const whyWait = (error: unknown): string | undefined => {
    if (error instanceof SchemaTooOld) return `${error.found}. Run: ${migrateCommand}`;
    return wait.makesLogin && error instanceof LedgerUnavailable && error.loginRefused ? error.message : undefined;
  };
  let saidAt: number | undefined;
  for (;;) {
    try {
      const schema = await checkSchema();
      if (saidAt !== undefined) {
        log.info({}, 'the schema is new enough now: the worker goes on');
        waiting('the Stripe account is being checked');
      }
      return schema;
    } catch (error) {
      const reason = whyWait(error);
      if (reason === undefined || signal.aborted) throw error;
      waiting(reason);
      if (saidAt === undefined || host.monotonic() - saidAt >= SAY_EVERY_MS) {
        saidAt = host.monotonic();
        log.warn({ migrateCommand }, `${reason} (the worker waits, and goes on by itself once that is done)`);
      }
    }
    await host.sleep(LOOK_EVERY_MS, signal);
  }
}
