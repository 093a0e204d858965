/** One worker of a billing world: what `pipeline.ts` connects, without a source. */
import type { CrashPoint } from '../../runtime/contract';
import { createDecoder, type Decode } from '../../runtime/decode';
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
import type { StripeEmulator } from '../emulators/stripe';
import { FakePartition } from './fake-partition';
import type { LedgerDatabase } from './ledger-database';
import { KeptLog, KeptMetrics } from './quiet';

export const API_KEY = 'rk_test_billingworld';
export const PERIOD = '2026-10';
const NAMESPACE = 'billing';
const CLAIM_TTL_MS = 60_000;

/** The clock is real, but nobody waits longer than a moment. */
const hastyHost: Host = { ...systemHost, sleep: (ms, signal) => systemHost.sleep(Math.min(ms, 5), signal) };

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
  /** In place of one that takes up to a megabyte. */
  readonly decoder?: Decode;
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

/** The real thing with single methods replaced. */
export function override<T extends object>(real: T, changes: Partial<T>): T {
  return new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(Object.hasOwn(changes, name) ? changes : target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export interface WorkerPlace {
  readonly db: LedgerDatabase;
  readonly emulator: StripeEmulator;
  readonly drain: AbortSignal;
  readonly name: string;
}

const decode = createDecoder({ defaultCurrency: 'usd', fields: {}, maxBytes: 1_000_000 });
const bodyOf = (event: object) => new TextEncoder().encode(JSON.stringify(event));
const keyOfAttempt = (of: { customerId: string; billingPeriod: string }, attempt: number) =>
  idempotencyKey({ ...of, namespace: NAMESPACE, attempt });

/** The ledger is the caller's to close. */
export function billingWorker(place: WorkerPlace, options: WorkerOptions): { worker: Worker; ledger: Ledger } {
  const log = new KeptLog();
  const metrics = new KeptMetrics();
  const { tools, real } = openPorts(place, options, { host: systemHost, log, metrics });
  const halt = new StripeHalt(systemHost, log, metrics);
  const { processor, reconciler } = aPipeline(tools, halt, place.drain, options);
  const chargeRow: Worker['chargeRow'] = (row, limits) =>
    charge(row, { mayGoOn: () => true, deadline: hastyHost.monotonic() + 45_000, ...limits }, tools);
  const claim = (customer: string) => claimOne(customer, tools, options.describe ?? 'Usage');
  let position = 0;
  const worker: Worker = {
    ledger: tools.ledger,
    stripe: tools.stripe,
    tools,
    log,
    metrics,
    halt,
    processor,
    claim,
    chargeRow,
    charge: async (customer, limits) => chargeRow(await claim(customer), limits),
    reconcile: async () => (await reconciler.round()).ended,
    async deliver(...events) {
      const partition = new FakePartition();
      const batch = events.map((event) => ({ body: bodyOf(event), position: String(++position), partitionKey: 'k' }));
      await processor.deliver(partition, batch);
      if (!(await processor.finished(partition))) throw new Error('The batch was not finished');
      return partition;
    },
  };
  return { worker, ledger: real };
}

function openPorts(
  { db, emulator, name }: WorkerPlace,
  options: WorkerOptions,
  shared: { readonly host: Host; readonly log: KeptLog; readonly metrics: KeptMetrics },
): { tools: ChargeTools; real: Ledger } {
  const real = openLedger({
    connection: { url: db.url },
    worker: name,
    claimTtlMs: CLAIM_TTL_MS,
    spendCap: { mode: 'ledger', defaults: { usd: 1_000_000 } },
    retryForMs: 5_000,
    ...shared,
    ...options.ledgerOptions,
  });
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
  const tools: ChargeTools = {
    ...shared,
    host: hastyHost,
    ledger: options.ledger?.(real) ?? real,
    stripe: options.stripe?.(overHttp) ?? overHttp,
    decide: options.decide ?? decide,
    keyOfAttempt,
    crash: options.crash ?? (() => undefined),
  };
  return { tools, real };
}

function aPipeline(tools: ChargeTools, halt: StripeHalt, drain: AbortSignal, options: WorkerOptions) {
  const busy = new BusyCustomers();
  const processor = new Processor(
    {
      decode: options.decoder ?? decode,
      describe: () => options.describe ?? 'Usage',
      keyOf: (event) => keyOfAttempt(event, 1),
      maxConcurrentCharges: 16,
      claimTtlMs: CLAIM_TTL_MS,
      stripeMaxRps: 10_000,
      parkAfterMs: options.parkAfterMs ?? 0,
      ownershipMarginMs: 1_000,
      checkpoint: { mode: 'record', intervalMs: 1_000, count: 1 },
      drain,
    },
    tools,
    busy,
    halt,
  );
  const limits = { intervalMs: 1_000, claimTtlMs: CLAIM_TTL_MS, maxConcurrent: 16, drain };
  return { processor, reconciler: new Reconciler(limits, tools, busy, halt) };
}

async function claimOne(customer: string, tools: ChargeTools, description: string): Promise<ChargeRow> {
  const decoded = decode(bodyOf(eventOf(customer)));
  if (!decoded.ok) throw new Error(decoded.reason);
  const { event } = decoded;
  const [answer] = await tools.ledger.claim([
    { event, idempotencyKey: keyOfAttempt(event, 1), description, source: 'test', sourcePosition: '1' },
  ]);
  if (answer?.outcome !== 'mine') throw new Error(`The row of ${customer} is not given: ${answer?.outcome}`);
  tools.crash('after-claim');
  return answer.row;
}
