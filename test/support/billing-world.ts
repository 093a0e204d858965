/**
 * The real processor, the real ledger on a database of its own, the real Stripe client over HTTP and the emulator with
 * its books, in one process. Faults are armed on the emulator, on the wire or in the database; time passes by SQL
 * (claims) and by the emulator's clock (keys).
 */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Ledger } from '../../runtime/ledger';
import { type StripeEmulator, type StripeEmulatorOptions, startStripeEmulator } from '../emulators/stripe';
import { billingWorker, eventOf, PERIOD, type Worker, type WorkerOptions } from './billing-worker';
import { type LedgerDatabase, ledgerDatabase } from './ledger-database';

export { API_KEY, CRASH, eventOf, override, PERIOD, type Worker, type WorkerOptions } from './billing-worker';

/** What a row's columns say, as the database has them. */
export interface RowNow {
  readonly status: string;
  readonly attempt: number;
  readonly payment_intent_id: string | null;
  readonly confirm_started_at: Date | null;
  readonly reserved: boolean;
  readonly claimed: boolean;
  readonly fence: string;
  readonly idempotency_key: string;
  readonly payment_method: string | null;
  readonly charge_id: string | null;
  readonly decline_code: string | null;
  readonly error: string | null;
}

export interface BillingWorld {
  readonly db: LedgerDatabase;
  readonly emulator: StripeEmulator;
  worker(options?: WorkerOptions): Worker;
  /** A customer of the emulator and the event that bills it. */
  customer(id: string, method?: string, changes?: object): Record<string, unknown>;
  row(customer: string): Promise<RowNow>;
  /** The cap of the period. */
  cap(): Promise<{ readonly reserved: number; readonly spent: number }>;
  /** Every claim ends now. */
  expireClaims(): Promise<void>;
  /** Every row is due for another look now, as if hours had passed. */
  makeDue(): Promise<void>;
  /** Charges of the customer in the emulator's books. */
  charges(customer: string): number;
  end(): Promise<void>;
}

/** One database a file, emptied before each test, with an emulator of the test's own. Answers the test's world. */
export function useBillingWorld(options: StripeEmulatorOptions = {}): () => BillingWorld {
  let db: LedgerDatabase;
  let world: BillingWorld;
  beforeAll(async () => {
    db = await ledgerDatabase();
  });
  beforeEach(async () => {
    await db.query('TRUNCATE billing_records, billing_conflicts, spend_caps, dead_letters');
    world = await billingWorld(db, options);
  });
  afterEach(() => world.end());
  afterAll(() => db.drop());
  return () => world;
}

async function billingWorld(db: LedgerDatabase, options: StripeEmulatorOptions): Promise<BillingWorld> {
  const emulator = await startStripeEmulator(options);
  const ledgers: Ledger[] = [];
  const drains: AbortController[] = [];
  return {
    db,
    emulator,
    worker(given = {}) {
      const drain = new AbortController();
      drains.push(drain);
      const { worker, ledger } = billingWorker({ db, emulator, drain: drain.signal, name: `w${drains.length}` }, given);
      ledgers.push(ledger);
      return worker;
    },
    customer(id, method = 'pm_card_visa', changes = {}) {
      emulator.customers.create({ id: `cus_${id}`, defaultPaymentMethod: method });
      return eventOf(id, changes);
    },
    async row(customer) {
      const [row] = await db.query<RowNow>(
        `SELECT status, attempt, payment_intent_id, confirm_started_at, reserved, fence::text, idempotency_key,
           payment_method, charge_id, decline_code, error,
           claim_expires_at IS NOT NULL AND claim_expires_at > now() AS claimed
         FROM billing_records WHERE customer_id = $1 AND billing_period = $2`,
        [customer, PERIOD],
      );
      if (!row) throw new Error(`There is no row of ${customer}`);
      return row;
    },
    async cap() {
      const [cap] = await db.query<{ reserved: string; spent: string }>(
        'SELECT reserved_cents AS reserved, spent_cents AS spent FROM spend_caps WHERE billing_period = $1',
        [PERIOD],
      );
      return { reserved: Number(cap?.reserved ?? 0), spent: Number(cap?.spent ?? 0) };
    },
    async expireClaims() {
      await db.query(
        "UPDATE billing_records SET claim_expires_at = now() - interval '1 ms' WHERE claim_expires_at > now()",
      );
    },
    async makeDue() {
      await db.query(`UPDATE billing_records SET updated_at = updated_at - interval '3 days',
        first_attempted_at = first_attempted_at - interval '3 days',
        claim_expires_at = least(claim_expires_at, now() - interval '1 ms')`);
    },
    charges: (customer) => emulator.books.chargesOf(`cus_${customer}`).length,
    async end() {
      for (const drain of drains) drain.abort();
      await emulator.close();
      for (const ledger of ledgers) await ledger.close();
    },
  };
}
