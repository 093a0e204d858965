/**
 * The ledger's promises in memory, on a fake clock: claims that expire, fences, insert-once intents, absorbing
 * `charged`. For tests of the processor alone; the real one is tested on PostgreSQL.
 */
import type { Host } from '../../runtime/host/host';
import type {
  BillingEvent,
  ChargeRow,
  ClaimAnswer,
  ClaimRequest,
  DeadLetter,
  LedgerPort,
  LookAnswer,
  RowIdentity,
  Settlement,
} from '../../runtime/processor/ports';

interface Stored {
  row: ChargeRow;
  claimedUntil: number;
}

const nameOf = (row: RowIdentity) => `${row.customerId}/${row.billingPeriod}`;

export class MemoryLedger implements LedgerPort {
  readonly rows = new Map<string, Stored>();
  readonly letters: DeadLetter[] = [];
  readonly conflicts: ClaimRequest[] = [];
  readonly released: string[] = [];
  /** Sizes of the claims, in order. */
  readonly claims: number[] = [];
  looks = 0;
  /** While set, every call rejects with it. */
  failure: Error | undefined;

  constructor(
    private readonly host: Host,
    private readonly ttlMs: number,
  ) {}

  status(customerId: string, billingPeriod = '2026-10'): string | undefined {
    return this.rows.get(`${customerId}/${billingPeriod}`)?.row.status;
  }

  /** Claims the row for somebody else, as another worker would. */
  claimElsewhere(event: BillingEvent, forMs: number): void {
    const request = { event, idempotencyKey: `key of ${nameOf(event)}`, description: null };
    const row = this.#fresh({ ...request, source: 'elsewhere', sourcePosition: '0' });
    this.rows.set(nameOf(event), { row, claimedUntil: this.host.monotonic() + forMs });
  }

  settleElsewhere(event: BillingEvent, status: ChargeRow['status']): void {
    const stored = this.rows.get(nameOf(event))!;
    stored.row = { ...stored.row, status };
  }

  async look(events: readonly BillingEvent[]): Promise<LookAnswer[]> {
    this.#mayFail();
    this.looks++;
    return events.map((event) => {
      const stored = this.rows.get(nameOf(event));
      if (!stored) return { outcome: 'claimable' };
      if (stored.row.amountCents !== event.amountCents) return { outcome: 'differs' };
      if (stored.row.status !== 'pending') return { outcome: 'settled', status: stored.row.status };
      const retryInMs = stored.claimedUntil - this.host.monotonic();
      return retryInMs <= 0 ? { outcome: 'claimable' } : { outcome: 'in_flight', retryInMs };
    });
  }

