/** One random sequence of calls, driven through the real ledger and through the model, answer by answer, row by row. */
import { systemHost } from '../../runtime/host/host';
import type { Ledger } from '../../runtime/ledger';
import type { BillingEvent, ChargeRow, ClaimRequest, Settlement } from '../../runtime/processor/ports';
import type { LedgerDatabase } from '../support/ledger-database';
import { ModelLedger, type ModelOptions, nameOf, type Write } from './model-ledger';
import { Random } from './random';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const STATUSES = ['charged', 'processing', 'action_required', 'card_declined', 'rejected'] as const;
/** Times differ by what a statement takes. */
const NEAR_MS = 5_000;
const FAR_MS = [13_000, 90_000, 1_000_000, 30_000_000];

/** The real time that passes, and what is skipped in both ledgers. */
class SkippingClock {
  #skipped = 0;

  get now(): number {
    return systemHost.monotonic() + this.#skipped;
  }

  skip(ms: number): void {
    this.#skipped += ms;
  }
}

export class SideBySide {
  readonly #clock = new SkippingClock();
  readonly #model: ModelLedger;
  readonly #random: Random;
  /** Rows as they were given at some time, current or long out of date. */
  readonly #given: ChargeRow[] = [];
  readonly calls: string[] = [];

  constructor(
    seed: number,
    private readonly real: Ledger,
    private readonly database: LedgerDatabase,
    options: ModelOptions,
  ) {
    this.#random = new Random(seed);
    this.#model = new ModelLedger(options, this.#clock);
  }

