/**
 * A consumer that stood still for days goes on, and the hub has deleted meanwhile what came next: reading continues at the
 * oldest event that is kept, the checkpoint passes the gap, and nobody is told that events are to be published again. Only
 * the first batch after a start was looked at.
 */
import { describe, expect, it } from 'vitest';
import { HUB, useHubSources } from '../support/hub-source';
import { until } from '../support/until';

const world = useHubSources(1);

/** Reads `event-0` and `event-1`, stands still while 2 to 9 come and `lose` happens, and goes on with 10 and 11. */
async function standStill(lose: () => Promise<void>) {
  const { send } = world();
  let standing = false;
  let go = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const worker = await world().worker('slow', { batchSize: 1 });
  worker.consumer.onDeliver = async (_partition, batch) => {
    if (Buffer.from(batch[0]?.body ?? []).toString() !== 'event-1') return;
    standing = true;
    await gate;
  };
  await send(0, 1, '0');
  await until('the first is read', () => worker.consumer.texts.includes('event-0'));
  await send(1, 1, '0');
  await until('it stands still', () => standing);
  await lose();
  await send(10, 2, '0');
  go();
  await until('the last is read', () => worker.consumer.texts.includes('event-11'));
  return worker;
}

const expiredOf = (worker: Awaited<ReturnType<typeof standStill>>) =>
  worker.log.matching('events had expired before they were read').map(({ level, fields }) => ({ level, fields }));

describe('a reader that retention overtakes', () => {
  it('says how many events it has not read', async () => {
    const worker = await standStill(async () => {
      await world().send(2, 8, '0');
      world().broker.hubs.get(HUB)?.partitions.get('0')?.expire();
    });
    expect(worker.consumer.texts).not.toContain('event-9');
    await until('it is in the log', () => expiredOf(worker).length > 0);
    // One or two of the eight were with the client by then.
    const read = worker.consumer.texts.length - 4;
    expect(expiredOf(worker)).toMatchObject([{ level: 'error', fields: { expired: 8 - read } }]);
  });

  it('twin: says nothing when nothing was lost', async () => {
    const worker = await standStill(async () => undefined);
    await until('all is written', async () => (await world().checkpoints())['0'] === 3);
    expect(expiredOf(worker)).toEqual([]);
  });
});
