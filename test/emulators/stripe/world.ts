/** Everything that one account has in one mode, and what each request sees of it. */
import { randomBytes } from 'node:crypto';
import type { Books } from './books';
import type { EmulatorClock } from './clock';
import { lockTimeout, resourceMissing } from './errors';
import {
  type Charge,
  type Customer,
  newCustomer,
  newPaymentMethod,
  type PaymentIntent,
  type PaymentMethod,
  type Refund,
  type StripeEvent,
  type StripeObject,
} from './objects';
import type { Params } from './params';
import { SearchIndex } from './search';
import { type Behaviour, testMethod } from './test-methods';

export const API_VERSION = '2026-10-28.endive';

/** Settings that endpoints read. */
export interface WorldSettings {
  readonly autoCustomers: boolean;
  readonly searchLagMs: number;
}

/** Who caused a change: a request, or nobody when a test moved an object from outside. */
export interface Cause {
  readonly requestId: string | null;
  readonly idempotencyKey: string | null;
}

export const FROM_OUTSIDE: Cause = { requestId: null, idempotencyKey: null };

/** What an endpoint gets. */
export interface Call {
  readonly world: World;
  readonly params: Params;
  /** The id in the path, or the empty string. */
  readonly id: string;
  readonly cause: Cause;
}

export class World {
  readonly customers = new Map<string, Customer>();
  readonly paymentMethods = new Map<string, PaymentMethod>();
  readonly intents = new Map<string, PaymentIntent>();
  readonly charges = new Map<string, Charge>();
  readonly refunds = new Map<string, Refund>();
  readonly events = new Map<string, StripeEvent>();
  readonly intentIndex: SearchIndex<PaymentIntent>;
  readonly chargeIndex: SearchIndex<Charge>;
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #setUp = new Set<string>();
  readonly #locked = new Set<string>();

  constructor(
    readonly account: string,
    readonly livemode: boolean,
    readonly clock: EmulatorClock,
    readonly books: Books,
    readonly settings: WorldSettings,
    private readonly announce: (event: StripeEvent) => void,
    private readonly otherMode: () => World,
  ) {
    this.intentIndex = new SearchIndex(clock, settings.searchLagMs);
    this.chargeIndex = new SearchIndex(clock, settings.searchLagMs);
  }

  /** A new id with Stripe's prefix, such as `pi_3Q…`. */
  newId(prefix: string): string {
    return `${prefix}_${prefix === 'pi' || prefix === 'ch' ? '3' : '1'}${randomText(23)}`;
  }

  birth(prefix: string, id = this.newId(prefix)) {
    return { id, created: this.clock.seconds(), livemode: this.livemode };
  }

  /** One writer of an object at a time. The answer unlocks. */
  lock(id: string): () => void {
    if (this.#locked.has(id)) throw lockTimeout();
    this.#locked.add(id);
    return () => this.#locked.delete(id);
  }

  customer(id: string, param: string, inPath: boolean): Customer {
    const found = this.customers.get(id) ?? this.#autoCustomer(id);
    if (found === undefined) throw this.missing('customer', id, param, inPath, (world) => world.customers.has(id));
    return found;
  }

  intent(id: string): PaymentIntent {
    const found = this.intents.get(id);
    if (found === undefined) throw this.missing('payment_intent', id, 'intent', true, (world) => world.intents.has(id));
    return found;
  }

  charge(id: string, param: string, inPath: boolean): Charge {
    const found = this.charges.get(id);
    if (found === undefined) throw this.missing('charge', id, param, inPath, (world) => world.charges.has(id));
    return found;
  }

  /** An object by id, or a new one where the id is one of Stripe's test methods. */
  paymentMethod(id: string, param: string, inPath: boolean): PaymentMethod {
    const found = this.paymentMethods.get(id) ?? this.cloneTestMethod(id);
    if (found !== undefined) return found;
    throw this.missing('PaymentMethod', id, param, inPath, (world) => world.paymentMethods.has(id));
  }

  /** As Stripe does with `pm_card_visa`: each use makes a payment method of its own. */
  cloneTestMethod(testId: string, asId?: string): PaymentMethod | undefined {
    const template = testMethod(testId);
    if (template === undefined) return undefined;
    const method = newPaymentMethod(this.birth('pm', asId), template);
    this.paymentMethods.set(method.id, method);
    this.#behaviours.set(method.id, template.behaviour);
    return method;
  }

  behaviour(method: PaymentMethod): Behaviour {
    return this.#behaviours.get(method.id) ?? { kind: 'succeeds' };
  }

  /** The customer has authenticated this method once. */
  markSetUp(methodId: string): void {
    this.#setUp.add(methodId);
  }

  isSetUp(methodId: string): boolean {
    return this.#setUp.has(methodId);
  }

  /** Announces a change: an event, and a new version for the search index. */
  emit(type: string, subject: StripeObject | Refund, cause: Cause): void {
    const snapshot = structuredClone(subject) as StripeObject;
    if (snapshot.object === 'payment_intent') this.intentIndex.put(snapshot as PaymentIntent);
    if (snapshot.object === 'charge') this.chargeIndex.put(snapshot as Charge);
    const event: StripeEvent = {
      ...this.birth('evt'),
      object: 'event',
      api_version: API_VERSION,
      data: { object: snapshot },
      pending_webhooks: 0,
      request: { id: cause.requestId, idempotency_key: cause.idempotencyKey },
      type,
    };
    this.events.set(event.id, event);
    this.announce(event);
  }

  missing(kind: string, id: string, param: string, inPath: boolean, has: (world: World) => boolean) {
    const [other, own] = this.livemode ? ['test', 'live'] : ['live', 'test'];
    const isElsewhere = has(this.otherMode());
    const hint = `; a similar object exists in ${other} mode, but a ${own} mode key was used to make this request.`;
    return resourceMissing(kind, id, param, { inPath, ...(isElsewhere ? { hint } : {}) });
  }

  #autoCustomer(id: string): Customer | undefined {
    if (!this.settings.autoCustomers || !/^cus_[A-Za-z0-9_-]+$/.test(id)) return undefined;
    const customer = newCustomer(this.birth('cus', id));
    const method = this.cloneTestMethod('pm_card_visa');
    if (method !== undefined) {
      method.customer = id;
      customer.invoice_settings.default_payment_method = method.id;
    }
    this.customers.set(id, customer);
    return customer;
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Random letters and digits, as in Stripe's ids. */
export function randomText(length: number): string {
  return [...randomBytes(length)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
}