  async claim(requests: readonly ClaimRequest[]): Promise<ClaimAnswer[]> {
    this.#mayFail();
    this.claims.push(requests.length);
    return requests.map((request) => this.#claimOne(request));
  }

  async claimDue(limit: number): Promise<ChargeRow[]> {
    this.#mayFail();
    const due = [...this.rows.values()].filter(
      ({ row, claimedUntil }) =>
        ['pending', 'processing', 'action_required'].includes(row.status) && claimedUntil <= this.host.monotonic(),
    );
    return due.slice(0, limit).map((stored) => this.#take(stored));
  }

  async freezePaymentMethod(row: ChargeRow, paymentMethod: string): Promise<boolean> {
    return this.#change(row, () => ({ paymentMethod }));
  }

  async saveIntent(row: ChargeRow, paymentIntentId: string): Promise<boolean> {
    return this.#change(row, (now) =>
      now.paymentIntentId === null || now.paymentIntentId === paymentIntentId ? { paymentIntentId } : undefined,
    );
  }

  async gate(row: ChargeRow): Promise<boolean> {
    return this.#change(row, () => ({ confirmStarted: true }));
  }

  async settle(row: ChargeRow, settlement: Settlement): Promise<boolean> {
    this.#mayFail();
    const stored = this.rows.get(nameOf(row));
    if (!stored || stored.row.paymentIntentId !== row.paymentIntentId) return false;
    if (settlement.status !== 'charged' && stored.row.fence !== row.fence) return false;
    if (stored.row.status !== 'charged') stored.row = { ...stored.row, status: settlement.status };
    stored.claimedUntil = this.host.monotonic() + 60_000;
    return true;
  }

  async dropIntent(row: ChargeRow, newIdempotencyKey: string): Promise<ChargeRow | undefined> {
    const changes = { paymentIntentId: null, confirmStarted: false, idempotencyKey: newIdempotencyKey };
    const done = await this.#change(row, (now) => ({ ...changes, attempt: now.attempt + 1 }));
    return done ? this.rows.get(nameOf(row))!.row : undefined;
  }

  async nextAttempt(row: ChargeRow, newIdempotencyKey?: string): Promise<ChargeRow | undefined> {
    const key = newIdempotencyKey === undefined ? {} : { idempotencyKey: newIdempotencyKey };
    const done = await this.#change(row, (now) => ({ attempt: now.attempt + 1, ...key }));
    return done ? this.rows.get(nameOf(row))!.row : undefined;
  }

  async release(row: ChargeRow): Promise<void> {
    this.#mayFail();
    const stored = this.rows.get(nameOf(row));
    if (stored?.row.fence !== row.fence) return;
    stored.claimedUntil = this.host.monotonic();
    this.released.push(nameOf(row));
  }

  async deadLetter(letters: readonly DeadLetter[]): Promise<void> {
    this.#mayFail();
    this.letters.push(...letters);
  }

  #claimOne(request: ClaimRequest): ClaimAnswer {
    const name = nameOf(request.event);
    const stored = this.rows.get(name);
    if (!stored) {
      if (request.event.amountCents === 0) {
        this.rows.set(name, { row: this.#fresh(request, 'zero_amount'), claimedUntil: 0 });
        return { outcome: 'settled', status: 'zero_amount' };
      }
      const row = this.#fresh(request);
      this.rows.set(name, { row, claimedUntil: this.host.monotonic() + this.ttlMs });
      return { outcome: 'mine', row };
    }
    if (stored.row.amountCents !== request.event.amountCents) {
      this.conflicts.push(request);
      return { outcome: 'conflict' };
    }
    if (stored.row.status !== 'pending') return { outcome: 'settled', status: stored.row.status };
    const retryInMs = stored.claimedUntil - this.host.monotonic();
    if (retryInMs > 0) return { outcome: 'in_flight', retryInMs };
    return { outcome: 'mine', row: this.#take(stored) };
  }

  #take(stored: Stored): ChargeRow {
    stored.row = { ...stored.row, fence: stored.row.fence + 1n };
    stored.claimedUntil = this.host.monotonic() + this.ttlMs;
    return stored.row;
  }

  async #change(row: ChargeRow, change: (now: ChargeRow) => Partial<ChargeRow> | undefined): Promise<boolean> {
    this.#mayFail();
    const stored = this.rows.get(nameOf(row));
    if (stored?.row.fence !== row.fence || stored.row.attempt !== row.attempt) return false;
    const changes = change(stored.row);
    if (changes === undefined) return false;
    stored.row = { ...stored.row, ...changes };
    return true;
  }

  #fresh(request: ClaimRequest, status: ChargeRow['status'] = 'pending'): ChargeRow {
    const { event } = request;
    return {
      customerId: event.customerId,
      billingPeriod: event.billingPeriod,
      stripeCustomerId: event.stripeCustomerId,
      paymentMethod: event.paymentMethod ?? null,
      amountCents: event.amountCents,
      currency: event.currency,
      description: request.description,
      metadata: event.metadata ?? null,
      status,
      idempotencyKey: request.idempotencyKey,
      attempt: 1,
      paymentIntentId: null,
      confirmStarted: false,
      reserved: true,
      fence: 1n,
    };
  }

  #mayFail(): void {
    if (this.failure) throw this.failure;
  }
}
