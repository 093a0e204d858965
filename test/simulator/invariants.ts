/** What must hold after every step, and at the end. */

import { createDecoder } from '../../runtime/decode';
import type { BillingEvent } from '../../runtime/processor/ports';
import { differs, nameOf, type Row } from './model-ledger';
import type { Success } from './model-stripe';
import type { SimShard } from './sim-stream';
import type { Simulation } from './simulation';

/** A promise was broken; the message says which, in which history. */
export class Broken extends Error {
  override readonly name = 'Broken';

  constructor(
    readonly rule: string,
    readonly seed: number,
    atMs: number,
    detail: string,
  ) {
    super(`SIM_SEED=${seed}: ${rule} at ${atMs} ms: ${detail}`);
  }
}

export interface Book {
  broken(rule: string, detail: string): void;
  moneyMoved(success: Success): void;
  rowsChanged(): void;
  checkpointed(shard: SimShard, position: number): void;
  /** Throws what was found since the last step. */
  check(): void;
  /** Whether nothing is left to be done. */
  atRest(): boolean;
  stuck(): never;
}

const decode = createDecoder({ defaultCurrency: 'usd' });

export class Books implements Book {
  readonly #charged = new Map<string, string>();
  readonly #successes = new Map<string, Success>();
  #found: Broken | undefined;

  constructor(private readonly world: Simulation) {}

  moneyMoved(success: Success): void {
    const { intent } = success;
    const row = this.world.ledger.model.rows.get(intent.name);
    if (this.#successes.has(intent.name)) this.broken('two charges of one identity', `${intent.name} ${intent.id}`);
    this.#successes.set(intent.name, success);
    if (!row) {
      this.broken('money without a row', intent.name);
      return;
    }
    if (row.paymentIntentId !== intent.id) this.broken('the charged intent is not the row’s', show(row));
    if (row.amountCents !== intent.amountCents || row.currency !== intent.currency) {
      this.broken('another amount than the row’s', show(row));
    }
    if (!row.reserved) this.broken('money moved without a hold', show(row));
  }

  rowsChanged(): void {
    const { rows, caps } = this.world.ledger.model;
    const sums = new Map([...caps.keys()].map((name) => [name, { reserved: 0, spent: 0 }]));
    for (const [name, row] of rows) {
      const sum = sums.get(`${row.billingPeriod}/${row.currency}`);
      if (sum && row.reserved) sum.reserved += row.amountCents;
      if (sum && row.status === 'charged') sum.spent += row.amountCents;
      this.#chargedStays(name, row);
      if (row.status === 'pending' && row.claimExpiresAt === null) this.broken('a pending row of nobody', show(row));
      if (row.status === 'pending' && row.paymentIntentId !== null && !row.reserved) {
        this.broken('a pending row without its hold', show(row));
      }
    }
    for (const [name, cap] of caps) {
      const sum = sums.get(name)!;
      if (cap.reserved !== sum.reserved || cap.spent !== sum.spent) {
        this.broken('the cap does not add up', `${name} ${JSON.stringify({ cap, sum })}`);
      }
      if (cap.limit !== null && cap.reserved + cap.spent > cap.limit) {
        this.broken('the cap is overrun', `${name} ${JSON.stringify(cap)}`);
      }
    }
  }

  #chargedStays(name: string, row: Row): void {
    const was = this.#charged.get(name);
    if (row.status !== 'charged') {
      if (was !== undefined) this.broken('charged was overwritten', show(row));
      return;
    }
    const success = this.#successes.get(name);
    if (success?.intent.id !== row.paymentIntentId) this.broken('charged without a charge', show(row));
    if (was !== undefined && was !== row.paymentIntentId) this.broken('charged changed its intent', show(row));
    this.#charged.set(name, row.paymentIntentId!);
  }

  checkpointed(shard: SimShard, position: number): void {
    for (const { delivery } of shard.published.slice(0, position)) {
      const why = this.#unaccounted(shard, delivery.position, delivery.body);
      if (why) this.broken('a checkpoint passed an event that is nowhere', `${shard.id}/${delivery.position} ${why}`);
    }
  }

  #unaccounted(shard: SimShard, position: string, body: Uint8Array): string | undefined {
    const { rows, conflicts, letters } = this.world.ledger.model;
    const decoded = decode(body);
    if (!decoded.ok) return letters.has(`sim/${shard.id} ${position}`) ? undefined : 'no dead letter';
    const event: BillingEvent = decoded.event;
    const row = rows.get(nameOf(event));
    if (!row) return 'no row';
    if (!differs(row, event)) return undefined;
    return conflicts.has(`${nameOf(event)} ${event.amountCents} ${event.currency}`) ? undefined : 'no conflict';
  }

  check(): void {
    if (this.#found) throw this.#found;
  }

  atRest(): boolean {
    return this.#open() === undefined;
  }

  stuck(): never {
    throw new Broken('stuck', this.world.seed, this.world.clock.now, this.#open() ?? 'at rest after all');
  }

  #open(): string | undefined {
    const shard = this.world.shards.find(({ finished }) => !finished);
    if (shard) return `checkpoint ${shard.checkpoint} of ${shard.published.length} in shard ${shard.id}`;
    for (const [name, row] of this.world.ledger.model.rows) {
      if (row.status === 'pending') return show(row);
      const intent = this.world.stripe.intents.get(row.paymentIntentId ?? '');
      const waits = row.status === 'processing' || row.status === 'action_required';
      if (waits && intent?.status !== row.status && intent?.status !== 'requires_action') return show(row);
      const success = this.#successes.get(name);
      const closed = row.status !== 'charged' && row.settledAt !== null;
      if (success && row.status !== 'charged' && !(closed && row.settledAt! <= success.at)) return show(row);
    }
    return undefined;
  }

  broken(rule: string, detail: string): void {
    this.#found ??= new Broken(rule, this.world.seed, this.world.clock.now, detail);
  }
}

function show(row: Row): string {
  return JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
