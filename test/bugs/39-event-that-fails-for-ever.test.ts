/**
 * Reported of every consumer with a checkpoint: one event that fails each time is tried again for ever, its
 * partition's checkpoint stands still, and what lies behind it is read again after each restart until it expires. Or
 * it is skipped (dapr/components-contrib#4561), and nobody knows. Here it is a row, its partition goes on, and the
 * reconciler charges it when Stripe lets it.
 */
import { EventHubProducerClient } from '@azure/event-hubs';
import { describe, expect, it } from 'vitest';
import type { FaultKind } from '../emulators/stripe/faults';
import { useHubBilling } from '../support/hub-billing';
import { HUB } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubBilling();
const PARK_AFTER_MS = 1_500;
/** What Stripe, or the way to it, answers for one customer each, for as long as the fault lasts. */
const FOR_EVER: Readonly<Record<string, FaultKind>> = {
  broken: 'error-500',
  burnt: 'error-500-cached',
  cut: 'drop',
  gateway: 'html-502',
  strange: 'wrong-shape',
  busy: 'in-use-409',
};
const FAILING = Object.keys(FOR_EVER);

/** Events of the failing customers, with one before, one in between that is no event, and one behind. Answers the way out. */
async function failForEver(parkAfterMs: number): Promise<() => void> {
  const { hub, billing, publish, worker } = world();
  const faults = FAILING.map((customer) =>
    billing.emulator.faults.add({
      on: 'create',
      when: 'before-execute',
      what: FOR_EVER[customer] ?? 'error-500',
      times: Number.MAX_SAFE_INTEGER,
      match: ({ body }) => body.includes(`cus_${customer}`),
    }),
  );
  await publish(['before', ...FAILING], '0');
  const producer = new EventHubProducerClient(hub.broker.connectionString, HUB);
  await producer.sendBatch([{ body: Buffer.from('no event at all') }], { partitionId: '0' });
  await producer.close();
  await publish(['behind'], '0');
  await worker('only', { billing: { parkAfterMs, stripeTimeoutMs: 2_000 } });
  await until('each has failed', () => faults.every(({ hits }) => hits > 0));
  return () => {
    for (const fault of faults) fault.remove();
  };
}
/** Of the last event. */
const END = FAILING.length + 2;

describe('an event that fails for ever', () => {
  it('is parked: the checkpoint passes it, and it is charged, once, when it no longer fails', async () => {
    const { hub, billing, charges, charged } = world();
    const heal = await failForEver(PARK_AFTER_MS);
    await until('the checkpoint is at the end', async () => (await hub.checkpoints())['0'] === END);
    expect(charges(['before', 'behind'])).toEqual([1, 1]);
    expect(charges(FAILING)).toEqual(FAILING.map(() => 0));
    for (const customer of FAILING) expect((await billing.row(customer)).status).toBe('pending');
    expect(await billing.db.query('SELECT source_position FROM dead_letters')).toHaveLength(1);
    heal();
    await billing.expireClaims();
    await charged(FAILING);
    expect(charges(FAILING)).toEqual(FAILING.map(() => 1));
    expect(billing.emulator.books.doubleCharged()).toEqual([]);
  });

  it('twin: holds its partition’s checkpoint back for as long as it is not parked', async () => {
    const { hub, publish, charged } = world();
    const heal = await failForEver(3_600_000);
    await charged(['before', 'behind']);
    await publish(['later'], '0');
    await charged(['later']);
    await until('what is before it is checkpointed', async () => (await hub.checkpoints())['0'] === 0);
    heal();
  });
});
