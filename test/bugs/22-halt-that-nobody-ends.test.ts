/**
 * Stripe refuses the key, so every worker pauses. The key is repaired and one worker charges all that waited. The others
 * have nothing left to try, and used to call themselves halted, gauge and readiness, until the next event of theirs.
 */
import { expect, it } from 'vitest';
import { deliveries, FakePartition } from '../support/fake-partition';
import { anEvent } from '../support/rows';
import { unauthorized } from '../unit/processor/answers';
import { aWorld, watch } from '../unit/processor/journey';

it('ends when nothing was refused for a while, although this worker has nothing to charge', async () => {
  const world = aWorld();
  world.stripe.instead = () => unauthorized(401);
  const partition = new FakePartition();
  const run = watch(world.reconciler.run());
  await world.processor.deliver(partition, deliveries([anEvent()]));
  await world.host.until(() => world.halt.reason() !== undefined);
  expect(world.metrics.gauged('halted')).toBe(1);

  world.ledger.settleElsewhere(anEvent(), 'charged');
  await world.host.until(() => partition.position === '1');
  await world.host.advance(600_000);

  expect(world.halt.reason()).toBeUndefined();
  expect(world.metrics.gauged('halted')).toBe(0);
  world.drain();
  await world.host.until(run.done);
});

it('does not end while the key is still tried and refused', async () => {
  const world = aWorld();
  world.stripe.instead = () => unauthorized(401);
  await world.processor.deliver(new FakePartition(), deliveries([anEvent()]));
  await world.host.until(() => world.halt.reason() !== undefined);
  for (let minute = 0; minute < 20; minute++) {
    await world.host.advance(60_000);
    expect(world.halt.reason()).toMatch(/refuses the key/);
  }
  world.drain();
});
