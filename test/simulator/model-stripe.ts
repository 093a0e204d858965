/**
 * Stripe's account: intents that succeed at most once, keys that replay until they are pruned, and the books. What the
 * customer does later (3-D Secure, a bank debit, another card on the link, a cancel in the dashboard) happens by itself.
 */
import type { ChargeRow, IntentView, StripeAnswer } from '../../runtime/processor/ports';
import type { Clock } from './clock';
import type { Faults } from './faults';
import { nameOf } from './model-ledger';
import type { Random } from './random';

export interface Intent {
  readonly id: string;
  /** Customer and period. */
  readonly name: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly created: number;
  status: IntentView['status'];
  chargeId?: string;
}

export interface Success {
  readonly intent: Intent;
  readonly at: number;
}

export type Post = 'create' | 'confirm';

interface Kept {
  readonly params: string;
  answer: StripeAnswer | 'in_flight';
}

/** Answers, and after how long. */
export interface Handled {
  readonly answer: StripeAnswer;
  readonly tookMs: number;
}

export class ModelStripe {
  readonly intents = new Map<string, Intent>();
  readonly books: Success[] = [];
  /** Called whenever money moves. */
  onSuccess: (success: Success) => void = () => undefined;
  readonly #keys = new Map<string, Kept>();

  constructor(
    private readonly clock: Clock,
    private readonly chaos: Random,
    private readonly faults: Faults,
    private readonly createConfirms: boolean,
  ) {}

  pruneKeys(): void {
    for (const [key, kept] of this.#keys) if (kept.answer !== 'in_flight') this.#keys.delete(key);
  }

  post(what: Post, row: ChargeRow): Handled {
    const { faults, chaos } = this;
    const tookMs = chaos.delay(300, 20_000, faults.slow);
    const refusal = faults.refusedBefore(chaos, this.clock.now);
    if (refusal) return { answer: refusal, tookMs: 5 };
    const key = what === 'create' ? row.idempotencyKey : `${row.idempotencyKey}-confirm-${row.attempt}`;
    const params = `${what} ${row.amountCents} ${row.currency} ${row.paymentMethod} ${what === 'confirm' ? row.paymentIntentId : row.attempt}`;
    const kept = this.#keys.get(key);
    if (kept?.answer === 'in_flight') return { answer: { kind: 'busy', why: 'in_use' }, tookMs: 5 };
    if (kept && kept.params !== params) {
      return { answer: { kind: 'idempotency_mismatch', message: 'other parameters' }, tookMs: 5 };
    }
    if (kept) return { answer: replay(kept.answer as StripeAnswer), tookMs: 5 };
    const entry: Kept = { params, answer: 'in_flight' };
    this.#keys.set(key, entry);
    const { answer, stored } = this.#execute(what, row);
    this.clock.after(tookMs, () => {
      entry.answer = answer;
      if (!stored) this.#keys.delete(key);
    });
    return { answer, tookMs };
  }

  #execute(what: Post, row: ChargeRow): { answer: StripeAnswer; stored: boolean } {
    const { chaos, faults } = this;
    const failure = faults.serverError(chaos);
    const error: StripeAnswer = { kind: 'server_error', status: 500, replayed: false, message: 'fault' };
    if (failure?.when === 'before') return { answer: error, stored: failure.stored };
    const answer = what === 'create' ? this.#create(row) : this.#confirm(row);
    if (failure) return { answer: error, stored: failure.stored };
    const refused = answer.kind === 'refused' || answer.kind === 'unexpected_state';
    return { answer, stored: !refused || chaos.chance(0.5) };
  }

  #create(row: ChargeRow): StripeAnswer {
    if (this.faults.refused(this.chaos)) return refusedAnswer();
    const id = `pi_${this.intents.size + 1}`;
    const { amountCents, currency } = row;
    const intent: Intent = {
      id,
      name: nameOf(row),
      amountCents,
      currency,
      created: this.clock.now,
      status: 'requires_confirmation',
    };
    this.intents.set(id, intent);
    if (this.createConfirms) this.#succeed(intent);
    return { kind: 'intent', intent: view(intent), replayed: false };
  }

  #confirm(row: ChargeRow): StripeAnswer {
    const intent = this.intents.get(row.paymentIntentId ?? '');
    if (!intent) return refusedAnswer();
    if (intent.status === 'succeeded' || intent.status === 'canceled' || intent.status === 'processing') {
      return { kind: 'unexpected_state', ...(this.chaos.chance(0.9) && { intent: view(intent) }) };
    }
    if (this.faults.refused(this.chaos)) return refusedAnswer();
    switch (this.faults.outcome(this.chaos)) {
      case 'succeeded':
        this.#succeed(intent);
        break;
      case 'declined':
        intent.status = 'requires_payment_method';
        this.#later(intent, 'requires_payment_method', this.faults.customer, ['succeeded']);
        return { kind: 'declined', declineCode: 'generic_decline', message: 'declined', replayed: false };
      case 'processing':
        intent.status = 'processing';
        this.#later(intent, 'processing', 1, ['succeeded', 'requires_payment_method']);
        break;
      case 'requires_action':
        intent.status = 'requires_action';
        this.#later(intent, 'requires_action', this.faults.customer, ['succeeded', 'requires_payment_method']);
        break;
    }
    return { kind: 'intent', intent: view(intent), replayed: false };
  }

  #later(intent: Intent, from: Intent['status'], probability: number, to: readonly Intent['status'][]): void {
    if (!this.chaos.chance(probability)) return;
    const becomes = this.chaos.pick(to);
    this.clock.after(this.chaos.delay(60_000, 900_000, 0.5), () => {
      if (intent.status !== from) return;
      if (becomes === 'succeeded') this.#succeed(intent);
      else {
        intent.status = becomes;
        this.#later(intent, becomes, this.faults.customer, ['succeeded']);
      }
    });
  }

  /** In the dashboard, by hand. */
  cancelSome(): void {
    const open = [...this.intents.values()].filter(({ status }) => status.startsWith('requires_'));
    if (open.length > 0) this.chaos.pick(open).status = 'canceled';
  }

  #succeed(intent: Intent): void {
    intent.status = 'succeeded';
    intent.chargeId = `ch_${this.books.length + 1}`;
    const success = { intent, at: this.clock.now };
    this.books.push(success);
    this.onSuccess(success);
  }

  get(what: 'retrieve' | 'list', row: ChargeRow): Handled {
    const refusal = this.faults.refusedBefore(this.chaos, this.clock.now);
    if (refusal) return { answer: refusal, tookMs: 5 };
    const tookMs = this.chaos.delay(100, 5_000, this.faults.slow);
    if (what === 'list') {
      const intents = [...this.intents.values()].filter(({ name }) => name === nameOf(row)).map(view);
      return { answer: { kind: 'intents', intents }, tookMs };
    }
    const intent = this.intents.get(row.paymentIntentId ?? '');
    if (!intent) return { answer: refusedAnswer(), tookMs };
    return { answer: { kind: 'intent', intent: view(intent), replayed: false }, tookMs };
  }
}

/** A replay is the old answer, as it was. */
function replay(answer: StripeAnswer): StripeAnswer {
  return 'replayed' in answer ? { ...answer, replayed: true } : answer;
}

function refusedAnswer(): StripeAnswer {
  return { kind: 'refused', status: 400, code: 'parameter_invalid', message: 'refused' };
}

function view({ id, status, chargeId, created }: Intent): IntentView {
  return { id, status, created, ...(chargeId === undefined ? {} : { chargeId }) };
}
