/** Stripe's promises in memory, on a fake clock: keys that replay, intents that succeed once, and a book of charges. */
import type { Host } from '../../runtime/host/host';
import type {
  ChargeRow,
  IntentView,
  PaymentMethodAnswer,
  StripeAnswer,
  StripePort,
} from '../../runtime/processor/ports';

type Request = 'create' | 'confirm' | 'retrieve' | 'list';

export class MemoryStripe implements StripePort {
  /** Customer and period of every charge, in order. */
  readonly charged: string[] = [];
  readonly requests: string[] = [];
  /** Customers with a request under way, and the most there ever were. */
  readonly underway = new Map<string, number>();
  mostUnderway = 0;
  mostOfOneCustomer = 0;
  /** Milliseconds that a request takes. */
  delayMs: (request: Request, row: ChargeRow) => number = () => 10;
  /** Answers instead of us; undefined: as usual. It is asked after the request has taken its time. */
  instead: (request: Request, row: ChargeRow) => StripeAnswer | undefined = () => undefined;

  readonly #intents = new Map<string, { intent: IntentView; name: string }>();
  readonly #byKey = new Map<string, string>();

  constructor(private readonly host: Host) {}

  async defaultPaymentMethod(): Promise<PaymentMethodAnswer> {
    return { kind: 'found', paymentMethod: 'pm_default' };
  }

  createIntent(row: ChargeRow): Promise<StripeAnswer> {
    return this.#request('create', row, () => {
      const known = this.#byKey.get(row.idempotencyKey);
      const id = known ?? `pi_${this.#intents.size + 1}`;
      if (!known) {
        this.#byKey.set(row.idempotencyKey, id);
        this.#intents.set(id, { intent: { id, status: 'requires_confirmation' }, name: nameOf(row) });
      }
      return { kind: 'intent', intent: this.#intents.get(id)!.intent, replayed: known !== undefined };
    });
  }

  confirmIntent(row: ChargeRow): Promise<StripeAnswer> {
    return this.#request('confirm', row, () => {
      const entry = this.#intents.get(row.paymentIntentId!)!;
      if (entry.intent.status === 'succeeded') return { kind: 'unexpected_state', intent: entry.intent };
      entry.intent = { ...entry.intent, status: 'succeeded', chargeId: `ch_${this.charged.length + 1}` };
      this.charged.push(entry.name);
      return { kind: 'intent', intent: entry.intent, replayed: false };
    });
  }

  retrieveIntent(row: ChargeRow): Promise<StripeAnswer> {
    return this.#request('retrieve', row, () => ({
      kind: 'intent',
      intent: this.#intents.get(row.paymentIntentId!)!.intent,
      replayed: false,
    }));
  }

  listIntents(row: ChargeRow): Promise<StripeAnswer> {
    return this.#request('list', row, () => ({
      kind: 'intents',
      intents: [...this.#intents.values()].filter((entry) => entry.name === nameOf(row)).map((entry) => entry.intent),
    }));
  }

  async #request(request: Request, row: ChargeRow, answer: () => StripeAnswer): Promise<StripeAnswer> {
    this.requests.push(`${request} ${nameOf(row)}`);
    const customer = row.customerId;
    this.underway.set(customer, (this.underway.get(customer) ?? 0) + 1);
    this.mostOfOneCustomer = Math.max(this.mostOfOneCustomer, this.underway.get(customer)!);
    const total = [...this.underway.values()].reduce((sum, count) => sum + count, 0);
    this.mostUnderway = Math.max(this.mostUnderway, total);
    await this.host.sleep(this.delayMs(request, row));
    this.underway.set(customer, this.underway.get(customer)! - 1);
    return this.instead(request, row) ?? answer();
  }
}

function nameOf(row: ChargeRow): string {
  return `${row.customerId}/${row.billingPeriod}`;
}
