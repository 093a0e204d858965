/** One history: events, a fleet, a ledger, Stripe, and all that may go wrong between them, from one seed. */
import { Clock } from './clock';
import { Faults } from './faults';
import { type Book, Books } from './invariants';
import { ModelLedger, type ModelOptions } from './model-ledger';
import { ModelStripe } from './model-stripe';
import { Random } from './random';
import { SimShard } from './sim-stream';
import { SimWorker } from './sim-worker';
import type { Settings, Simulation, Twin } from './simulation';

/** How long a kind world may take to bring everything to its end. */
const KIND_FOR_MS = 4 * 3_600_000;
const LEASE_MS = 10_000;

type Process = Parameters<Simulation['crash']>[0];

export class World implements Simulation {
  readonly clock = new Clock();
  readonly chaos: Random;
  readonly faults: Faults;
  readonly horizonMs: number;
  readonly settings: Settings;
  readonly shards: SimShard[];
  readonly stripe: ModelStripe;
  readonly ledger: Simulation['ledger'];
  readonly books: Book;
  #workers: SimWorker[] = [];
  #started = 0;
  #ledgerDownUntil = 0;

  constructor(
    readonly seed: number,
    readonly twin: Twin = {},
    without: Iterable<string> = [],
  ) {
    const random = new Random(seed);
    this.chaos = random;
    this.faults = new Faults(random, new Set(without));
    this.horizonMs = random.between(2, 20) * 60_000;
    this.settings = settingsOf(random);
    this.stripe = new ModelStripe(this.clock, random, this.faults, twin.createConfirms ?? false);
    const model = new ModelLedger(modelOptions(random, this.settings, twin), this.clock);
    this.shards = Array.from({ length: random.between(1, 2) }, (_, index) => new SimShard(String(index)));
    this.#publish(random);
    const books = new Books(this);
    this.books = books;
    this.stripe.onSuccess = (success) => books.moneyMoved(success);
    this.ledger = {
      model,
      changed: (statement) => {
        const answer = statement();
        books.rowsChanged();
        return answer;
      },
    };
  }

