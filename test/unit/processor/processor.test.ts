import { describe, expect, it } from 'vitest';
import { CRASH_POINTS } from '../../../runtime/contract';
import { deliveries, FakePartition } from '../../support/fake-partition';
import { anEvent } from '../../support/rows';
import { unauthorized } from './answers';
import { aWorld, watch } from './journey';

const customers = (count: number, periods = 1) =>
  Array.from({ length: count * periods }, (_, index) =>
    anEvent({ customerId: `c${index % count}`, billingPeriod: `2026-${1 + Math.floor(index / count)}` }),
  );

describe('the journey of a batch', () => {
  it('charges every event once and checkpoints its end', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(50)));
    const finished = watch(world.processor.finished(partition));
    await world.host.until(finished.done);
    expect(finished.value()).toBe(true);
    expect(new Set(world.stripe.charged).size).toBe(50);
    expect(world.stripe.charged).toHaveLength(50);
    expect(partition.position).toBe('50');
    expect(new Set(partition.checkpoints).size).toBe(partition.checkpoints.length);
    expect(world.metrics.counted('charges charged')).toBe(50);
  });

  it('passes its crash points in journey order', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries([anEvent()]));
    await world.host.until(() => partition.position === '1');
    expect(world.crashPoints).toEqual(CRASH_POINTS);
  });

  it('ends a replay with a read: no claim, no request', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(20)));
    await world.host.until(() => partition.position === '20');
    const claims = world.ledger.claims.length;
    const requests = world.stripe.requests.length;
    await world.processor.deliver(partition, deliveries(customers(20), 21));
    await world.host.until(() => partition.position === '40');
    expect(world.ledger.claims).toHaveLength(claims);
    expect(world.stripe.requests).toHaveLength(requests);
    expect(world.metrics.counted('duplicates')).toBe(20);
  });

  it('the same event many times in one batch is charged once', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(Array.from({ length: 50 }, () => anEvent())));
    await world.host.until(() => partition.position === '50');
    expect(world.stripe.charged).toHaveLength(1);
  });

  it('dead-letters what is no event with its bytes, and goes on', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    const batch = deliveries([anEvent({ customerId: 'a' }), 'no event', anEvent({ customerId: 'b' })]);
    await world.processor.deliver(partition, batch);
    await world.host.until(() => partition.position === '3');
    expect(world.ledger.letters).toMatchObject([
      { source: partition.id, sourcePosition: '2', reason: 'not an object', body: batch[1]!.body },
    ]);
    expect(world.stripe.charged).toHaveLength(2);
  });

  it('an amount of zero is settled without a request; another amount of a billed period is a conflict', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    await world.processor.deliver(
      partition,
      deliveries([
        anEvent({ customerId: 'free', amountCents: 0 }),
        anEvent({ customerId: 'paid' }),
        anEvent({ customerId: 'paid', amountCents: 1 }),
      ]),
    );
    await world.host.until(() => partition.position === '3');
    expect(world.ledger.status('free')).toBe('zero_amount');
    expect(world.stripe.charged).toEqual(['paid/2026-10']);
    expect(world.ledger.conflicts).toHaveLength(1);
    expect(world.metrics.counted('conflicts')).toBe(1);
  });
});

