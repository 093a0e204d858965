/** Faults of the hub itself: an acknowledgement that is lost, a link that falls silent. */
import { hubKeyOf } from '../../../../runtime/sources/event-hubs/publisher-entries';
import { until } from '../../fleet';
import type { Stage } from '../../stage';
import { checkpointOf, hubOf, ownerOf, storedIn, workerOf } from './hub-state';
import type { EventHubsParts } from './parts';

const SILENT = 'chargeonce_silent_partitions_total';
const RESUME_MS = 60_000;

/** The hub keeps the event and its answer is lost: the producer sends it again, and there are two copies. */
export async function loseAnAck(stage: Stage<EventHubsParts>, lines: readonly Uint8Array[]): Promise<void> {
  const { parts, screen, log } = stage;
  const event = lines.find((line) => stage.isEvent(line));
  if (event === undefined) {
    screen.fault('lost-ack', 'no event to publish');
  } else {
    log.injected('lost-ack');
    const before = storedIn(parts);
    parts.broker.faults.loseAck(1, { entity: parts.plan.hub.name });
    await stage.send([event]);
    const copies = storedIn(parts) - before;
    if (copies > 1) log.seen('lost-ack');
    screen.fault('lost-ack', `an acknowledgement was lost: the hub has ${copies} copies of one event`);
  }
  await stage.send(lines.filter((line) => line !== event));
}

/** A link stays open and delivers nothing more, without a word: the worker connects anew. */
export async function silenceALink(stage: Stage<EventHubsParts>, lines: readonly Uint8Array[]): Promise<void> {
  const { parts, fleet, screen, log } = stage;
  const partition = await partitionWithAnOwner(stage, lines);
  const links = partition === undefined ? 0 : parts.broker.faults.stall({ entity: parts.plan.hub.name, partition });
  const before = await fleet.sum(SILENT);
  await stage.send(lines);
  if (partition === undefined || links === 0) {
    screen.fault('silent-link', 'no link to a partition that more is sent to');
    return;
  }
  log.injected('silent-link');
  screen.fault('silent-link', `the link to partition ${partition} delivers nothing more, and stays open`);
  const end = hubOf(parts).partitions.get(partition)?.end ?? 0;
  const noticed = () => fleet.sum(SILENT).then((count) => count > before);
  const readOn = async () => (await checkpointOf(parts, partition)) >= end - 1;
  const resumed = (await until(noticed, RESUME_MS)) && (await until(readOn, RESUME_MS));
  if (resumed) log.seen('silent-link');
  screen.fault('silent-link', resumed ? 'noticed; a new link reads on' : 'the partition was not read on');
}

/** Of a living worker, and one that the first of these lines go to. */
async function partitionWithAnOwner({ parts, fleet }: Stage<EventHubsParts>, lines: readonly Uint8Array[]) {
  for (const partition of new Set(lines.map((line) => hubOf(parts).choose(hubKeyOf(line))))) {
    if (workerOf(await ownerOf(parts, partition), fleet)) return partition;
  }
  return undefined;
}
