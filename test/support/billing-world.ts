/**
 * The real processor, the real ledger on a database of its own, the real Stripe client over HTTP and the emulator with
 * its books, in one process. Faults are armed on the emulator, on the wire or in the database; time passes by SQL
 * (claims) and by the emulator's clock (keys).
 */

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { CrashPoint } from '../../runtime/contract';
import { createDecoder } from '../../runtime/decode';
import { type Host, systemHost } from '../../runtime/host/host';
import { type Ledger, type LedgerOptions, openLedger } from '../../runtime/ledger';
import { type ChargeLimits, type ChargeOutcome, type ChargeTools, charge } from '../../runtime/processor/charge';
import { BusyCustomers } from '../../runtime/processor/customer-queue';
import { type Decide, decide } from '../../runtime/processor/decide';
import { idempotencyKey } from '../../runtime/processor/keys';
import type { ChargeRow, LedgerPort, StripePort } from '../../runtime/processor/ports';
import { Processor } from '../../runtime/processor/processor';
import { Reconciler } from '../../runtime/processor/reconciler';
import { StripeHalt } from '../../runtime/processor/stripe-halt';
import { createStripe } from '../../runtime/stripe';
import { type StripeEmulator, type StripeEmulatorOptions, startStripeEmulator } from '../emulators/stripe';
import { FakePartition } from './fake-partition';
import { type LedgerDatabase, ledgerDatabase } from './ledger-database';
import { KeptLog, KeptMetrics } from './quiet';

export const API_KEY = 'rk_test_billingworld';
export const PERIOD = '2026-10';
export const NAMESPACE = 'billing';
const CLAIM_TTL_MS = 60_000;

/** The clock is real, but nobody waits longer than a moment. */
const hastyHost: Host = { ...systemHost, sleep: (ms, signal) => systemHost.sleep(Math.min(ms, 5), signal) };

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

export interface WorkerOptions {
  readonly decide?: Decide;
  /** Wraps the ledger, to lose answers or to take a rule away. */
  readonly ledger?: (real: Ledger) => LedgerPort;
  readonly ledgerOptions?: Partial<LedgerOptions>;
  readonly stripe?: (real: StripePort) => StripePort;
  /** In place of the platform's: to change bytes on the way. */
  readonly fetch?: typeof fetch;
  readonly stripeTimeoutMs?: number;
  /** Called at each crash point; to crash, throw `CRASH`. */
  readonly crash?: (point: CrashPoint) => void;
  readonly apiKey?: string;
  /** Default 0: an event whose outcome is not known is parked at once. */
  readonly parkAfterMs?: number;
  readonly describe?: string;
}

/** Thrown at a crash point: the worker is gone, whatever it had in memory with it. */
export const CRASH = new Error('crashed here, as the test wanted');