describe('concurrency', () => {
  it('one event of a customer at a time, different customers side by side, never more than allowed', async () => {
    const world = aWorld({ maxConcurrentCharges: 5 });
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(10, 6)));
    await world.host.until(() => partition.position === '60');
    expect(world.stripe.charged).toHaveLength(60);
    expect(world.stripe.mostOfOneCustomer).toBe(1);
    expect(world.stripe.mostUnderway).toBe(5);
  });

  it("a customer's events are charged in the order of their arrival", async () => {
    const world = aWorld();
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(3, 5)));
    await world.host.until(() => partition.position === '15');
    for (const customer of ['c0', 'c1', 'c2']) {
      const periods = world.stripe.charged.filter((name) => name.startsWith(`${customer}/`));
      expect(periods).toEqual(['1', '2', '3', '4', '5'].map((n) => `${customer}/2026-${n}`));
    }
  });

  it('claims in windows, never more than can be started within a quarter of the claim at the allowed rate', async () => {
    const world = aWorld({ maxConcurrentCharges: 100, stripeMaxRps: 1 });
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(400)));
    await world.host.until(() => partition.position === '400');
    expect(Math.max(...world.ledger.claims)).toBeLessThanOrEqual(30);
    expect(world.ledger.released).toEqual([]);
  });

  it('gives back a claim that has waited too long for its turn, and takes it anew', async () => {
    const world = aWorld({ maxConcurrentCharges: 1 });
    world.stripe.delayMs = (request, row) => (row.customerId === 'c0' && request === 'confirm' ? 70_000 : 10);
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(2)));
    await world.host.until(() => partition.position === '2');
    expect(world.ledger.released).toEqual(['c1/2026-1']);
    expect(world.stripe.charged).toEqual(['c0/2026-1', 'c1/2026-1']);
  });

  it('an event that arrives in the very turn in which the pump ends is not left waiting', async () => {
    const world = aWorld();
    const [first, second] = [new FakePartition('test/stream/1'), new FakePartition('test/stream/2')];
    await world.processor.deliver(first, deliveries([anEvent()]));
    await world.host.until(() => first.position === '1');
    // The replay starts the pump for nothing; the fresh event is handed over before it has come to rest.
    await Promise.all([
      world.processor.deliver(first, deliveries([anEvent()], 2)),
      world.processor.deliver(second, deliveries([anEvent({ customerId: 'fresh' })])),
    ]);
    await world.host.until(() => second.position === '1');
    expect(world.stripe.charged).toHaveLength(2);
  });
});

describe('checkpoints', () => {
  it('a charge of 20 s holds the mark, but nobody else', async () => {
    const world = aWorld();
    world.stripe.delayMs = (request, row) => (row.customerId === 'c0' && request === 'confirm' ? 20_000 : 10);
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(30)));
    await world.host.advance(10_000);
    expect(world.stripe.charged).toHaveLength(29);
    expect(partition.checkpoints).toEqual([]);
    await world.host.until(() => partition.position === '30');
    expect(partition.checkpoints).toEqual(['30']);
  });

  it('says for how long the mark has stood still, and nothing when nobody waits', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    expect(world.processor.stalledMs()).toBe(0);
    world.stripe.delayMs = (request, row) => (row.customerId === 'c0' && request === 'confirm' ? 20_000 : 10);
    await world.processor.deliver(partition, deliveries(customers(3)));
    await world.host.advance(15_000);
    expect(world.processor.stalledMs()).toBe(15_000);
    await world.host.until(() => partition.position === '3');
    expect(world.processor.stalledMs()).toBe(0);
    // An idle hour is no standstill: it counts from the delivery that waits.
    await world.host.advance(3_600_000);
    await world.processor.deliver(partition, deliveries([anEvent({ customerId: 'c0', billingPeriod: 'later' })], 4));
    await world.host.advance(1_000);
    expect(world.processor.stalledMs()).toBe(1_000);
    partition.lose();
    expect(world.processor.stalledMs()).toBe(0);
  });

  it('never passes an event whose row is not committed and ended', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    const events = customers(40, 2);
    world.stripe.delayMs = () => world.host.random() * 1_000 + Number(world.stripe.requests.length % 7) * 100;
    const honest = partition.checkpoint.bind(partition);
    partition.checkpoint = (position) => {
      for (const event of events.slice(0, Number(position))) {
        expect(world.ledger.status(event.customerId, event.billingPeriod)).toBe('charged');
      }
      honest(position);
    };
    await world.processor.deliver(partition, deliveries(events));
    await world.host.until(() => partition.position === '80');
    expect(partition.checkpoints.length).toBeGreaterThan(3);
    expect(partition.checkpoints.map(Number)).toEqual([...partition.checkpoints.map(Number)].sort((a, b) => a - b));
  });

  it('time: the last mark too, when nothing comes after it', async () => {
    const world = aWorld({ checkpoint: { mode: 'time', intervalMs: 3_000, count: 1 } });
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(5)));
    await world.host.until(() => world.stripe.charged.length === 5);
    await world.host.settle();
    expect(partition.checkpoints).toEqual([]);
    await world.host.advance(3_000);
    expect(partition.checkpoints).toEqual(['5']);
    // Once: an hour later nothing is written again.
    await world.host.advance(3_600_000);
    expect(partition.checkpoints).toEqual(['5']);
  });

  it('time: nothing after the partition is lost', async () => {
    const world = aWorld({ checkpoint: { mode: 'time', intervalMs: 3_000, count: 1 } });
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(5)));
    await world.host.until(() => world.stripe.charged.length === 5);
    partition.lose();
    await world.host.advance(10_000);
    expect(partition.checkpoints).toEqual([]);
  });

  it('manual: only at the end', async () => {
    const world = aWorld({ checkpoint: { mode: 'manual', intervalMs: 1, count: 1 } });
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(5)));
    await world.host.until(() => world.stripe.charged.length === 5);
    await world.host.settle();
    expect(partition.checkpoints).toEqual([]);
    expect(await world.processor.finished(partition)).toBe(true);
    expect(partition.checkpoints).toEqual(['5']);
  });
});

