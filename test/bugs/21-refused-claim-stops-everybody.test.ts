/**
 * A claim that the database refuses for one event's sake (a constraint or trigger of its owner) fails all that were
 * claimed with it. The same events used to be claimed together again, for ever, and nobody was charged any more.
 */
import { expect, it } from 'vitest';
import { deliveries, FakePartition } from '../support/fake-partition';
import { anEvent } from '../support/rows';
import { aWorld } from '../unit/processor/journey';

it('charges the others, and goes on trying the refused one', async () => {
  const world = aWorld();
  const claim = world.ledger.claim.bind(world.ledger);
  let refused = 0;
  world.ledger.claim = async (requests) => {
    if (!requests.some(({ event }) => event.customerId === 'refused')) return claim(requests);
    refused++;
    throw new Error('P0001: not this customer');
  };
  const partition = new FakePartition();
  const ids = Array.from({ length: 60 }, (_, n) => (n === 20 ? 'refused' : `c${n}`));
  await world.processor.deliver(partition, deliveries(ids.map((customerId) => anEvent({ customerId }))));

  await world.host.until(() => world.stripe.charged.length === 59, 120_000);

  expect(partition.position).toBe('20');
  const before = refused;
  await world.host.advance(60_000);
  expect(refused).toBeGreaterThan(before);
  world.ledger.claim = claim;
  await world.host.until(() => partition.position === '60', 10_000);
});
