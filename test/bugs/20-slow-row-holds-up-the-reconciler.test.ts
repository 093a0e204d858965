/**
 * After an outage many rows wait for the reconciler, and some of them get no answer still. It used to move on a handful
 * at a time and to wait for the slowest of them, so that one row without an answer held up all that came after it.
 */
import { expect, it } from 'vitest';
import { anEvent } from '../support/rows';
import { aWorld, watch } from '../unit/processor/journey';

it('moves other rows on while one gets no answer', async () => {
  const world = aWorld();
  world.stripe.delayMs = (_, row) => (row.customerId === 'slow' ? 30_000 : 300);
  world.stripe.instead = (_, row) =>
    row.customerId === 'slow' ? { kind: 'no_answer', message: 'socket hang up' } : undefined;
  const ids = ['slow', ...Array.from({ length: 40 }, (_, n) => `c${n}`)];
  for (const customerId of ids) world.ledger.claimElsewhere(anEvent({ customerId }), 0);

  const run = watch(world.reconciler.run());
  await world.host.advance(25_000);

  expect(world.stripe.charged).toHaveLength(40);
  expect(world.ledger.status('slow')).toBe('pending');
  expect(world.stripe.mostUnderway).toBeLessThanOrEqual(4);
  world.drain();
  await world.host.until(run.done);
});
