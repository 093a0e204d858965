/**
 * The journey of an event after its source: intake → claim → charge → finished, for all partitions of a process.
 *
 * Claims are taken in windows, ahead of free slots but never more than can be started within a quarter of the
 * claim's time at the allowed rate, so that a large batch does not let its own claims expire. Charges of
 * different customers run concurrently (bounded); two events of one customer never do.
 */
import { setMaxListeners } from 'node:events';
import type { CheckpointOptions } from '../checkpoint/policy';
import { type ChargeOutcome, type ChargeTools, charge, claimDeadline } from './charge';
import type { BusyCustomers } from './customer-queue';
import { CustomerQueue } from './customer-queue';
import { type Decoded, takeIn } from './intake';
import { PartitionState } from './partition-state';
import type { BillingEvent, ClaimAnswer, ClaimRequest, Delivery, Partition, PartitionConsumer } from './ports';
import type { StripeHalt } from './stripe-halt';
import type { Claimed, Work } from './work';

export interface ProcessorOptions {
  readonly decode: (body: Uint8Array) => Decoded;
  /** What is shown on the customer's statement of this charge; frozen in the row. */
  readonly describe: (event: BillingEvent) => string | null;
  /** The key of attempt 1. */
  readonly keyOf: (event: BillingEvent) => string;
  readonly maxConcurrentCharges: number;
  readonly claimTtlMs: number;
  readonly stripeMaxRps: number;
  readonly parkAfterMs: number;
  /** Ownership must last this much longer before a create or a confirm is begun. */
  readonly ownershipMarginMs: number;
  readonly checkpoint: CheckpointOptions;
  /** Aborts when the process drains: nothing new is begun, what is in flight finishes. */
  readonly drain: AbortSignal;
}

/** Deliveries of one partition that may be open before its source has to wait. */
const MAX_OPEN_DELIVERIES = 5_000;
const POLL_FIRST_MS = 100;
const POLL_LONGEST_MS = 5_000;

export class Processor implements PartitionConsumer {
  readonly #states = new WeakMap<Partition, PartitionState>();
  /** Partitions that somebody waits for. */
  readonly #live = new Set<PartitionState>();
  readonly #queue: CustomerQueue<Work>;
  readonly #window: number;
  /** Most events of one claim: fewer after one that failed, so that an event that is refused does not stop the others. */
  #atOnce: number;
  #claimed: Claimed[] = [];
  #running = 0;
  #pumping = false;
  #again = false;

  constructor(
    private readonly options: ProcessorOptions,
    private readonly tools: ChargeTools,
    private readonly busy: BusyCustomers,
    private readonly halt: StripeHalt,
  ) {
    this.#queue = new CustomerQueue<Work>(busy);
    const startable = Math.floor((options.stripeMaxRps * options.claimTtlMs) / 4_000);
    this.#window = Math.max(1, Math.min(options.maxConcurrentCharges * 2, startable));
    this.#atOnce = this.#window;
    // Every event that waits listens to it, which is no leak.
    setMaxListeners(0, options.drain);
    const stop = () => {
      for (const state of this.#live) state.wake();
      this.#kick();
    };
    options.drain.addEventListener('abort', stop, { once: true });
    // The reconciler frees customers too, whose events may be waiting here.
    busy.onFree(() => this.#kick());
  }

  async deliver(partition: Partition, batch: readonly Delivery[]): Promise<void> {
    if (batch.length === 0) return;
    const state = this.#stateOf(partition);
    if (this.options.drain.aborted) {
      state.refused = true;
      return;
    }
    const { ledger, host, log, metrics } = this.tools;
    const stopped = () => this.options.drain.aborted;
    const works = await takeIn(state, batch, stopped, { decode: this.options.decode, ledger, host, log, metrics });
    if (!state.lost) for (const work of works ?? []) this.#queue.push(work);
    this.#kick();
    while (state.open >= MAX_OPEN_DELIVERIES && !state.lost && !stopped()) await state.changed();
  }

  async finished(partition: Partition): Promise<boolean> {
    const state = this.#stateOf(partition);
    while (!state.lost && state.open > 0 && !(this.options.drain.aborted && state.inHand === 0)) await state.changed();
    this.#live.delete(state);
    if (state.lost) return false;
    state.flush();
    return state.open === 0 && !state.refused;
  }

  /** For how long the partition that has stood still longest has not moved although deliveries wait, in milliseconds. */
  stalledMs(): number {
    return Math.max(0, ...[...this.#live].map((state) => state.stalledMs));
  }

  #stateOf(partition: Partition): PartitionState {
    const known = this.#states.get(partition);
    const state = known ?? new PartitionState(partition, this.options.checkpoint, this.tools.host, this.tools.crash);
    if (!state.lost) this.#live.add(state);
    if (known) return known;
    this.#states.set(partition, state);
    const drop = () => {
      this.#live.delete(state);
      this.#queue.remove((work) => work.partition === state);
      this.#kick();
    };
    partition.signal.addEventListener('abort', drop, { once: true });
    return state;
  }

  #kick(): void {
    this.#dispatch();
    this.#again = true;
    if (this.#pumping) return;
    this.#pumping = true;
    void this.#pump();
  }

  /** The only place that claims: one statement at a time. */
  async #pump(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        await this.#claimNext();
      }
    } finally {
      // In the very turn of the last look at #again: a kick in between would be lost.
      this.#pumping = false;
    }
  }

