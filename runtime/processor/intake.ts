/** From bytes to work: decodes a batch, parks what is no event, ends what is already billed. */
import type { Host } from '../host/host';
import type { PartitionState } from './partition-state';
import type { BillingEvent, DeadLetter, Delivery, LedgerPort, Log, Metrics } from './ports';
import type { Work } from './work';

export type Decoded =
  | { readonly ok: true; readonly event: BillingEvent }
  | { readonly ok: false; readonly reason: string };

export interface IntakeTools {
  readonly decode: (body: Uint8Array) => Decoded;
  readonly ledger: LedgerPort;
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Deliveries that share one read and one dead-letter statement. */
const SLICE = 500;
const RETRY_FIRST_MS = 500;
const RETRY_LONGEST_MS = 10_000;

/**
 * Answers the events that still need a claim. Undefined when ownership was lost or work stopped before the
 * ledger could be asked: nothing of this batch may count as finished then.
 */
export async function takeIn(
  state: PartitionState,
  batch: readonly Delivery[],
  stopped: () => boolean,
  tools: IntakeTools,
): Promise<Work[] | undefined> {
  const works: Work[] = [];
  for (let start = 0; start < batch.length; start += SLICE) {
    const slice = batch.slice(start, start + SLICE);
    const taken = await takeSlice(state, slice, start + SLICE >= batch.length, stopped, tools);
    if (taken === undefined) return undefined;
    works.push(...taken);
  }
  return works;
}

async function takeSlice(
  state: PartitionState,
  slice: readonly Delivery[],
  endsBatch: boolean,
  stopped: () => boolean,
  tools: IntakeTools,
): Promise<Work[] | undefined> {
  const source = state.partition.id;
  const works: Work[] = [];
  const letters: { letter: DeadLetter; finish: () => void }[] = [];
  slice.forEach((delivery, index) => {
    const entry = state.add(delivery.position, endsBatch && index === slice.length - 1);
    const decoded = tools.decode(delivery.body);
    tools.metrics.count('events', { outcome: decoded.ok ? 'decoded' : 'malformed' });
    if (decoded.ok) {
      works.push({
        event: decoded.event,
        sourcePosition: delivery.position,
        entry,
        partition: state,
        firstClaimedAt: undefined,
      });
      return;
    }
    const { body, position, partitionKey } = delivery;
    letters.push({
      letter: { source, sourcePosition: position, partitionKey, body, reason: decoded.reason },
      finish: () => state.finish(entry),
    });
  });
  if (letters.length > 0) {
    const keep = async () => {
      await tools.ledger.deadLetter(letters.map((l) => l.letter));
      return true;
    };
    if (!(await insist(keep, state, stopped, tools))) return undefined;
    tools.metrics.count('deadLetters', {}, letters.length);
    for (const { letter, finish } of letters) {
      tools.log.warn({ source, position: letter.sourcePosition, reason: letter.reason }, 'Not an event: dead-lettered');
      finish();
    }
  }
  return skipBilled(works, state, stopped, tools);
}

/** Replays end here, with one read and no lock. */
async function skipBilled(
  works: readonly Work[],
  state: PartitionState,
  stopped: () => boolean,
  tools: IntakeTools,
): Promise<Work[] | undefined> {
  if (works.length === 0) return [];
  const answers = await insist(() => tools.ledger.look(works.map((w) => w.event)), state, stopped, tools);
  if (answers === undefined) return undefined;
  return works.filter((work, index) => {
    // Everything but a settled row of the same amount goes to the claim, which decides and records.
    if (answers[index]?.outcome !== 'settled') return true;
    tools.metrics.count('duplicates');
    state.finish(work.entry);
    return false;
  });
}

/** Asks the ledger until it answers, for as long as the partition is ours: an event is never given up. */
async function insist<T>(
  ask: () => Promise<T>,
  state: PartitionState,
  stopped: () => boolean,
  tools: IntakeTools,
): Promise<T | undefined> {
  for (let tries = 0; !state.lost && !stopped(); tries++) {
    try {
      return await ask();
    } catch (error) {
      tools.log.error({ err: error }, 'The ledger did not answer; the batch waits and is tried again');
      await tools.host.sleep(Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** tries), state.partition.signal);
    }
  }
  return undefined;
}
