/** A split, a merge and expired iterators while two real workers charge: the sum charged is the sum produced. */
import { MergeShardsCommand, SplitShardCommand } from '@aws-sdk/client-kinesis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AwsFaultProxy, startAwsFaultProxy } from '../support/aws-fault-proxy';
import { type AwsLocal, shardsOf, startAwsLocal, streamActive } from '../support/aws-local';
import { type WorkerWorld, workerWorld } from '../support/worker-world';

const HALF = (1n << 127n).toString();

describe('resharding under real workers', () => {
  let aws: AwsLocal;
  let proxy: AwsFaultProxy;
  let world: WorkerWorld;
  beforeAll(async () => {
    aws = await startAwsLocal();
    proxy = await startAwsFaultProxy({ target: aws.kinesisEndpoint });
    world = await workerWorld(aws, { kinesisEndpoint: proxy.endpoint });
  });
  afterAll(async () => {
    await world.close();
    await proxy.stop();
    await aws.stop();
  });

  it('charges every event once', async () => {
    const workers = [await world.startWorker(), await world.startWorker()];
    await Promise.all(workers.map((worker) => worker.ready(30_000)));
    const batch = (name: string) =>
      Array.from({ length: 30 }, (_, index) => ({ customer: `${name}-${index}`, amount: 100 + index }));
    const produced = [...batch('before'), ...batch('split'), ...batch('merged')];

    await world.publish(produced.slice(0, 30));
    const [first] = await shardsOf(aws.kinesis, world.name);
    await aws.kinesis.send(
      new SplitShardCommand({ StreamName: world.name, ShardToSplit: first?.ShardId, NewStartingHashKey: HALF }),
    );
    await streamActive(aws.kinesis, world.name);
    const expired = proxy.inject({
      operation: 'GetRecords',
      action: { kind: 'refuse', status: 400, type: 'ExpiredIteratorException' },
      times: 6,
    });
    await world.publish(produced.slice(30, 60));

    const halves = (await shardsOf(aws.kinesis, world.name)).filter((shard) => shard.ParentShardId === first?.ShardId);
    expect(halves).toHaveLength(2);
    await aws.kinesis.send(
      new MergeShardsCommand({
        StreamName: world.name,
        ShardToMerge: halves[0]?.ShardId,
        AdjacentShardToMerge: halves[1]?.ShardId,
      }),
    );
    await streamActive(aws.kinesis, world.name);
    await world.publish(produced.slice(60));
    await world.charged(produced.length, 90_000);

    expect(expired.hits).toBe(6);
    expect(world.stripe.books.doubleCharged()).toEqual([]);
    expect(world.stripe.books.total('usd')).toBe(produced.reduce((sum, event) => sum + event.amount, 0));
    for (const worker of workers) expect((await worker.stop(30_000)).code).toBe(0);
  });
});