  /** Answers what differs, or undefined. */
  async step(): Promise<string | undefined> {
    const differs = await this.#call();
    if (differs) return differs;
    const [modelled, real] = [this.#modelRows(), await this.#realRows()];
    return JSON.stringify(modelled) === JSON.stringify(real)
      ? undefined
      : `rows\n${JSON.stringify(modelled)}\n${JSON.stringify(real)}`;
  }

  #call(): Promise<string | undefined> {
    const dice = this.#random.between(1, 100);
    if (dice <= 25 || this.#given.length === 0) return this.#claim();
    if (dice <= 30) return this.#look();
    if (dice <= 38) return this.#claimDue();
    if (dice <= 48) return this.#skip();
    return this.#write();
  }

  #events(): BillingEvent[] {
    return Array.from({ length: this.#random.between(1, 6) }, () => {
      const customerId = this.#random.pick(NAMES);
      return {
        customerId,
        billingPeriod: this.#random.pick(['p1', 'p2']),
        stripeCustomerId: `cus_${customerId}`,
        amountCents: this.#random.pick([0, 700, 1_000, 1_000, 1_000, 1_000]),
        currency: this.#random.chance(0.9) ? 'usd' : 'eur',
        ...(this.#random.chance(0.5) && { paymentMethod: 'pm_a' }),
      };
    });
  }

  async #claim(): Promise<string | undefined> {
    const requests = this.#events().map(
      (event, index): ClaimRequest => ({
        event,
        idempotencyKey: `key ${nameOf(event)}`,
        description: 'Usage',
        source: 's',
        sourcePosition: String(index),
      }),
    );
    const model = this.#model.claim(systemHost.uuid(), requests);
    const real = await this.real.claim(requests);
    for (const answer of real) if (answer.outcome === 'mine') this.#given.push(answer.row);
    return this.#compare('claim', requests, model, real);
  }

  async #look(): Promise<string | undefined> {
    const events = this.#events();
    const model = this.#model.look(events);
    return this.#compare('look', events, model, await this.real.look(events));
  }

  async #claimDue(): Promise<string | undefined> {
    const sorted = (rows: readonly ChargeRow[]) => [...rows].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    const model = sorted(this.#model.claimDue(systemHost.uuid(), 100));
    const real = sorted(await this.real.claimDue(100));
    this.#given.push(...real);
    return this.#compare('claimDue', [], model, real);
  }

  async #skip(): Promise<undefined> {
    const ms = this.#random.pick(FAR_MS);
    this.calls.push(`skip ${ms}`);
    this.#clock.skip(ms);
    await this.database.query(
      `UPDATE billing_records SET claim_expires_at = claim_expires_at - $1 * interval '1 ms',
         first_attempted_at = first_attempted_at - $1 * interval '1 ms',
         settled_at = settled_at - $1 * interval '1 ms', updated_at = updated_at - $1 * interval '1 ms'`,
      [ms],
    );
  }

  /** Writes that arrive together, at most one of a row, so that they share a statement. */
  async #write(): Promise<string | undefined> {
    const together = new Map<string, ChargeRow>();
    for (let count = this.#random.between(1, 3); count > 0; count--) {
      // Mostly a row of late; then again one from long ago.
      const from = this.#random.chance(0.7) ? this.#given.slice(-8) : this.#given;
      const row = this.#random.pick(from);
      together.set(nameOf(row), this.#maybeNewer(row));
    }
    const writes = [...together.values()].map((row) => ({ row, write: this.#anyWrite(row) }));
    const model = writes.map(({ row, write }) => this.#model.write(row, write));
    const real = await Promise.all(writes.map(({ row, write }) => this.#really(row, write)));
    const seen = writes.map(({ write }, index) =>
      typeof real[index] === 'object' ? model[index] : seenOf(write, model[index]),
    );
    return this.#compare('write', writes, seen, real);
  }

  /** The row as it is now, as its holder would know it. */
  #maybeNewer(row: ChargeRow): ChargeRow {
    const now = this.#model.rows.get(nameOf(row));
    if (!now || this.#random.chance(0.3)) return row;
    const { attempt, paymentIntentId, fence } = now;
    const newer = { ...row, attempt, paymentIntentId, ...(this.#random.chance(0.8) && { fence }) };
    this.#given.push(newer);
    return newer;
  }

  #anyWrite(row: ChargeRow): Write {
    const random = this.#random;
    switch (random.between(1, 9)) {
      case 1:
        return { op: 'freeze', paymentMethod: random.pick(['pm_a', 'pm_b']) };
      case 2:
      case 3:
        return { op: 'save', paymentIntentId: `pi_${nameOf(row)}_${random.between(1, 2)}` };
      case 4:
        return { op: 'gate' };
      case 5:
        return { op: 'release' };
      case 6:
        return { op: 'drop', idempotencyKey: `key ${nameOf(row)} ${row.attempt + 1}` };
      case 7:
        return { op: 'next', idempotencyKey: random.chance(0.5) ? null : `key ${nameOf(row)} ${row.attempt + 1}` };
      default:
        return { op: 'settle', settlement: this.#settlement() };
    }
  }

  #settlement(): Settlement {
    const random = this.#random;
    return {
      status: random.pick(STATUSES),
      ...(random.chance(0.5) && { chargeId: 'ch_1' }),
      ...(random.chance(0.5) && { error: 'declined', declineCode: 'generic_decline' }),
      ...(random.chance(0.3) && { closed: true }),
    };
  }

  async #really(row: ChargeRow, write: Write): Promise<ChargeRow | boolean | undefined> {
    switch (write.op) {
      case 'freeze':
        return this.real.freezePaymentMethod(row, write.paymentMethod);
      case 'save':
        return this.real.saveIntent(row, write.paymentIntentId);
      case 'gate':
        return this.real.gate(row);
      case 'release':
        await this.real.release(row);
        return undefined;
      case 'drop':
        return this.real.dropIntent(row, write.idempotencyKey);
      case 'next':
        return this.real.nextAttempt(row, write.idempotencyKey ?? undefined);
      case 'settle':
        return this.real.settle(row, write.settlement);
    }
  }

  #compare(call: string, input: unknown, model: unknown, real: unknown): string | undefined {
    const text = (value: unknown) => JSON.stringify(value, plain);
    this.calls.push(`${call} ${text(input)}`);
    return text(model) === text(real) ? undefined : `${call}\n${text(model)}\n${text(real)}`;
  }

  #modelRows(): unknown {
    const { rows, caps, conflicts } = this.#model;
    const near = (at: number | null) => (at === null ? null : Math.round((at - this.#clock.now) / NEAR_MS / 2));
    const state = [...rows.values()].map((row) => [
      nameOf(row),
      [row.status, row.attempt, row.idempotencyKey, row.paymentIntentId, row.confirmStartedAt !== null],
      [row.chargeId, row.error, row.declineCode, row.reserved, String(row.fence), row.paymentMethod],
      [near(row.claimExpiresAt), near(row.settledAt), near(row.updatedAt), near(row.firstAttemptedAt)],
    ]);
    const held = [...caps].map(([name, cap]) => [name, cap.limit, cap.reserved, cap.spent]);
    return { rows: state.sort(byName), caps: held.sort(byName), conflicts: [...conflicts].sort() };
  }

  async #realRows(): Promise<unknown> {
    const near = (column: string) =>
      `round(extract(epoch FROM ${column} - clock_timestamp()) * 1000 / ${NEAR_MS} / 2)::float8`;
    const [found] = await this.database.query<{ state: unknown }>(`SELECT json_build_object(
      'rows', (SELECT coalesce(json_agg(json_build_array(customer_id || '/' || billing_period,
          json_build_array(status, attempt, idempotency_key, payment_intent_id, confirm_started_at IS NOT NULL),
          json_build_array(charge_id, error, decline_code, reserved, fence::text, payment_method),
          json_build_array(${near('claim_expires_at')}, ${near('settled_at')}, ${near('updated_at')},
            ${near('first_attempted_at')}))
        ORDER BY customer_id, billing_period), '[]') FROM billing_records),
      'caps', (SELECT coalesce(json_agg(json_build_array(billing_period || '/' || currency, limit_cents,
        reserved_cents, spent_cents) ORDER BY billing_period, currency), '[]') FROM spend_caps),
      'conflicts', (SELECT coalesce(json_agg(c ORDER BY c COLLATE "C"), '[]') FROM (
        SELECT customer_id || '/' || billing_period || ' ' || amount_cents || ' ' || currency AS c
        FROM billing_conflicts) x)) AS state`);
    return found?.state;
  }
}

/** A write that answers no row says whether it was done; a release says nothing. */
function seenOf(write: Write, row: ChargeRow | undefined): ChargeRow | boolean | undefined {
  if (write.op === 'release') return undefined;
  return write.op === 'drop' || write.op === 'next' ? row : row !== undefined;
}

function byName(a: readonly unknown[], b: readonly unknown[]): number {
  return String(a[0]) < String(b[0]) ? -1 : 1;
}

const CHARGE_ROW = [
  'customerId',
  'billingPeriod',
  'stripeCustomerId',
  'paymentMethod',
  'amountCents',
  'currency',
  'description',
  'metadata',
  'status',
  'idempotencyKey',
  'attempt',
  'paymentIntentId',
  'confirmStarted',
  'reserved',
  'fence',
];

/** For JSON: rows without what only the model knows, times coarse. */
function plain(key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (key === 'retryInMs') return Math.round(Number(value) / NEAR_MS / 2);
  if (typeof value !== 'object' || value === null || !('fence' in value)) return value;
  const row = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(CHARGE_ROW.map((name) => [name, row[name]]));
}
