/** The checkpoint store answers 503 for half a minute: charging goes on, nothing is lost, and nobody gives up a partition. */
import { systemHost } from '../../../../runtime/host';
import type { Stage } from '../../stage';
import type { Worker } from '../../workers';
import type { EventHubsParts } from './parts';

const OUTAGE_MS = 30_000;
const FAILURES = 'chargeonce_checkpoint_failures_total';
const LOST = 'chargeonce_leases_lost_total';

/** `meanwhile`: what is published and done in the outage, a kill for example. */
export async function withoutStorage(stage: Stage<EventHubsParts>, meanwhile: () => Promise<unknown>): Promise<void> {
  const { parts, fleet, screen, log } = stage;
  log.injected('storage-outage');
  const [failed, lost] = await Promise.all([countersOf(fleet.alive, FAILURES), countersOf(fleet.alive, LOST)]);
  const began = systemHost.monotonic();
  const outage = parts.storageProxy.inject({ action: { kind: 'busy' } });
  screen.fault('storage-outage', `the checkpoint store answers 503 for ${OUTAGE_MS / 1000} s`);
  const chargedBefore = parts.stripe.books.charges.length;
  try {
    await meanwhile();
    await systemHost.sleep(Math.max(0, began + OUTAGE_MS - systemHost.monotonic()));
    const [failures, losses] = [await grownBy(failed, FAILURES), await grownBy(lost, LOST)];
    const charged = parts.stripe.books.charges.length - chargedBefore;
    if (charged === 0) log.problems.push('Nothing was charged while the checkpoints could not be written.');
    if (losses > 0)
      log.problems.push(`An outage of the checkpoints of ${OUTAGE_MS / 1000} s cost ${losses} partitions.`);
    if (outage.hits.length > 0 && failures > 0) log.seen('storage-outage');
    screen.fault(
      'storage-outage',
      `over: ${outage.hits.length} requests refused, ${failures} checkpoints failed, ${charged} charges made meanwhile`,
    );
  } finally {
    outage.remove();
  }
}

/** Each worker's own, since a dead one answers no more. */
async function countersOf(workers: readonly Worker[], metric: string): Promise<Map<Worker, number>> {
  const entries = workers.map(async (worker) => [worker, (await worker.metric(metric)) ?? 0] as const);
  return new Map(await Promise.all(entries));
}

/** Over those who are still alive. */
async function grownBy(before: ReadonlyMap<Worker, number>, metric: string): Promise<number> {
  const now = await countersOf(
    [...before.keys()].filter((worker) => worker.exit === undefined),
    metric,
  );
  return [...now].reduce((sum, [worker, value]) => sum + value - (before.get(worker) ?? 0), 0);
}
