/** What is done to the Event Hubs run, and when. */
import { killAfterAConfirm } from '../../faults/kill';
import { until } from '../../fleet';
import type { Stage } from '../../stage';
import { startTogether } from './cold-start';
import { loseAnAck, silenceALink } from './hub-faults';
import { behind } from './hub-state';
import { withoutLedger } from './ledger-outage';
import type { EventHubsParts } from './parts';
import { withoutStorage } from './storage-outage';
import { stealInMidCharge } from './theft';

const CHECKPOINT_MS = 20_000;
/** A worker looks several times while an ownership lasts. */
const BALANCE_MS = 30_000;
const BY_PARTS = ['storage-outage', 'theft', 'lost-ack', 'database-outage', 'silent-link'] as const;

/** Publishes in five parts, each in a fault of its own. */
export async function play(stage: Stage<EventHubsParts>): Promise<() => Promise<void>> {
  await (stage.has('cold-start') ? startTogether(stage) : stage.startWorkers({ oneByOne: true }));
  await untilBalanced(stage);
  const [first, second, third, fourth] = stage.has(...BY_PARTS) ? [0.35, 0.6, 0.65, 0.8] : [1, 1, 1, 1];
  const sendAndKill = async () => {
    const kill = stage.has('kill') ? killAfterAConfirm(stage) : undefined;
    await stage.send(stage.lines(0, first));
    await kill;
  };
  await (stage.has('storage-outage') ? withoutStorage(stage, sendAndKill) : sendAndKill());
  const theft = stage.has('theft') ? stealInMidCharge(stage) : undefined;
  await stage.send(stage.lines(first, second));
  await theft;
  const more = stage.lines(second, third);
  await (stage.has('lost-ack') ? loseAnAck(stage, more) : stage.send(more));
  const sendOn = () => stage.send(stage.lines(third, fourth));
  await (stage.has('database-outage') ? withoutLedger(stage, sendOn) : sendOn());
  const rest = stage.lines(fourth, 1);
  await (stage.has('silent-link') ? silenceALink(stage, rest) : stage.send(rest));
  if (stage.has('duplicates')) await stage.sendAgain();
  return () => readToTheEnd(stage);
}

/** Every partition has one holder, and no worker two more than another: what is lost from here on, a fault took. */
async function untilBalanced({ parts: { plan }, fleet }: Stage<EventHubsParts>): Promise<void> {
  const balanced = async () => {
    const values = await Promise.all(fleet.alive.map((worker) => worker.metric('chargeonce_leases_held')));
    const held = values.map((count = 0) => count);
    const sum = held.reduce((total, count) => total + count, 0);
    return sum === plan.hub.partitionCount && Math.max(...held) - Math.min(...held) <= 1;
  };
  await until(balanced, BALANCE_MS);
}

/** Whatever became of the checkpoints meanwhile, in the end they say that everything is done. */
async function readToTheEnd({ parts, log }: Stage<EventHubsParts>): Promise<void> {
  await until(async () => (await behind(parts)).length === 0, CHECKPOINT_MS, 500);
  for (const partition of await behind(parts)) log.problems.push(`The checkpoint of partition ${partition} is behind.`);
}