describe('rows that somebody else holds, and rows that are not known', () => {
  it('in flight elsewhere: waits, and ends without a charge when the other one has settled it', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    world.ledger.claimElsewhere(anEvent(), 3_600_000);
    await world.processor.deliver(partition, deliveries([anEvent()]));
    await world.host.advance(60_000);
    expect(partition.checkpoints).toEqual([]);
    world.ledger.settleElsewhere(anEvent(), 'charged');
    await world.host.until(() => partition.position === '1');
    expect(world.stripe.requests).toEqual([]);
  });

  it('in flight elsewhere: takes over when the claim has expired', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    world.ledger.claimElsewhere(anEvent(), 30_000);
    await world.processor.deliver(partition, deliveries([anEvent()]));
    await world.host.until(() => partition.position === '1');
    expect(world.host.monotonic()).toBeGreaterThanOrEqual(30_000);
    expect(world.stripe.charged).toHaveLength(1);
    expect(world.stripe.requests[0]).toBe('list acme/2026-10');
  });

  it('in flight elsewhere for longer than PARK_AFTER_MS: parked, uncharged, and the mark passes it', async () => {
    const world = aWorld({ parkAfterMs: 45_000 });
    const partition = new FakePartition();
    world.ledger.claimElsewhere(anEvent(), 3_600_000);
    await world.processor.deliver(partition, deliveries([anEvent(), anEvent({ customerId: 'other' })]));
    await world.host.until(() => partition.position === '2');
    expect(world.host.monotonic()).toBeGreaterThanOrEqual(45_000);
    expect(world.host.monotonic()).toBeLessThan(50_000);
    expect(world.metrics.counted('parked')).toBe(1);
    expect(world.ledger.status('acme')).toBe('pending');
    expect(world.log.has(/Parked/)).toBe(true);
  });

  it('an outcome that stays unknown is asked again after the claim, then parked; the reconciler ends it', async () => {
    const world = aWorld({ parkAfterMs: 200_000 });
    const partition = new FakePartition();
    let dark = true;
    world.stripe.instead = () => (dark ? { kind: 'no_answer', message: 'socket hang up' } : undefined);
    await world.processor.deliver(partition, deliveries([anEvent()]));
    await world.host.until(() => partition.position === '1');
    expect(world.metrics.counted('parked')).toBe(1);
    expect(world.ledger.status('acme')).toBe('pending');
    expect(world.ledger.claims.length).toBeGreaterThan(1);
    dark = false;
    await world.host.advance(120_000);
    const round = watch(world.reconciler.round());
    await world.host.until(round.done);
    expect(round.value()).toEqual({ taken: 1, ended: 1 });
    expect(world.ledger.status('acme')).toBe('charged');
    expect(world.stripe.charged).toHaveLength(1);
  });
});

