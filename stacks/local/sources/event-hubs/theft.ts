/** Another owner takes a partition while a charge of it takes 20 s: the charge ends, and its old owner writes no checkpoint. */
import { systemHost } from '../../../../runtime/host';
import { hubKeyOf } from '../../../../runtime/sources/event-hubs/publisher-entries';
import { claimant } from '../../claimant';
import { caught } from '../../faults/context';
import { until } from '../../fleet';
import type { Stage } from '../../stage';
import { checkpointOf, hubOf, ownerOf, setOwner, workerOf } from './hub-state';
import type { EventHubsParts } from './parts';

const LOST = 'chargeonce_leases_lost_total';
const STOLEN = { reason: 'stolen' };
const CHARGE_MS = 20_000;
/** A worker looks at the blobs several times while an ownership lasts. */
const NOTICE_MS = 30_000;

/** Tried again when it hit a dead owner's partition. */
export async function stealInMidCharge(stage: Stage<EventHubsParts>): Promise<void> {
  for (let tries = 1; tries <= 3; tries++) {
    const outcome = await stealOnce(stage);
    stage.screen.fault('theft', outcome);
    if (outcome !== OWNERLESS) return;
  }
}

const OWNERLESS = 'the partition had no living owner; tried again';

async function stealOnce(stage: Stage<EventHubsParts>): Promise<string> {
  const { parts, fleet, screen, log } = stage;
  const hold = parts.stripe.faults.hold({ on: 'confirm', when: 'before-execute' });
  try {
    const reached = await caught(hold.reached, stage);
    if (reached === undefined) return 'no charge came by';
    const heldAt = systemHost.monotonic();
    const { customerId } = await claimant(reached.path, parts, fleet);
    const event = Buffer.from(JSON.stringify({ customer_id: customerId }));
    const partition = hubOf(parts).choose(hubKeyOf(event));
    const owner = workerOf(await ownerOf(parts, partition), fleet);
    if (owner === undefined) return OWNERLESS;
    log.injected('theft');
    const before = (await owner.metric(LOST, STOLEN)) ?? 0;
    await setOwner(parts, partition, 'thief');
    screen.fault('theft', `partition ${partition} of ${owner.name} was stolen while a charge takes 20 s`);
    const noticed = await until(async () => ((await owner.metric(LOST, STOLEN)) ?? 0) > before, NOTICE_MS);
    if (noticed) log.seen('theft');
    const place = await checkpointOf(parts, partition);
    await systemHost.sleep(Math.max(0, heldAt + CHARGE_MS - systemHost.monotonic()));
    hold.release();
    await watchCheckpoint(stage, partition, place);
    return noticed ? 'noticed; the charge on its way ended, its checkpoint was not written' : 'not noticed';
  } finally {
    hold.release();
  }
}

/** The charge is done; then the thief goes, as one does who drains. */
async function watchCheckpoint({ parts, log }: Stage<EventHubsParts>, partition: string, place: number): Promise<void> {
  await systemHost.sleep(2_000);
  const now = await checkpointOf(parts, partition);
  if (now !== place) {
    log.problems.push(`Partition ${partition} was checkpointed at ${now}, after ${place}, by one who did not own it.`);
  }
  await setOwner(parts, partition, '');
}
