import { describe, expect, it } from 'vitest';
import { deliveries, FakePartition } from '../../support/fake-partition';
import { anEvent } from '../../support/rows';
import { unauthorized } from './answers';
import { aWorld, TTL_MS, watch } from './journey';

describe('the reconciler', () => {
  it('moves on expired rows that no delivery brings back, with or without an intent', async () => {
    const world = aWorld();
    for (let n = 0; n < 9; n++) world.ledger.claimElsewhere(anEvent({ customerId: `c${n}` }), 1_000);
    const run = watch(world.reconciler.run());
    await world.host.until(() => world.stripe.charged.length === 9);
    world.drain();
    await world.host.until(run.done);
    expect(new Set(world.stripe.charged).size).toBe(9);
    expect(world.stripe.requests[0]).toMatch(/^list/);
    expect(world.log.has(/Reconciled/)).toBe(true);
  });

  it('leaves rows alone whose claim has not expired', async () => {
    const world = aWorld();
    world.ledger.claimElsewhere(anEvent(), 3_600_000);
    expect(await world.reconciler.round()).toEqual({ taken: 0, ended: 0 });
    expect(world.stripe.requests).toEqual([]);
  });

  it('gives back a row of a customer who is being charged, and rests instead of asking again at once', async () => {
    const world = aWorld();
    for (let n = 0; n < 4; n++) {
      world.ledger.claimElsewhere(anEvent({ billingPeriod: `2026-${n}` }), 0);
    }
    world.busy.take('acme');
    let rounds = 0;
    const claimDue = world.ledger.claimDue.bind(world.ledger);
    world.ledger.claimDue = (limit) => {
      rounds++;
      return claimDue(limit);
    };
    const run = watch(world.reconciler.run());
    await world.host.advance(60_000);
    expect(world.stripe.requests).toEqual([]);
    expect(rounds).toBeLessThanOrEqual(13);
    world.busy.free('acme');
    await world.host.until(() => world.stripe.charged.length === 4);
    expect(world.stripe.mostOfOneCustomer).toBe(1);
    world.drain();
    await world.host.until(run.done);
  });

  it('and the stream never charge one customer at the same time', async () => {
    const world = aWorld();
    world.stripe.delayMs = () => 500;
    for (let n = 0; n < 4; n++) world.ledger.claimElsewhere(anEvent({ customerId: `c${n}`, billingPeriod: 'old' }), 0);
    const partition = new FakePartition();
    const events = [0, 1, 2, 3].map((n) => anEvent({ customerId: `c${n}`, billingPeriod: 'new' }));
    const run = watch(world.reconciler.run());
    await world.processor.deliver(partition, deliveries(events));
    await world.host.until(() => world.stripe.charged.length === 8);
    expect(world.stripe.mostOfOneCustomer).toBe(1);
    world.drain();
    await world.host.until(run.done);
  });

  it('asks again later when the ledger does not answer', async () => {
    const world = aWorld();
    world.ledger.claimElsewhere(anEvent(), 0);
    world.ledger.failure = new Error('connection refused');
    const run = watch(world.reconciler.run());
    await world.host.advance(60_000);
    expect(run.done()).toBe(false);
    world.ledger.failure = undefined;
    await world.host.until(() => world.stripe.charged.length === 1);
    world.drain();
    await world.host.until(run.done);
  });

  it('pauses with everyone else while Stripe refuses the key, and leaves the row pending', async () => {
    const world = aWorld();
    world.ledger.claimElsewhere(anEvent(), 0);
    let refusing = true;
    world.stripe.instead = () => (refusing ? unauthorized(403) : undefined);
    const run = watch(world.reconciler.run());
    await world.host.advance(25_000);
    expect(world.stripe.requests).toHaveLength(1);
    expect(world.halt.remainingMs()).toBeGreaterThan(0);
    expect(world.ledger.status('acme')).toBe('pending');
    refusing = false;
    await world.host.until(() => world.stripe.charged.length === 1);
    world.drain();
    await world.host.until(run.done);
  });

  it('drain: what is created is saved, but not confirmed any more', async () => {
    const world = aWorld();
    world.stripe.delayMs = () => 1_000;
    world.ledger.claimElsewhere(anEvent(), 0);
    const run = watch(world.reconciler.run());
    await world.host.until(() => world.stripe.requests.some((request) => request.startsWith('create')));
    world.drain();
    await world.host.until(run.done);
    expect(world.ledger.rows.get('acme/2026-10')?.row.paymentIntentId).toBe('pi_1');
    expect(world.stripe.charged).toEqual([]);
    expect(world.ledger.released).toEqual(['acme/2026-10']);
  });

  it('drain: finishes the confirm that travels, and books it', async () => {
    const world = aWorld();
    world.stripe.delayMs = (request) => (request === 'confirm' ? 10_000 : 10);
    world.ledger.claimElsewhere(anEvent({ customerId: 'travels' }), 0);
    const run = watch(world.reconciler.run());
    await world.host.until(() => world.stripe.requests.some((request) => request.startsWith('confirm')));
    world.drain();
    expect(run.done()).toBe(false);
    await world.host.until(run.done);
    expect(world.ledger.status('travels')).toBe('charged');
  });

  it('a row whose walk breaks off is taken up again after its claim', async () => {
    const world = aWorld();
    world.ledger.claimElsewhere(anEvent(), 0);
    let once = true;
    const gate = world.ledger.gate.bind(world.ledger);
    world.ledger.gate = async (row) => {
      if (once) {
        once = false;
        throw new Error('connection terminated unexpectedly');
      }
      return gate(row);
    };
    const run = watch(world.reconciler.run());
    await world.host.until(() => world.stripe.charged.length === 1);
    expect(world.host.monotonic()).toBeGreaterThanOrEqual(TTL_MS);
    expect(world.log.has(/taken up again later/)).toBe(true);
    world.drain();
    await world.host.until(run.done);
  });
});