describe('ownership', () => {
  it('a lost partition drops its work; what is in flight ends, without a checkpoint', async () => {
    const world = aWorld({ maxConcurrentCharges: 2 });
    world.stripe.delayMs = () => 1_000;
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(20)));
    const finished = watch(world.processor.finished(partition));
    await world.host.advance(1_500);
    partition.lose();
    const claims = world.ledger.claims.length;
    await world.host.until(() => finished.done() && world.host.sleeping === 0);
    expect(finished.value()).toBe(false);
    expect(partition.checkpoints).toEqual([]);
    expect(world.stripe.charged.length).toBeLessThanOrEqual(2);
    expect(world.ledger.claims).toHaveLength(claims);
    const open = [...world.ledger.rows.values()].filter(({ row }) => row.status === 'pending');
    for (const { claimedUntil } of open) expect(claimedUntil).toBeLessThanOrEqual(world.host.monotonic());
  });

  it('a partition that is lost while a batch is taken in claims nothing', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    const look = world.ledger.look.bind(world.ledger);
    world.ledger.look = async (events) => {
      partition.lose();
      return look(events);
    };
    await world.processor.deliver(partition, deliveries(customers(3)));
    await world.host.advance(10_000);
    expect(await world.processor.finished(partition)).toBe(false);
    expect(world.ledger.claims).toEqual([]);
  });

  it('a partition won again is a new one, and charges what the lost one left, once', async () => {
    const world = aWorld({ maxConcurrentCharges: 2 });
    world.stripe.delayMs = () => 1_000;
    const lost = new FakePartition();
    await world.processor.deliver(lost, deliveries(customers(20)));
    await world.host.advance(2_500);
    lost.lose();
    const checkpoints = [...lost.checkpoints];
    const again = new FakePartition();
    await world.processor.deliver(again, deliveries(customers(20)));
    await world.host.until(() => again.position === '20');
    expect(world.stripe.charged).toHaveLength(20);
    expect(new Set(world.stripe.charged).size).toBe(20);
    expect(lost.checkpoints).toEqual(checkpoints);
  });

  it('without a margin of ownership nothing is created', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    partition.holds = false;
    await world.processor.deliver(partition, deliveries(customers(3)));
    await world.host.advance(30_000);
    expect(world.stripe.requests.filter((request) => !request.startsWith('list'))).toEqual([]);
    partition.holds = true;
    await world.host.until(() => partition.position === '3');
    expect(world.stripe.charged).toHaveLength(3);
  });
});

describe('drain', () => {
  it('finishes what is in flight, begins nothing new, gives claims back and checkpoints what is finished', async () => {
    const world = aWorld({ maxConcurrentCharges: 4 });
    world.stripe.delayMs = () => 1_000;
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(40)));
    await world.host.advance(2_500);
    const charged = world.stripe.charged.length;
    const finished = watch(world.processor.finished(partition));
    world.drain();
    await world.host.until(finished.done);
    expect(finished.value()).toBe(false);
    expect(world.stripe.charged.length).toBe(charged + 4);
    expect(partition.position).toBe(String(charged + 4));
    const open = [...world.ledger.rows.values()].filter(({ row }) => row.status === 'pending');
    expect(open.length).toBeGreaterThan(0);
    for (const { claimedUntil } of open) expect(claimedUntil).toBeLessThanOrEqual(world.host.monotonic());
  });

  it('does not call a partition finished while a claim of it is being taken', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    let answerClaim: () => void = () => undefined;
    const claim = world.ledger.claim.bind(world.ledger);
    world.ledger.claim = async (requests) => {
      await new Promise<void>((resolve) => {
        answerClaim = resolve;
      });
      return claim(requests);
    };
    await world.processor.deliver(partition, deliveries([anEvent()]));
    await world.host.settle();
    world.drain();
    const finished = watch(world.processor.finished(partition));
    await world.host.settle();
    expect(finished.done()).toBe(false);
    answerClaim();
    await world.host.until(finished.done);
    expect(finished.value()).toBe(false);
    expect(world.ledger.released).toEqual(['acme/2026-10']);
    expect(world.stripe.requests).toEqual([]);
  });

  it('a batch that arrives while draining is refused and never counts as finished', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(3)));
    await world.host.until(() => partition.position === '3');
    world.drain();
    await world.processor.deliver(partition, deliveries(customers(6), 4));
    expect(await world.processor.finished(partition)).toBe(false);
    expect(partition.position).toBe('3');
    expect(world.stripe.charged).toHaveLength(3);
  });

  it('a batch that is being taken in while draining begins never counts as finished either', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    world.ledger.failure = new Error('connection refused');
    const delivered = watch(world.processor.deliver(partition, deliveries(customers(1_200))));
    await world.host.advance(1_000);
    world.drain();
    await world.host.until(delivered.done);
    world.ledger.failure = undefined;
    expect(await world.processor.finished(partition)).toBe(false);
    expect(partition.checkpoints).toEqual([]);
  });
});

