/**
 * The ledger's SQL as a model: one call is one committed statement. `model-ledger.test.ts` holds it against PostgreSQL,
 * row by row. A rule can be taken out, to show that the simulator notices.
 */
import type { RowStatus } from '../../runtime/contract';
import type {
  BillingEvent,
  ChargeRow,
  ClaimAnswer,
  ClaimRequest,
  DeadLetter,
  LookAnswer,
  RowIdentity,
  Settlement,
} from '../../runtime/processor/ports';

/** What can be switched off. */
export type Rule =
  | 'save-fenced'
  | 'save-once'
  | 'gate'
  | 'absorbing'
  | 'hold-kept'
  | 'hold-once'
  | 'take-over-raises-fence'
  | 'settle-fenced'
  | 'late-success'
  | 'due-without-intent';

export interface Row {
  readonly customerId: string;
  readonly billingPeriod: string;
  readonly stripeCustomerId: string;
  paymentMethod: string | null;
  readonly amountCents: number;
  readonly currency: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  status: RowStatus;
  idempotencyKey: string;
  attempt: number;
  paymentIntentId: string | null;
  confirmStartedAt: number | null;
  chargeId: string | null;
  error: string | null;
  declineCode: string | null;
  reserved: boolean;
  claimedBy: string | null;
  claimExpiresAt: number | null;
  fence: bigint;
  readonly firstAttemptedAt: number;
  settledAt: number | null;
  updatedAt: number;
}

export interface Cap {
  limit: number | null;
  reserved: number;
  spent: number;
}

export interface ModelOptions {
  readonly claimTtlMs: number;
  /** Undefined: no cap is enforced. */
  readonly capDefaults: Readonly<Record<string, number>> | undefined;
  readonly overdueAfterMs: number;
  readonly recheckAfterMs: number;
  readonly closingReadAfterMs: number;
  readonly off?: ReadonlySet<Rule>;
}

export type Write =
  | { readonly op: 'freeze'; readonly paymentMethod: string }
  | { readonly op: 'save'; readonly paymentIntentId: string }
  | { readonly op: 'gate' }
  | { readonly op: 'release' }
  | { readonly op: 'drop'; readonly idempotencyKey: string }
  | { readonly op: 'next'; readonly idempotencyKey: string | null }
  | { readonly op: 'settle'; readonly settlement: Settlement };

export const nameOf = (of: RowIdentity): string => `${of.customerId}/${of.billingPeriod}`;
const UNSETTLED: ReadonlySet<RowStatus> = new Set([
  'pending',
  'processing',
  'action_required',
  'card_declined',
  'rejected',
]);
const SIX_HOURS = 21_600_000;

export class ModelLedger {
  readonly rows = new Map<string, Row>();
  readonly caps = new Map<string, Cap>();
  /** Identity, amount and currency of each conflict. */
  readonly conflicts = new Set<string>();
  /** Source and position. */
  readonly letters = new Map<string, DeadLetter>();

  constructor(
    readonly options: ModelOptions,
    private readonly clock: { readonly now: number },
  ) {}

