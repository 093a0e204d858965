/** One process of the fleet: the real processor and reconciler, as the pipeline connects them, on simulated ports. */
import { createDecoder } from '../../runtime/decode';
import type { ChargeTools } from '../../runtime/processor/charge';
import { BusyCustomers } from '../../runtime/processor/customer-queue';
import { decide } from '../../runtime/processor/decide';
import { idempotencyKey } from '../../runtime/processor/keys';
import { Processor } from '../../runtime/processor/processor';
import { Reconciler } from '../../runtime/processor/reconciler';
import { StripeHalt } from '../../runtime/processor/stripe-halt';
import { silentLog } from '../support/quiet';
import { Life } from './life';
import { SimLedger } from './sim-ledger';
import { SimPartition, type SimShard } from './sim-stream';
import { SimStripe } from './sim-stripe';
import type { Simulation } from './simulation';

const uncounted = { count: () => undefined, gauge: () => undefined };
const NAMESPACE = 'billing';

class NeverBusy extends BusyCustomers {
  override take(): boolean {
    return true;
  }
}

export class SimWorker {
  readonly life: Life;
  readonly partitions = new Set<SimPartition>();
  readonly #drain = new AbortController();
  readonly #processor: Processor;
  readonly #reconciler: Reconciler;

  constructor(
    private readonly world: Simulation,
    name: string,
  ) {
    const { clock, chaos, faults, twin, settings } = world;
    const life = new Life(name, clock, chaos);
    this.life = life;
    life.onAnswer = () => {
      if (chaos.chance(faults.rate('crashAtAnswer'))) world.crash(this);
      else if (chaos.chance(faults.rate('pauseAtAnswer'))) life.pause(chaos.delay(20_000, 400_000, 0.6));
    };
    const keyOfAttempt = (of: { customerId: string; billingPeriod: string }, attempt: number) =>
      idempotencyKey({ ...of, namespace: NAMESPACE, attempt });
    const ledger = new SimLedger(world, world.ledger.model, life);
    const stripe = new SimStripe(world, world.stripe, life);
    const tools: ChargeTools = {
      ledger: twin.ledger?.(ledger) ?? ledger,
      stripe: twin.stripe?.(stripe) ?? stripe,
      decide: twin.decide ?? decide,
      keyOfAttempt,
      host: life,
      log: silentLog,
      metrics: uncounted,
      crash: () => {
        if (chaos.chance(faults.rate('crashPoint'))) world.crash(this);
      },
    };
    const { believedTtlMs: claimTtlMs, reconcileIntervalMs: intervalMs } = settings;
    const busy = new (twin.neverBusy ? NeverBusy : BusyCustomers)();
    const halt = new StripeHalt(life, silentLog, uncounted);
    const drain = this.#drain.signal;
    this.#processor = new Processor(
      {
        ...settings,
        claimTtlMs,
        decode: createDecoder({ defaultCurrency: 'usd' }),
        describe: () => 'Usage',
        keyOf: (event) => keyOfAttempt(event, 1),
        stripeMaxRps: 20,
        ownershipMarginMs: 1_000,
        drain,
      },
      tools,
      busy,
      halt,
    );
    this.#reconciler = new Reconciler({ intervalMs, claimTtlMs, maxConcurrent: 4, drain }, tools, busy, halt);
  }

  start(): void {
    void this.#reconciler.run();
  }

  /** Owns the shard from now on, as far as it knows. */
  own(shard: SimShard): SimPartition {
    const partition = new SimPartition(shard, this.life, (of, position) => this.world.checkpointed(of, position));
    this.partitions.add(partition);
    partition.signal.addEventListener('abort', () => this.partitions.delete(partition), { once: true });
    void this.#read(partition);
    return partition;
  }

  async #read(partition: SimPartition): Promise<void> {
    const { shard, signal } = partition;
    const { chaos } = this.world;
    let next = shard.checkpoint;
    while (!signal.aborted && !this.#drain.signal.aborted && next < shard.published.length) {
      const arrived = shard.published.slice(next).filter(({ availableAt }) => availableAt <= this.life.monotonic());
      const batch = arrived.slice(0, chaos.between(1, 4)).map(({ delivery }) => delivery);
      next += batch.length;
      if (batch.length > 0) await this.#processor.deliver(partition, batch);
      await this.life.sleep(1_000, signal);
    }
    if (!signal.aborted && !this.#drain.signal.aborted) await this.#processor.finished(partition);
  }

  /** As on SIGTERM: what is in flight finishes, then the leases are given up with their last checkpoint. */
  async drain(): Promise<void> {
    this.#drain.abort();
    await Promise.all(
      [...this.partitions].map(async (partition) => {
        let last: string | undefined;
        const checkpoint = partition.checkpoint.bind(partition);
        partition.checkpoint = (position) => {
          checkpoint(position);
          last = position;
        };
        await this.#processor.finished(partition);
        if (last !== undefined) partition.write(Number(last));
        partition.lose();
      }),
    );
  }
}
