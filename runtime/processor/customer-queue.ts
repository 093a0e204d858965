/** Events waiting for a claim, in order of arrival for each customer; one event of a customer at a time. Pure. */
export interface ByCustomer {
  readonly event: { readonly customerId: string };
}

/** Customers that have a charge under way, in the processor or in the reconciler. */
export class BusyCustomers {
  readonly #busy = new Set<string>();
  readonly #listeners: (() => void)[] = [];

  /** Called whenever a customer becomes free, by whomever. */
  onFree(listener: () => void): void {
    this.#listeners.push(listener);
  }

  take(customerId: string): boolean {
    if (this.#busy.has(customerId)) return false;
    this.#busy.add(customerId);
    return true;
  }

  free(customerId: string): void {
    if (!this.#busy.delete(customerId)) return;
    for (const listener of this.#listeners) listener();
  }
}

export class CustomerQueue<T extends ByCustomer> {
  readonly #queues = new Map<string, T[]>();

  constructor(private readonly busy: BusyCustomers) {}

  push(item: T): void {
    const queue = this.#queues.get(item.event.customerId);
    if (queue) queue.push(item);
    else this.#queues.set(item.event.customerId, [item]);
  }

  /** Puts an item that must be tried again before the later ones of its customer. */
  pushFirst(item: T): void {
    const queue = this.#queues.get(item.event.customerId);
    if (queue) queue.unshift(item);
    else this.#queues.set(item.event.customerId, [item]);
  }

  /** Up to `limit` heads of customers that were free; those customers are busy until `busy.free`. */
  take(limit: number): T[] {
    const taken: T[] = [];
    for (const [customerId, queue] of this.#queues) {
      if (taken.length >= limit) break;
      const head = queue[0];
      if (head === undefined) continue;
      if (!this.busy.take(customerId)) continue;
      queue.shift();
      // Deleted and set again below: a customer with more events goes to the back of the line.
      this.#queues.delete(customerId);
      if (queue.length > 0) this.#queues.set(customerId, queue);
      taken.push(head);
    }
    return taken;
  }

  /** Takes out every item that matches. */
  remove(matches: (item: T) => boolean): T[] {
    const removed: T[] = [];
    for (const [customerId, queue] of this.#queues) {
      const kept = queue.filter((item) => !matches(item));
      if (kept.length === queue.length) continue;
      removed.push(...queue.filter(matches));
      if (kept.length === 0) this.#queues.delete(customerId);
      else this.#queues.set(customerId, kept);
    }
    return removed;
  }

  get empty(): boolean {
    return this.#queues.size === 0;
  }
}
