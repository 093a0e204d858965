import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BusyCustomers, CustomerQueue } from '../../../runtime/processor/customer-queue';

interface Item {
  readonly event: { readonly customerId: string };
  readonly n: number;
}

const item = (customerId: string, n: number): Item => ({ event: { customerId }, n });

type Step =
  | { readonly push: string }
  | { readonly take: number }
  | { readonly finish: number }
  | { readonly again: number };
const customer = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ push: customer }) },
    { weight: 3, arbitrary: fc.record({ take: fc.integer({ min: 0, max: 4 }) }) },
    { weight: 3, arbitrary: fc.record({ finish: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ again: fc.nat() }) },
  ),
  { maxLength: 200 },
);

/** Runs the steps; answers the items in the order in which they finished, and what was wrong on the way. */
function run(sequence: readonly Step[]): { finished: Item[]; pushed: Item[]; problem: string | undefined } {
  const busy = new BusyCustomers();
  const queue = new CustomerQueue<Item>(busy);
  const pushed: Item[] = [];
  const finished: Item[] = [];
  const out: Item[] = [];
  let problem: string | undefined;
  const letGo = (index: number): Item => {
    const [gone] = out.splice(index % out.length, 1);
    busy.free(gone!.event.customerId);
    return gone!;
  };
  const take = (limit: number) => {
    const taken = queue.take(limit);
    out.push(...taken);
    if (taken.length > limit) problem = `${taken.length} taken, ${limit} allowed`;
    const customers = out.map((one) => one.event.customerId);
    if (new Set(customers).size !== customers.length) problem = `two of one customer: ${customers}`;
    return taken.length;
  };
  for (const step of sequence) {
    if ('push' in step) {
      const pushing = item(step.push, pushed.length);
      pushed.push(pushing);
      queue.push(pushing);
    } else if ('take' in step) take(step.take);
    else if (out.length > 0 && 'finish' in step) finished.push(letGo(step.finish));
    else if (out.length > 0 && 'again' in step) queue.pushFirst(letGo(step.again));
  }
  while (out.length > 0 || take(100) > 0) if (out.length > 0) finished.push(letGo(0));
  if (!queue.empty) problem = 'something is left over';
  return { finished, pushed, problem };
}

describe('the queue of customers', () => {
  it('gives one event of a customer at a time, in order of arrival, and loses none', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const { finished, pushed, problem } = run(sequence);
        expect(problem).toBeUndefined();
        expect(finished.length).toBe(pushed.length);
        for (const name of new Set(pushed.map((one) => one.event.customerId))) {
          const order = (items: Item[]) => items.filter((one) => one.event.customerId === name).map((one) => one.n);
          expect(order(finished)).toEqual(order(pushed));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is fair: a customer with a thousand events does not keep the next one waiting', () => {
    const busy = new BusyCustomers();
    const queue = new CustomerQueue<Item>(busy);
    for (let n = 0; n < 1_000; n++) queue.push(item('large', n));
    queue.push(item('small', 0));
    const order: string[] = [];
    for (let round = 0; round < 3; round++) {
      const [head] = queue.take(1);
      order.push(head!.event.customerId);
      busy.free(head!.event.customerId);
    }
    expect(order).toEqual(['large', 'small', 'large']);
  });

  it('leaves a customer alone who is busy elsewhere', () => {
    const busy = new BusyCustomers();
    const queue = new CustomerQueue<Item>(busy);
    busy.take('a');
    queue.push(item('a', 0));
    expect(queue.take(5)).toEqual([]);
    busy.free('a');
    expect(queue.take(5)).toHaveLength(1);
  });

  it('takes out what matches and keeps the order of the rest', () => {
    const queue = new CustomerQueue<Item>(new BusyCustomers());
    for (let n = 0; n < 6; n++) queue.push(item(n < 4 ? 'a' : 'b', n));
    expect(queue.remove((one) => one.n % 2 === 0).map((one) => one.n)).toEqual([0, 2, 4]);
    expect(queue.take(5).map((one) => one.n)).toEqual([1, 5]);
    expect(queue.remove(() => true).map((one) => one.n)).toEqual([3]);
    expect(queue.empty).toBe(true);
  });
});
