/** Stripe on loopback, as far as billing needs it: see `startStripeEmulator`. */
import { type ApiKey, KeyRing } from './auth';
import { Books } from './books';
import { LEGACY_CHARGES } from './charges';
import { EmulatorClock } from './clock';
import { addCustomer, CUSTOMER_OPERATIONS } from './customers';
import { Faults } from './faults';
import { IdempotencyStore } from './idempotency';
import type { Charge, Customer, PaymentIntent, StripeEvent } from './objects';
import { createRouter } from './operation';
import { cancelFromOutside, completeAction, type Outcome, settleProcessing } from './outside';
import { PAYMENT_INTENT_WRITES } from './payment-intents';
import { type PipelineParts, runPipeline } from './pipeline';
import { RateLimiter, type RateLimits } from './rate-limit';
import { READS } from './reads';
import { REFUND_OPERATIONS } from './refunds';
import { listen, type RequestRecord, stop } from './server';
import { Webhooks } from './webhooks';
import { randomText, World } from './world';

export interface StripeEmulatorOptions {
  /** Absent: a free port. */
  readonly port?: number;
  /** Known API keys. Absent: every well-formed sk_test_, sk_live_, rk_test_, rk_live_ key, with all permissions. */
  readonly apiKeys?: Readonly<Record<string, ApiKey>>;
  /** The account of keys that name none. Absent: `acct_1ChargeOnceLocal`. */
  readonly account?: string;
  /** Customers are made, with a good default card, when a request first names them. Absent: unknown ones are refused. */
  readonly autoCustomers?: boolean;
  /** Real time that each execution takes, so that concurrent requests meet. Absent: 0. */
  readonly latencyMs?: number;
  /** Absent: no limits. */
  readonly rateLimit?: RateLimits;
  /** How far search is behind, on the emulator's clock. Absent: one minute. */
  readonly searchLagMs?: number;
  /** How long keys are remembered, on the emulator's clock. Absent: 24 hours. */
  readonly idempotencyRetentionMs?: number;
  /** Whether a key keeps a 400 or 404 raised while executing; Stripe's words leave it open. Absent: true. */
  readonly keepRefusals?: boolean;
}

export interface NewCustomer {
  /** Absent: a new id. */
  readonly id?: string;
  /** A test method (`pm_card_visa_chargeDeclined`), an existing id, or null for none. Absent: `pm_card_visa`. */
  readonly defaultPaymentMethod?: string | null;
  /** A legacy `card_…` id as default_source, in place of a default payment method; behaves like the method named. */
  readonly defaultSource?: string;
  /** Absent: false. */
  readonly livemode?: boolean;
}

export interface StripeEmulator {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly port: number;
  readonly account: string;
  readonly clock: EmulatorClock;
  readonly books: Books;
  readonly faults: Faults;
  readonly keys: KeyRing;
  /** Every request, oldest first. */
  readonly requests: readonly RequestRecord[];
  /** Posts events to receivers on this machine. */
  readonly webhooks: Pick<Webhooks, 'add' | 'idle'>;
  readonly customers: { create(given?: NewCustomer): Customer };
  /** A copy of an intent as it is now. Throws when there is none. */
  intent(id: string): PaymentIntent;
  /** Copies of all intents of the account and both modes, oldest first. */
  intents(): PaymentIntent[];
  charges(): Charge[];
  /** Ends a bank debit that is `processing`. */
  settleProcessing(intentId: string, outcome: Outcome): void;
  /** The customer authenticates an intent that is `requires_action`, or fails to. */
  completeAction(intentId: string, outcome: Outcome): void;
  /** Cancels an intent as from the Dashboard. */
  cancel(intentId: string): void;
  /** Cuts all connections and frees the port. Rejects when the emulator broke one of its own invariants. */
  close(): Promise<void>;
}

