/**
 * Reported for years of the clients for Event Hubs: a partition stops being read, without an error, while the others go
 * on, ownership is renewed and the process calls itself healthy, until somebody restarts it. Events pile up and expire.
 */
import { describe, expect, it } from 'vitest';
import { useHubBilling } from '../support/hub-billing';
import { HUB } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubBilling(3);
/** By partition: one that falls silent, one whose link is closed, one that is well. */
const [SILENT, CLOSED, WELL] = ['0', '1', '2'] as const;

/** A worker that has charged one customer on each partition; then two of them stop. */
async function stopTwo(silenceMs: number) {
  const { hub, worker, publish, charged } = world();
  const only = await worker('only', { source: { silenceMs } });
  for (const partition of [SILENT, CLOSED, WELL]) await publish([`first${partition}`], partition);
  await charged([`first${SILENT}`, `first${CLOSED}`, `first${WELL}`]);
  const { faults } = hub.broker;
  // The link that is open never sends again; nor does a new one, until it is let go.
  expect(faults.stall({ entity: HUB, partition: SILENT })).toBeGreaterThan(0);
  const letGo = faults.silence({ entity: HUB, partition: SILENT });
  expect(faults.detach({ entity: HUB, partition: CLOSED })).toBeGreaterThan(0);
  for (const partition of [SILENT, CLOSED, WELL]) await publish([`next${partition}`], partition);
  return { only, letGo };
}

describe('a partition that stops without a word', () => {
  it('is said by readiness and a metric, does not stop the others, and is charged on without a restart', async () => {
    const { hub, charges, charged, publish } = world();
    const { only, letGo } = await stopTwo(600);
    await charged([`next${CLOSED}`, `next${WELL}`]);
    await until('it is not ready', () => only.notReady() === `partition ${SILENT} is silent although the hub has more`);
    await until('it was tried again', () => only.metrics.counted('silentPartitions') > 1);
    expect(charges([`next${SILENT}`])).toEqual([0]);
    // The one that is well is read on meanwhile.
    await publish(['later'], WELL);
    await charged(['later']);
    letGo();
    await charged([`next${SILENT}`]);
    await until('it is ready again', () => only.notReady() === undefined);
    await until('all is below a checkpoint', async () => {
      const { [SILENT]: silent, [CLOSED]: closed, [WELL]: well } = await hub.checkpoints();
      return silent === 1 && closed === 1 && well === 2;
    });
    const all = ['first0', 'first1', 'first2', 'next0', 'next1', 'next2', 'later'];
    expect(charges(all)).toEqual(all.map(() => 1));
  });

  it('twin: stays so without the watchdog, while the others are read and the worker calls itself ready', async () => {
    const { charges, charged, publish } = world();
    const { only, letGo } = await stopTwo(3_600_000);
    letGo();
    await publish(['later'], SILENT);
    for (let n = 0; n < 3; n++) {
      await publish([`well${n}`], WELL);
      await charged([`well${n}`]);
    }
    await charged([`next${CLOSED}`]);
    expect(charges([`next${SILENT}`, 'later'])).toEqual([0, 0]);
    expect(only.notReady()).toBeUndefined();
  });
});