  #on(rule: Rule): boolean {
    return !this.options.off?.has(rule);
  }

  look(events: readonly BillingEvent[]): LookAnswer[] {
    return events.map((event) => {
      const row = this.rows.get(nameOf(event));
      if (!row) return { outcome: 'claimable' };
      if (differs(row, event)) return { outcome: 'differs' };
      if (row.status !== 'pending') return { outcome: 'settled', status: row.status };
      return this.#expired(row) ? { outcome: 'claimable' } : { outcome: 'in_flight', retryInMs: this.#left(row) };
    });
  }

  claim(token: string, requests: readonly ClaimRequest[]): ClaimAnswer[] {
    const wanted = new Map<string, ClaimRequest>();
    for (const request of requests) {
      const name = nameOf(request.event);
      const row = this.rows.get(name);
      const takes = !row || (row.status === 'pending' && this.#expired(row) && !differs(row, request.event));
      if (takes && !wanted.has(name)) wanted.set(name, request);
    }
    for (const [name, request] of wanted) this.#insertOrTake(name, request, token);
    for (const { event } of requests) {
      if (!differs(this.rows.get(nameOf(event))!, event)) continue;
      this.conflicts.add(`${nameOf(event)} ${event.amountCents} ${event.currency}`);
    }
    this.#reserve(token, requests);
    const given = new Set<string>();
    return requests.map((request) => this.#answer(request, token, given));
  }

  #insertOrTake(name: string, request: ClaimRequest, token: string): void {
    const row = this.rows.get(name);
    if (!row) this.rows.set(name, fresh(request, token, this.clock.now, this.options.claimTtlMs));
    else this.#take(row, token);
  }

  #take(row: Row, token: string): void {
    row.claimedBy = token;
    row.claimExpiresAt = this.clock.now + this.options.claimTtlMs;
    if (this.#on('take-over-raises-fence')) row.fence += 1n;
  }

  #reserve(token: string, requests: readonly ClaimRequest[]): void {
    const seen = new Set<string>();
    for (const { event } of requests) {
      const row = this.rows.get(nameOf(event))!;
      if (seen.has(nameOf(event)) || row.status !== 'pending' || row.claimedBy !== token) continue;
      seen.add(nameOf(event));
      if (row.reserved && this.#on('hold-once')) continue;
      const cap = this.capOf(row);
      if (this.options.capDefaults) cap.limit ??= this.options.capDefaults[row.currency] ?? null;
      const fits = cap.limit !== null && row.amountCents <= cap.limit - cap.reserved - cap.spent;
      if (!this.options.capDefaults || fits) {
        cap.reserved += row.amountCents;
        row.reserved = true;
      } else {
        Object.assign(row, { status: 'cap_blocked', claimedBy: null, claimExpiresAt: null, updatedAt: this.clock.now });
      }
    }
  }

  capOf(row: { readonly billingPeriod: string; readonly currency: string }): Cap {
    const name = `${row.billingPeriod}/${row.currency}`;
    const cap = this.caps.get(name) ?? { limit: null, reserved: 0, spent: 0 };
    this.caps.set(name, cap);
    return cap;
  }

  #answer({ event }: ClaimRequest, token: string, given: Set<string>): ClaimAnswer {
    const row = this.rows.get(nameOf(event))!;
    const same = `${nameOf(event)} ${event.amountCents} ${event.currency}`;
    if (given.has(same)) return { outcome: 'duplicate' };
    given.add(same);
    if (differs(row, event)) return { outcome: 'conflict' };
    if (row.status === 'cap_blocked') return { outcome: 'cap_blocked' };
    if (row.status !== 'pending') return { outcome: 'settled', status: row.status };
    if (row.claimedBy !== token) return { outcome: 'in_flight', retryInMs: this.#left(row) };
    return { outcome: 'mine', row: toChargeRow(row) };
  }

  claimDue(token: string, limit: number): ChargeRow[] {
    const due = [...this.rows.values()].flatMap((row) => {
      if (row.claimedBy === token && !this.#expired(row)) return [{ row, own: true, since: row.claimExpiresAt! }];
      const since = this.#dueSince(row);
      return since === undefined ? [] : [{ row, own: false, since }];
    });
    due.sort((a, b) => Number(b.own) - Number(a.own) || a.since - b.since);
    return due.slice(0, limit).map(({ row, own }) => {
      if (own) row.claimExpiresAt = this.clock.now + this.options.claimTtlMs;
      else this.#take(row, token);
      return toChargeRow(row);
    });
  }

  #dueSince(row: Row): number | undefined {
    if (!this.#expired(row)) return undefined;
    if (!this.#on('due-without-intent') && row.paymentIntentId === null) return undefined;
    const { now } = this.clock;
    const since = Math.max(row.updatedAt, row.claimExpiresAt ?? 0);
    switch (row.status) {
      case 'pending':
        return row.claimExpiresAt! <= now - this.options.overdueAfterMs ? row.claimExpiresAt! : undefined;
      case 'processing':
      case 'action_required': {
        const age = Math.max((now - row.firstAttemptedAt) / 8, this.options.recheckAfterMs);
        return row.updatedAt <= now - Math.min(age, SIX_HOURS) ? since : undefined;
      }
      case 'card_declined':
      case 'rejected': {
        const unread = row.paymentIntentId !== null && row.settledAt === null;
        return unread && row.updatedAt <= now - this.options.closingReadAfterMs ? since : undefined;
      }
      default:
        return undefined;
    }
  }

  /** Whether the row was as expected, and the row as it is then. */
  write(given: ChargeRow, write: Write): ChargeRow | undefined {
    const row = this.rows.get(nameOf(given));
    if (!row || !this.#writeTo(row, given, write)) return undefined;
    return toChargeRow(row);
  }

  #writeTo(row: Row, given: ChargeRow, write: Write): boolean {
    const { now } = this.clock;
    const fenced = row.fence === given.fence && row.attempt === given.attempt;
    switch (write.op) {
      case 'freeze':
        if (!fenced || row.status !== 'pending') return false;
        if (row.paymentMethod !== null && row.paymentMethod !== write.paymentMethod) return false;
        Object.assign(row, { paymentMethod: write.paymentMethod, updatedAt: now });
        return true;
      case 'save': {
        const once = row.paymentIntentId === null || row.paymentIntentId === write.paymentIntentId;
        if (!once && this.#on('save-once')) return false;
        if (!(fenced && row.status === 'pending' && row.reserved) && this.#on('save-fenced')) return false;
        Object.assign(row, { paymentIntentId: write.paymentIntentId, updatedAt: now });
        return true;
      }
      case 'gate': {
        const open = fenced && row.status === 'pending' && row.reserved;
        const its = given.paymentIntentId !== null && row.paymentIntentId === given.paymentIntentId;
        if (!(open && its) && this.#on('gate')) return false;
        Object.assign(row, { confirmStartedAt: row.confirmStartedAt ?? now, updatedAt: now });
        return true;
      }
      case 'release':
        if (row.fence !== given.fence || row.status !== 'pending' || this.#expired(row)) return false;
        row.claimExpiresAt = now;
        return true;
      case 'drop':
        return this.#drop(row, given, write.idempotencyKey);
      case 'next':
        return this.#next(row, given, write.idempotencyKey);
      case 'settle':
        return this.#settle(row, given, write.settlement);
    }
  }

  #drop(row: Row, given: ChargeRow, key: string): boolean {
    if (row.fence !== given.fence) return false;
    const first =
      row.attempt === given.attempt &&
      given.paymentIntentId !== null &&
      row.paymentIntentId === given.paymentIntentId &&
      UNSETTLED.has(row.status);
    const again =
      row.attempt === given.attempt + 1 &&
      row.paymentIntentId === null &&
      row.idempotencyKey === key &&
      row.status === 'pending';
    if (!first && !again) return false;
    Object.assign(row, {
      paymentIntentId: null,
      confirmStartedAt: null,
      status: 'pending',
      settledAt: null,
      attempt: given.attempt + 1,
      idempotencyKey: key,
      claimExpiresAt: row.claimExpiresAt ?? this.clock.now,
      updatedAt: this.clock.now,
    });
    return true;
  }

  #next(row: Row, given: ChargeRow, key: string | null): boolean {
    if (row.fence !== given.fence || row.status !== 'pending') return false;
    if (row.paymentIntentId !== given.paymentIntentId || (key !== null && row.paymentIntentId !== null)) return false;
    const again = row.attempt === given.attempt + 1 && row.idempotencyKey === (key ?? row.idempotencyKey);
    if (row.attempt !== given.attempt && !again) return false;
    Object.assign(row, { attempt: given.attempt + 1, idempotencyKey: key ?? row.idempotencyKey });
    row.updatedAt = this.clock.now;
    return true;
  }

  #settle(row: Row, given: ChargeRow, settlement: Settlement): boolean {
    const { status, chargeId, error, declineCode, closed } = settlement;
    if (row.paymentIntentId !== given.paymentIntentId) return false;
    const fenced = row.fence === given.fence && row.attempt === given.attempt;
    const absorbing = this.#on('absorbing');
    if (status === 'charged') {
      if (given.paymentIntentId === null || row.status === 'zero_amount') return false;
      if (!this.#on('late-success') && !fenced) return false;
    } else if (this.#on('settle-fenced') && (!fenced || (absorbing && !UNSETTLED.has(row.status)))) return false;
    if (absorbing && (row.status === 'charged' || row.status === 'zero_amount')) return true;
    const frees = status === 'rejected' && row.paymentIntentId === null;
    const cap = this.capOf(row);
    if (status === 'charged') cap.spent += row.amountCents;
    const lost = !this.#on('hold-kept') && (status === 'card_declined' || status === 'rejected');
    const reserved = row.reserved && status !== 'charged' && !frees && !lost;
    if (row.reserved && !reserved) cap.reserved -= row.amountCents;
    const ends = status === 'charged' || frees || (closed && (status === 'card_declined' || status === 'rejected'));
    const again = row.status === status;
    Object.assign(row, {
      status,
      chargeId: chargeId ?? row.chargeId,
      error: error ?? (again ? row.error : null),
      declineCode: declineCode ?? (again ? row.declineCode : null),
      claimedBy: null,
      claimExpiresAt: null,
      updatedAt: this.clock.now,
      reserved,
      settledAt: ends ? this.clock.now : null,
    });
    return true;
  }

  deadLetter(letters: readonly DeadLetter[]): void {
    for (const letter of letters) {
      const name = `${letter.source} ${letter.sourcePosition}`;
      if (!this.letters.has(name)) this.letters.set(name, letter);
    }
  }

  #expired(row: Row): boolean {
    return row.claimExpiresAt === null || row.claimExpiresAt <= this.clock.now;
  }

  #left(row: Row): number {
    return Math.max(0, (row.claimExpiresAt ?? this.clock.now) - this.clock.now);
  }
}

export function differs(row: Row, event: BillingEvent): boolean {
  return row.amountCents !== event.amountCents || row.currency !== event.currency;
}

function toChargeRow({ confirmStartedAt, ...row }: Row): ChargeRow {
  return { ...row, confirmStarted: confirmStartedAt !== null };
}

function fresh({ event, idempotencyKey, description }: ClaimRequest, token: string, now: number, ttlMs: number): Row {
  const free = event.amountCents === 0;
  return {
    customerId: event.customerId,
    billingPeriod: event.billingPeriod,
    stripeCustomerId: event.stripeCustomerId,
    paymentMethod: event.paymentMethod ?? null,
    amountCents: event.amountCents,
    currency: event.currency,
    description,
    metadata: event.metadata ?? null,
    status: free ? 'zero_amount' : 'pending',
    idempotencyKey,
    attempt: 1,
    paymentIntentId: null,
    confirmStartedAt: null,
    chargeId: null,
    error: null,
    declineCode: null,
    reserved: false,
    claimedBy: free ? null : token,
    claimExpiresAt: free ? null : now + ttlMs,
    fence: 1n,
    firstAttemptedAt: now,
    settledAt: free ? now : null,
    updatedAt: now,
  };
}