describe('the ledger does not answer', () => {
  it('a dead letter that was not kept never counts as finished', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    world.ledger.failure = new Error('connection refused');
    const delivered = watch(world.processor.deliver(partition, deliveries(['no event'])));
    await world.host.advance(1_000);
    world.drain();
    await world.host.until(delivered.done);
    world.ledger.failure = undefined;
    expect(await world.processor.finished(partition)).toBe(false);
    expect(partition.checkpoints).toEqual([]);
    expect(world.ledger.letters).toEqual([]);
  });

  it('nothing is lost: reads, dead letters and claims are tried until it answers', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    world.ledger.failure = new Error('connection refused');
    const delivered = watch(world.processor.deliver(partition, deliveries([...customers(5), 'no event'])));
    await world.host.advance(120_000);
    expect(delivered.done()).toBe(false);
    world.ledger.failure = undefined;
    await world.host.until(() => partition.position === '6');
    expect(delivered.done()).toBe(true);
    expect(world.ledger.letters).toHaveLength(1);
    expect(world.stripe.charged).toHaveLength(5);
  });

  it('an outage in mid-charge: the rows are taken up again, and each is charged once', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    await world.processor.deliver(partition, deliveries(customers(40)));
    await world.host.advance(15);
    world.ledger.failure = new Error('terminating connection due to administrator command');
    await world.host.advance(20_000);
    expect(world.stripe.charged.length).toBeLessThan(40);
    world.ledger.failure = undefined;
    await world.host.until(() => partition.position === '40');
    expect(world.stripe.charged).toHaveLength(40);
    expect(new Set(world.stripe.charged).size).toBe(40);
  });
});

describe('Stripe refuses the key', () => {
  it('everyone pauses, nothing is settled or lost, and all goes on when the key is accepted again', async () => {
    const world = aWorld();
    const partition = new FakePartition();
    let refusing = true;
    world.stripe.instead = () => (refusing ? unauthorized() : undefined);
    await world.processor.deliver(partition, deliveries(customers(100)));
    await world.host.advance(5_000);
    const asked = world.stripe.requests.length;
    expect(asked).toBeLessThanOrEqual(16);
    expect(world.halt.reason()).toMatch(/refuses the key/);
    expect(world.metrics.gauged('halted')).toBe(1);
    await world.host.advance(20_000);
    expect(world.stripe.requests).toHaveLength(asked);
    expect([...world.ledger.rows.values()].every(({ row }) => row.status === 'pending')).toBe(true);
    refusing = false;
    await world.host.until(() => partition.position === '100');
    expect(world.stripe.charged).toHaveLength(100);
    expect(world.halt.reason()).toBeUndefined();
    expect(world.metrics.gauged('halted')).toBe(0);
  });
});

describe('back-pressure', () => {
  it('a source waits while too many of its deliveries are open', async () => {
    const world = aWorld({ maxConcurrentCharges: 50 });
    world.stripe.delayMs = () => 1;
    const partition = new FakePartition();
    const delivered = watch(world.processor.deliver(partition, deliveries(customers(5_200))));
    await world.host.settle();
    expect(delivered.done()).toBe(false);
    await world.host.until(delivered.done);
    expect(world.stripe.charged.length).toBeGreaterThan(100);
    expect(world.stripe.charged.length).toBeLessThan(5_200);
    partition.lose();
  });
});