  #publish(random: Random): void {
    const customers = ['a', 'b', 'c'].slice(0, random.between(1, 3));
    const count = random.between(1, 8);
    for (let event = 0; event < count; event++) {
      const customer = random.pick(customers);
      const body = {
        customer_id: customer,
        billing_period: random.chance(0.85) ? 'p1' : 'p2',
        stripe_customer_id: `cus_${customer}`,
        amount_cents: random.chance(0.05) ? 0 : random.chance(0.9) ? 1_000 : 700,
        ...(random.chance(0.7) && { payment_method: `pm_${customer}` }),
      };
      const shard = random.pick(this.shards);
      shard.publish(random.chance(0.05) ? 'no event' : body, random.between(0, this.horizonMs / 2));
    }
  }

  ledgerDown = (): boolean => this.clock.now < this.#ledgerDownUntil;
  broken = (rule: string, detail: string): void => this.books.broken(rule, detail);
  checkpointed = (shard: SimShard, position: number): void => this.books.checkpointed(shard, position);

  /** Runs the history to its end; throws `Broken` when a promise was. */
  async run(): Promise<void> {
    const fleet = this.chaos.between(1, 3);
    for (let index = 0; index < fleet; index++) this.#start();
    for (const shard of this.shards) this.chaos.pick(this.#workers).own(shard);
    this.#schedule();
    while (this.clock.now < this.horizonMs && (await this.#step()));
    this.faults.over = true;
    for (const shard of this.shards) if (!shard.finished) this.#steal(shard, 1);
    const end = this.horizonMs + KIND_FOR_MS;
    while (!this.books.atRest()) {
      if (!(await this.#step()) || this.clock.now > end) this.books.stuck();
    }
  }

  async #step(): Promise<boolean> {
    const more = await this.clock.step();
    this.books.check();
    return more;
  }

  #start(): SimWorker {
    const worker = new SimWorker(this, `w${++this.#started}`);
    this.#workers.push(worker);
    worker.start();
    return worker;
  }

  /** The process is gone, whatever it had in memory with it; another one comes up, others take its shards. */
  crash(worker: Process): void {
    if (worker.life.dead) return;
    worker.life.dead = true;
    this.#replace(worker);
  }

  #replace(worker: Process): void {
    this.#workers = this.#workers.filter((other) => other !== worker);
    this.clock.after(this.chaos.between(100, 30_000), () => this.#start());
    for (const partition of worker.partitions) {
      this.clock.after(LEASE_MS, () => {
        if (partition.shard.owner === partition) this.#steal(partition.shard, LEASE_MS);
      });
    }
  }

  /** Somebody else owns the shard now; the one before learns it later, or was told. */
  #steal(shard: SimShard, tellsWithinMs: number): void {
    const before = shard.owner;
    if (this.#workers.length === 0) {
      this.clock.after(1_000, () => this.#steal(shard, tellsWithinMs));
      return;
    }
    this.chaos.pick(this.#workers).own(shard);
    if (before) this.clock.after(this.chaos.between(0, tellsWithinMs), () => before.lose());
  }

  /** Rolls the dice for each kind of fault, again and again until the horizon. */
  #schedule(): void {
    const { chaos, faults } = this;
    const every = (kind: string, run: () => void): void => {
      if (faults.rate(kind) === 0) return;
      this.clock.after(chaos.between(1, 120_000 / faults.rate(kind)), () => {
        if (!faults.over) run();
        every(kind, run);
      });
    };
    const somebody = (): SimWorker | undefined => (this.#workers.length > 0 ? chaos.pick(this.#workers) : undefined);
    every('crash', () => {
      const worker = somebody();
      if (worker) this.crash(worker);
    });
    every('pause', () => somebody()?.life.pause(chaos.delay(20_000, this.horizonMs, 0.3)));
    every('steal', () => this.#steal(chaos.pick(this.shards), chaos.delay(5_000, 200_000, 0.3)));
    every('drain', () => void this.#drain(somebody()));
    every('outage', () => {
      this.#ledgerDownUntil = this.clock.now + chaos.delay(10_000, 240_000, 0.3);
    });
    every('prune', () => this.stripe.pruneKeys());
    every('cancel', () => this.stripe.cancelSome());
  }

  async #drain(worker: SimWorker | undefined): Promise<void> {
    if (!worker || worker.life.dead) return;
    this.#workers = this.#workers.filter((other) => other !== worker);
    const held = [...worker.partitions];
    const timeout = this.clock;
    timeout.after(100_000, () => this.#afterDrain(worker, held));
    await worker.drain();
    this.#afterDrain(worker, held);
  }

  #afterDrain(worker: SimWorker, held: readonly { readonly shard: SimShard }[]): void {
    if (worker.life.dead) return;
    worker.life.dead = true;
    this.#start();
    for (const partition of held) if (partition.shard.owner === partition) this.#steal(partition.shard, 1);
  }
}

function settingsOf(random: Random): Settings {
  const claimTtlMs = random.pick([75_000, 120_000]);
  return {
    claimTtlMs,
    believedTtlMs: claimTtlMs * random.pick([1, 1, 10]),
    ledgerRetryForMs: random.pick([500, 60_000]),
    parkAfterMs: random.pick([0, 30_000, 300_000]),
    maxConcurrentCharges: random.pick([1, 2, 16]),
    reconcileIntervalMs: 30_000,
    checkpoint: {
      mode: random.pick(['batch', 'record', 'time', 'count', 'manual'] as const),
      intervalMs: 5_000,
      count: 2,
    },
  };
}

function modelOptions(random: Random, settings: Settings, twin: Twin): ModelOptions {
  return {
    claimTtlMs: settings.claimTtlMs,
    capDefaults: random.pick([undefined, { usd: 1_000_000 }, { usd: 1_800 }]),
    overdueAfterMs: random.pick([0, 30_000]),
    recheckAfterMs: 60_000,
    closingReadAfterMs: 900_000,
    off: new Set(twin.off ?? []),
  };
}
