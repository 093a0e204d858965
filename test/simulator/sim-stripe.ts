/** Stripe as one process reaches it: requests travel, are lost, arrive after the process gave up on them. */
import type { ChargeRow, NotSent, PaymentMethodAnswer, StripeAnswer, StripePort } from '../../runtime/processor/ports';
import type { Life } from './life';
import type { Handled, ModelStripe } from './model-stripe';
import type { Simulation } from './simulation';

/** Of the client, over connect, headers and body. */
const TIMEOUT_MS = 30_000;

export class SimStripe implements StripePort {
  /** Customers with a request of this process under way. */
  readonly #underWay = new Set<string>();

  constructor(
    private readonly world: Simulation,
    private readonly account: ModelStripe,
    private readonly life: Life,
  ) {}

  async defaultPaymentMethod(row: ChargeRow): Promise<PaymentMethodAnswer> {
    // Another card may have become the default meanwhile.
    const paymentMethod = `pm_${this.life.chaos.pick(['a', 'b'])}_${row.customerId}`;
    const answer = await this.#send(row, () => ({
      answer: { kind: 'wrong_shape', detail: paymentMethod },
      tookMs: 10,
    }));
    if (answer.kind === 'no_answer') return answer;
    return { kind: 'found', paymentMethod };
  }

  createIntent(row: ChargeRow): Promise<StripeAnswer>;
  createIntent(row: ChargeRow, mayGoOn: () => boolean): Promise<StripeAnswer | NotSent>;
  createIntent(row: ChargeRow, mayGoOn: () => boolean = () => true): Promise<StripeAnswer | NotSent> {
    return this.#sendIf(row, mayGoOn, () => this.account.post('create', row));
  }

  confirmIntent(row: ChargeRow): Promise<StripeAnswer>;
  confirmIntent(row: ChargeRow, mayGoOn: () => boolean): Promise<StripeAnswer | NotSent>;
  confirmIntent(row: ChargeRow, mayGoOn: () => boolean = () => true): Promise<StripeAnswer | NotSent> {
    return this.#sendIf(row, mayGoOn, () => this.account.post('confirm', row));
  }

  retrieveIntent(row: ChargeRow): Promise<StripeAnswer> {
    return this.#send(row, () => this.account.get('retrieve', row));
  }

  listIntents(row: ChargeRow): Promise<StripeAnswer> {
    return this.#send(row, () => this.account.get('list', row));
  }

  /** The worker's share of the rate is waited for first. */
  async #sendIf(row: ChargeRow, mayGoOn: () => boolean, handle: () => Handled): Promise<StripeAnswer | NotSent> {
    await this.life.sleep(this.life.chaos.delay(20, 5_000, this.world.faults.slow));
    return mayGoOn() ? this.#send(row, handle) : 'not_sent';
  }

  async #send(row: ChargeRow, handle: () => Handled): Promise<StripeAnswer> {
    const { customerId } = row;
    if (this.#underWay.has(customerId)) this.world.broken('two requests of one customer at once', customerId);
    this.#underWay.add(customerId);
    const answer = await this.#travel(handle);
    this.#underWay.delete(customerId);
    return answer;
  }

  #travel(handle: () => Handled): Promise<StripeAnswer> {
    const { chaos, clock } = this.life;
    const { faults } = this.world;
    if (this.life.dead) return new Promise(() => undefined);
    const fate = faults.fate(chaos);
    return new Promise((resolve) => {
      let over = false;
      const end = (answer: StripeAnswer) => {
        if (!over) resolve(answer);
        over = true;
      };
      this.life.after(TIMEOUT_MS, () => end({ kind: 'no_answer', message: 'timeout' }));
      if (fate === 'lost') return;
      clock.after(fate === 'late' ? chaos.between(1_000, this.world.horizonMs) : chaos.between(5, 50), () => {
        const { answer, tookMs } = handle();
        if (fate === 'reply_lost') return;
        const wrong = chaos.chance(faults.rate('wrongShape'));
        const shown: StripeAnswer = wrong ? { kind: 'wrong_shape', detail: 'no intent' } : answer;
        this.life.answer(tookMs + chaos.between(5, 50), () => end(shown));
      });
    });
  }
}