  async #claimNext(): Promise<void> {
    this.#dispatch();
    if (this.options.drain.aborted) return;
    const pause = this.halt.remainingMs();
    if (pause > 0) {
      await this.tools.host.sleep(pause, this.options.drain);
      this.#again = true;
      return;
    }
    // Half a window at a time, so that one statement claims many rows.
    if (this.#claimed.length > this.#window / 2) return;
    const heads = this.#queue.take(Math.min(this.#atOnce, this.#window - this.#claimed.length));
    if (heads.length === 0) return;
    for (const work of heads) work.partition.inHand++;
    await this.#claim(heads);
    this.#again = true;
  }

  async #claim(heads: readonly Work[]): Promise<void> {
    const { ledger, host, log, crash } = this.tools;
    const claimedAt = host.monotonic();
    for (const work of heads) work.firstClaimedAt ??= claimedAt;
    let answers: ClaimAnswer[];
    try {
      answers = await ledger.claim(heads.map((work) => this.#request(work)));
      this.#atOnce = Math.min(this.#window, this.#atOnce * 2);
    } catch (error) {
      log.error({ err: error }, 'The ledger did not answer a claim; it is tried again');
      this.#atOnce = Math.ceil(this.#atOnce / 2);
      await host.sleep(POLL_LONGEST_MS / 5, this.options.drain);
      for (const work of heads) this.#requeue(work);
      return;
    }
    crash('after-claim');
    heads.forEach((work, index) => {
      this.#answered(work, answers[index] as ClaimAnswer, claimedAt);
    });
  }

  #request(work: Work): ClaimRequest {
    return {
      event: work.event,
      idempotencyKey: this.options.keyOf(work.event),
      description: this.options.describe(work.event),
      source: work.partition.partition.id,
      sourcePosition: work.sourcePosition,
    };
  }