/**
 * Starts an emulator of the parts of Stripe that charge customers, on 127.0.0.1. Close it when done.
 *
 * Point stripe-node at it with `{ host: '127.0.0.1', port, protocol: 'http' }`; any key such as `rk_test_local` is good.
 * Test payment methods work in live mode too, unlike at Stripe, so that live settings can be tried. Parameters and
 * endpoints beyond billing (capture, mandates, Connect) are refused as unknown.
 */
export async function startStripeEmulator(options: StripeEmulatorOptions = {}): Promise<StripeEmulator> {
  const clock = new EmulatorClock();
  const operations = [
    ...PAYMENT_INTENT_WRITES,
    ...READS,
    ...CUSTOMER_OPERATIONS,
    ...REFUND_OPERATIONS,
    ...LEGACY_CHARGES,
  ];
  const faults = new Faults(
    clock,
    operations.map((operation) => operation.name),
  );
  const keys = new KeyRing(options.account ?? 'acct_1ChargeOnceLocal', options.apiKeys);
  const books = new Books();
  const webhooks = new Webhooks(clock);
  const worlds = new Worlds(clock, books, options, (event) => webhooks.announce(event));
  const records: RequestRecord[] = [];
  const defects: unknown[] = [];
  const parts: PipelineParts = {
    clock,
    faults,
    keys,
    limiter: new RateLimiter(clock, options.rateLimit ?? {}),
    idempotency: new IdempotencyStore(clock, options.idempotencyRetentionMs ?? 24 * 3600 * 1000),
    route: createRouter(operations),
    world: ({ account, livemode }) => worlds.get(account, livemode),
    newRequestId: () => `req_${randomText(14)}`,
    latencyMs: options.latencyMs ?? 0,
    keepRefusals: options.keepRefusals ?? true,
    onDefect: (error) => defects.push(error),
  };
  const { server, port } = await listen(
    { clock, records, run: (request) => runPipeline(parts, request) },
    options.port ?? 0,
  );
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    account: keys.account,
    clock,
    books,
    faults,
    keys,
    requests: records,
    webhooks,
    customers: {
      create: ({ livemode, ...given } = {}) => addCustomer(worlds.get(keys.account, livemode ?? false), given),
    },
    intent: (id) => structuredClone(worlds.holding(id).intent(id)),
    intents: () => structuredClone(worlds.all().flatMap((world) => [...world.intents.values()])),
    charges: () => structuredClone(worlds.all().flatMap((world) => [...world.charges.values()])),
    settleProcessing: (id, outcome) => settleProcessing(worlds.holding(id), id, outcome),
    completeAction: (id, outcome) => completeAction(worlds.holding(id), id, outcome),
    cancel: (id) => cancelFromOutside(worlds.holding(id), id),
    async close() {
      clock.stop();
      await webhooks.idle();
      await stop(server);
      if (defects.length > 0) throw new AggregateError(defects, 'the Stripe emulator broke its own rules');
    },
  };
}

/** One world for each account and mode, made when first asked for. */
class Worlds {
  readonly #worlds = new Map<string, World>();

  constructor(
    private readonly clock: EmulatorClock,
    private readonly books: Books,
    private readonly options: StripeEmulatorOptions,
    private readonly announce: (event: StripeEvent) => void,
  ) {}

  get(account: string, livemode: boolean): World {
    const name = `${account} ${livemode}`;
    const found = this.#worlds.get(name);
    if (found !== undefined) return found;
    const settings = {
      autoCustomers: this.options.autoCustomers ?? false,
      searchLagMs: this.options.searchLagMs ?? 60_000,
    };
    const { clock, books, announce } = this;
    const otherMode = () => this.get(account, !livemode);
    const world = new World(account, livemode, clock, books, settings, announce, otherMode);
    this.#worlds.set(name, world);
    return world;
  }

  all(): World[] {
    return [...this.#worlds.values()];
  }

  /** The world that has the intent. */
  holding(intentId: string): World {
    const world = this.all().find((candidate) => candidate.intents.has(intentId));
    if (world === undefined) throw new Error(`there is no payment intent '${intentId}' in the emulator`);
    return world;
  }
}
