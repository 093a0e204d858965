/**
 * An event whose row is stuck is parked after a while, so that the checkpoint may pass it. Its duplicates used to wait
 * behind it, each for the whole while again: a hundred of them held their partition for a hundred times as long.
 */
import { expect, it } from 'vitest';
import { deliveries, FakePartition } from '../support/fake-partition';
import { anEvent } from '../support/rows';
import { aWorld } from '../unit/processor/journey';

const PARK_AFTER_MS = 300_000;

it('parks the duplicates with the event they repeat, and nothing else', async () => {
  const world = aWorld({ parkAfterMs: PARK_AFTER_MS });
  const stuck = anEvent();
  world.ledger.claimElsewhere(stuck, 100 * PARK_AFTER_MS);
  const here = new FakePartition('test/stream/0');
  const there = new FakePartition('test/stream/1');
  const others = [anEvent({ amountCents: 1 }), anEvent({ billingPeriod: '2026-11' })];
  await world.processor.deliver(here, deliveries([...Array.from({ length: 20 }, () => stuck), ...others]));
  await world.processor.deliver(there, deliveries([stuck, stuck]));

  await world.host.until(() => here.position === '22' && there.position === '2', 2 * PARK_AFTER_MS);

  expect(world.ledger.status('acme')).toBe('pending');
  expect(world.metrics.counted('parked')).toBe(22);
  expect(world.ledger.conflicts).toHaveLength(1);
  expect(world.stripe.charged).toEqual(['acme/2026-11']);
});
