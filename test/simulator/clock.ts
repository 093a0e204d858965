/** Virtual time: everything that happens is an event at a time, and equal times happen in the order they were asked for. */
interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

const before = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

export class Clock {
  /** Milliseconds since the beginning of the history. */
  now = 0;
  steps = 0;
  readonly #heap: Event[] = [];
  #order = 0;

  after(ms: number, run: () => void): void {
    this.#push({ at: this.now + Math.max(0, ms), order: this.#order++, run });
  }

  /** Runs the next event and whatever it sets off. False: nothing is left. */
  async step(): Promise<boolean> {
    const event = this.#pop();
    if (!event) return false;
    this.now = event.at;
    this.steps++;
    event.run();
    // All promises settle before the event loop turns.
    await new Promise(setImmediate);
    return true;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return top;
  }
}
