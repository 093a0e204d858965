/** What is done to the Kinesis run, and when. */
import { killAfterAConfirm } from '../../faults/kill';
import type { Stage } from '../../stage';
import { blockPastTheLease, stealInMidCharge, throttleShortly } from './lease-faults';
import type { KinesisParts } from './parts';
import { awaitSplit, splitAShard } from './split';

/** Publishes in three parts, with faults in between. */
export async function play(stage: Stage<KinesisParts>): Promise<(() => Promise<void>) | undefined> {
  await stage.startWorkers();
  const [first, second] = stage.has('throttle', 'theft', 'split', 'outage') ? [0.4, 0.75] : [1, 1];
  const kill = stage.has('kill') ? killAfterAConfirm(stage) : undefined;
  await stage.send(stage.lines(0, first));
  // A dead worker's leases are nobody's: the other faults strike the living.
  await kill;
  if (stage.has('throttle')) await throttleShortly(stage);
  const theft = stage.has('theft') ? stealInMidCharge(stage) : undefined;
  await stage.send(stage.lines(first, second));
  await theft;
  const parent = stage.has('split') ? await splitAShard(stage) : undefined;
  const publishRest = () => stage.send(stage.lines(second, 1));
  await (stage.has('outage') ? blockPastTheLease(stage, publishRest) : publishRest());
  if (stage.has('duplicates')) await stage.sendAgain();
  return parent === undefined ? undefined : () => awaitSplit(parent, stage);
}