  #answered(work: Work, answer: ClaimAnswer, claimedAt: number): void {
    const { metrics } = this.tools;
    switch (answer.outcome) {
      case 'mine':
        this.#claimed.push({ work, row: answer.row, claimedAt });
        this.#dispatch();
        return;
      case 'settled':
        metrics.count('duplicates');
        this.#finish(work);
        return;
      case 'conflict':
        metrics.count('conflicts');
        this.#finish(work);
        return;
      case 'cap_blocked':
        metrics.count('charges', { status: 'cap_blocked' });
        this.#finish(work);
        return;
      case 'duplicate':
        this.#requeue(work);
        return;
      case 'in_flight':
        this.#waitFor(work, answer.retryInMs);
        return;
    }
  }

  #dispatch(): void {
    while (this.#claimed.length > 0 && this.#running < this.options.maxConcurrentCharges) {
      const claimed = this.#claimed.shift() as Claimed;
      const age = this.tools.host.monotonic() - claimed.claimedAt;
      const idle = claimed.work.partition.lost || this.options.drain.aborted || this.halt.remainingMs() > 0;
      if (idle || age > this.options.claimTtlMs / 2) void this.#giveBack(claimed);
      else void this.#charge(claimed);
    }
  }

  async #charge({ work, row, claimedAt }: Claimed): Promise<void> {
    const state = work.partition;
    this.#running++;
    this.tools.metrics.gauge('inFlight', this.#running);
    let outcome: ChargeOutcome;
    try {
      const mayGoOn = () => !state.lost && state.partition.holdsFor(this.options.ownershipMarginMs);
      const deadline = claimDeadline(claimedAt, this.options.claimTtlMs);
      outcome = await charge(row, { mayGoOn, deadline }, this.tools);
    } catch (error) {
      this.tools.log.error({ err: error }, 'A charge was interrupted; its row says how far it came');
      outcome = { kind: 'unknown' };
    }
    this.#running--;
    this.tools.metrics.gauge('inFlight', this.#running);
    this.#charged(work, outcome, claimedAt);
    this.#kick();
  }

  #charged(work: Work, outcome: ChargeOutcome, claimedAt: number): void {
    switch (outcome.kind) {
      case 'ended':
        this.halt.clear();
        this.#finish(work);
        return;
      case 'unknown':
        this.#waitFor(work, claimedAt + this.options.claimTtlMs - this.tools.host.monotonic());
        return;
      case 'lost':
      case 'stopped':
        this.#waitFor(work, POLL_FIRST_MS);
        return;
      case 'halted':
        this.halt.halt(outcome.message);
        this.#requeue(work);
        return;
    }
  }

  async #giveBack({ work, row }: Claimed): Promise<void> {
    await this.tools.ledger.release(row).catch((error: unknown) => {
      this.tools.log.warn({ err: error }, 'A claim could not be given back; it expires by itself');
    });
    this.#requeue(work);
  }

  /** Somebody holds the row, or its outcome is not known: look again later, and park it after a while. */
  #waitFor(work: Work, retryInMs: number): void {
    const { host, metrics, log } = this.tools;
    const waited = host.monotonic() - (work.firstClaimedAt ?? host.monotonic());
    if (waited >= this.options.parkAfterMs) {
      const { customerId, billingPeriod } = work.event;
      log.warn(
        { customer_id: customerId, billing_period: billingPeriod, waited_ms: Math.round(waited) },
        'Parked: the row is pending, the checkpoint may pass it, the reconciler moves it on',
      );
      // Its duplicates are the same row's, and would each wait as long again. Taken out before the customer is free.
      const duplicates = this.#queue.remove(({ event }) => isSameBill(event, work.event));
      metrics.count('parked', {}, 1 + duplicates.length);
      this.#finish(work);
      for (const duplicate of duplicates) duplicate.partition.finish(duplicate.entry);
      return;
    }
    const poll = Math.min(POLL_LONGEST_MS, Math.max(POLL_FIRST_MS, waited / 4));
    const until = Math.min(poll, Math.max(retryInMs, POLL_FIRST_MS), this.options.parkAfterMs - waited);
    void host.sleep(until, this.options.drain).then(() => this.#requeue(work));
  }

  #requeue(work: Work): void {
    // Before its customer is free, so that no later event overtakes it.
    if (!work.partition.lost && !this.options.drain.aborted) this.#queue.pushFirst(work);
    this.#letGo(work);
    work.partition.wake();
  }

  #finish(work: Work): void {
    this.#letGo(work);
    work.partition.finish(work.entry);
  }

  #letGo(work: Work): void {
    work.partition.inHand--;
    this.busy.free(work.event.customerId);
  }
}

/** Whether both events mean the same row, and neither contradicts it. */
function isSameBill(a: BillingEvent, b: BillingEvent): boolean {
  const sameRow = a.customerId === b.customerId && a.billingPeriod === b.billingPeriod;
  return sameRow && a.amountCents === b.amountCents && a.currency === b.currency;
}