export interface Worker {
  readonly ledger: LedgerPort;
  readonly stripe: StripePort;
  readonly tools: ChargeTools;
  readonly log: KeptLog;
  readonly metrics: KeptMetrics;
  readonly halt: StripeHalt;
  readonly processor: Processor;
  /** Delivers events of these customers in one batch and waits until all are finished. */
  deliver(...events: readonly object[]): Promise<FakePartition>;
  /** Claims the event's row and answers it; throws when it is not given. */
  claim(customer: string): Promise<ChargeRow>;
  /** Claims and charges one row, without a processor around it. */
  charge(customer: string, limits?: Partial<ChargeLimits>): Promise<ChargeOutcome>;
  chargeRow(row: ChargeRow, limits?: Partial<ChargeLimits>): Promise<ChargeOutcome>;
  /** One round of the reconciler. */
  reconcile(): Promise<number>;
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

/** The real thing with single methods replaced. */
export function override<T extends object>(real: T, changes: Partial<T>): T {
  return new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(Object.hasOwn(changes, name) ? changes : target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
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
      return aWorker(db, emulator, ledgers, drain, `w${ledgers.length + 1}`, given);
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

export function eventOf(id: string, changes: object = {}): Record<string, unknown> {
  return {
    customer_id: id,
    billing_period: PERIOD,
    stripe_customer_id: `cus_${id}`,
    amount_cents: 1_200,
    currency: 'usd',
    ...changes,
  };
}

function aWorker(
  db: LedgerDatabase,
  emulator: StripeEmulator,
  ledgers: Ledger[],
  drain: AbortController,
  name: string,
  options: WorkerOptions,
): Worker {
  const log = new KeptLog();
  const metrics = new KeptMetrics();
  const shared = { host: systemHost, log, metrics };
  const real = openLedger({
    connection: { url: db.url },
    worker: name,
    claimTtlMs: CLAIM_TTL_MS,
    spendCap: { mode: 'ledger', defaults: { usd: 1_000_000 } },
    retryForMs: 5_000,
    ...shared,
    ...options.ledgerOptions,
  });
  ledgers.push(real);
  const overHttp = createStripe({
    apiKey: options.apiKey ?? API_KEY,
    mode: 'test',
    apiBase: new URL(emulator.url),
    maxRps: 10_000,
    timeoutMs: options.stripeTimeoutMs ?? 20_000,
    ledgerId: db.name,
    namespace: NAMESPACE,
    ...(options.fetch && { fetch: options.fetch }),
    ...shared,
  });
  const ledger = options.ledger?.(real) ?? real;
  const stripe = options.stripe?.(overHttp) ?? overHttp;
  const keyOfAttempt = (of: { customerId: string; billingPeriod: string }, attempt: number) =>
    idempotencyKey({ ...of, namespace: NAMESPACE, attempt });
  const tools: ChargeTools = {
    ledger,
    stripe,
    decide: options.decide ?? decide,
    keyOfAttempt,
    host: hastyHost,
    log,
    metrics,
    crash: options.crash ?? (() => undefined),
  };
  const busy = new BusyCustomers();
  const halt = new StripeHalt(systemHost, log, metrics);
  const decode = createDecoder({ defaultCurrency: 'usd', fields: {}, maxBytes: 1_000_000 });
  const describe = () => options.describe ?? 'Usage';
  const processor = new Processor(
    {
      decode,
      describe,
      keyOf: (event) => keyOfAttempt(event, 1),
      maxConcurrentCharges: 16,
      claimTtlMs: CLAIM_TTL_MS,
      stripeMaxRps: 10_000,
      parkAfterMs: options.parkAfterMs ?? 0,
      ownershipMarginMs: 1_000,
      checkpoint: { mode: 'record', intervalMs: 1_000, count: 1 },
      drain: drain.signal,
    },
    tools,
    busy,
    halt,
  );
  const reconciler = new Reconciler(
    { intervalMs: 1_000, claimTtlMs: CLAIM_TTL_MS, maxConcurrent: 16, drain: drain.signal },
    tools,
    busy,
    halt,
  );
  const bodyOf = (event: object) => new TextEncoder().encode(JSON.stringify(event));
  const chargeRow: Worker['chargeRow'] = (row, limits) =>
    charge(row, { mayGoOn: () => true, deadline: hastyHost.monotonic() + 45_000, ...limits }, tools);
  const claim: Worker['claim'] = async (customer) => {
    const decoded = decode(bodyOf(eventOf(customer)));
    if (!decoded.ok) throw new Error(decoded.reason);
    const { event } = decoded;
    const [answer] = await ledger.claim([
      { event, idempotencyKey: keyOfAttempt(event, 1), description: describe(), source: 'test', sourcePosition: '1' },
    ]);
    if (answer?.outcome !== 'mine') throw new Error(`The row of ${customer} is not given: ${answer?.outcome}`);
    tools.crash('after-claim');
    return answer.row;
  };
  let position = 0;
  return {
    ledger,
    stripe,
    tools,
    log,
    metrics,
    halt,
    processor,
    claim,
    chargeRow,
    charge: async (customer, limits) => chargeRow(await claim(customer), limits),
    reconcile: () => reconciler.round(),
    async deliver(...events) {
      const partition = new FakePartition();
      const batch = events.map((event) => ({ body: bodyOf(event), position: String(++position), partitionKey: 'k' }));
      await processor.deliver(partition, batch);
      if (!(await processor.finished(partition))) throw new Error('The batch was not finished');
      return partition;
    },
  };
}
