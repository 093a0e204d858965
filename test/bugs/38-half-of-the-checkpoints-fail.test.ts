/**
 * Reported of consumers on Standard storage (dapr/components-contrib#3573): under load it answers checkpoints with
 * 503, or too late, the consumer dies of it, and what it had handled since the last checkpoint that was written is
 * handled again: billed twice, where nothing but the checkpoint stood against it.
 */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Worker } from '../../stacks/local/workers';
import { type RunningBlobStorage, startBlobStorage } from '../emulators/blob-storage';
import {
  type BlobFaultAction,
  type BlobFaultProxy,
  type BlobFaultRule,
  type BlobRequest,
  type InjectedBlobFault,
  startBlobFaultProxy,
} from '../support/blob-fault-proxy';
import { isCheckpointWrite, recordCheckpoints } from '../support/hub-billing';
import { type HubWorld, hubWorld } from '../support/hub-world';
import { until } from '../support/until';

const PARTITIONS = ['0', '1', '2'];
const HOUR_MS = 3_600_000;
const BUSY = { kind: 'refuse', status: 503, code: 'ServerBusy' } as const;
/** Taken in turn: the storage is busy, the connection breaks before it, or after it. */
const WAYS_TO_FAIL: readonly BlobFaultAction[] = [BUSY, { kind: 'drop-request' }, { kind: 'drop-response' }];

let storage: RunningBlobStorage;
let proxy: BlobFaultProxy;
let world: HubWorld;
const faults: InjectedBlobFault[] = [];
beforeAll(async () => {
  storage = await startBlobStorage();
  proxy = await startBlobFaultProxy(storage);
});
afterEach(async () => {
  for (const fault of faults.splice(0)) fault.remove();
  await world.close();
});
afterAll(async () => {
  await proxy?.stop();
  await storage?.stop();
});

const open = () =>
  hubWorld({ storage: proxy.connectionString, directStorage: storage.connectionString, partitions: PARTITIONS.length });
/** One event for each partition. */
const batch = (round: number) =>
  PARTITIONS.map((partition, n) => ({
    partition,
    event: { customer: `c${round}p${partition}`, amount: 100 * (3 * round + n + 1) },
  }));
const ROUNDS = [0, 1, 2];

async function publish(events: ReturnType<typeof batch>): Promise<void> {
  for (const { partition, event } of events) await world.publish([event], partition);
}

function inject(rule: BlobFaultRule): InjectedBlobFault {
  const fault = proxy.inject(rule);
  faults.push(fault);
  return fault;
}

/** Every second write of a checkpoint fails, with all its tries, in one way after another. Answers how many were begun. */
function failHalf(): () => number {
  const writes = new Map<unknown, number>();
  const orderOf = ({ headers }: BlobRequest): number => {
    const id = headers['x-ms-client-request-id'];
    const order = writes.get(id) ?? writes.size;
    writes.set(id, order);
    return order;
  };
  for (const [way, action] of WAYS_TO_FAIL.entries()) {
    const matches = (request: BlobRequest) =>
      isCheckpointWrite(request) && orderOf(request) % (2 * WAYS_TO_FAIL.length) === 2 * way;
    inject({ matches, action });
  }
  return () => writes.size;
}

async function killed(worker: Worker): Promise<void> {
  worker.kill();
  expect(await worker.exited).toEqual({ code: null, signal: 'SIGKILL' });
}

describe('a worker of whose checkpoints half fail, that is killed and started anew', () => {
  it('changes nothing in the totals, and its last checkpoint is of the last event', async () => {
    world = await open();
    const written = recordCheckpoints(proxy, world.container);
    const begun = failHalf();
    const sent = ROUNDS.map(batch);
    for (const round of ROUNDS) {
      // With what was published before, as a producer does that cannot know.
      for (const events of sent.slice(0, round + 1)) await publish(events);
      const before = begun();
      const worker = await world.startWorker();
      await world.charged((round + 1) * PARTITIONS.length);
      await until('each partition has tried a checkpoint', () => begun() >= before + PARTITIONS.length);
      if (round < ROUNDS.length - 1) await killed(worker);
    }
    // One, two and three of each.
    const ends = Object.fromEntries(PARTITIONS.map((partition) => [partition, 1 + 2 + 3 - 1]));
    await until('the checkpoints are at the end', async () => isDeepStrictEqual(await world.checkpoints(), ends));
    expect(faults.map(({ hits }) => hits.length > 0)).toEqual(WAYS_TO_FAIL.map(() => true));
    const { books } = world.stripe;
    expect(books.doubleCharged()).toEqual([]);
    const amounts = sent.flat().map(({ event }) => event.amount);
    expect(books.charges.map(({ amount }) => amount).toSorted((a, b) => a - b)).toEqual(amounts);
    for (const sequences of written.values()) expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  });

  it('twin: charges again where nothing but the checkpoint stands against it', async () => {
    world = await open();
    const busy = inject({ matches: isCheckpointWrite, action: BUSY });
    const worker = await world.startWorker();
    await publish(batch(0));
    await world.charged(PARTITIONS.length);
    await until('a checkpoint has failed', () => busy.hits.length > 0);
    await killed(worker);
    busy.remove();
    world.stripe.clock.advance(25 * HOUR_MS);
    await world.database.query('DELETE FROM billing_records');
    await world.startWorker();
    await until('all are charged again', () => world.stripe.books.doubleCharged().length === PARTITIONS.length);
  });
});
