import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AwsLocal,
  createLeaseTable,
  createStream,
  leaseItems,
  put,
  putItem,
  startAwsLocal,
} from '../support/aws-local';
import { startWorker } from '../support/kinesis-worker';
import { RecordingConsumer } from '../support/recording-consumer';
import { until } from '../support/until';

let aws: AwsLocal;
beforeAll(async () => {
  aws = await startAwsLocal();
});
afterAll(() => aws.stop());

describe('two workers', () => {
  it('share four shards: the second steals until both hold two, and every record is read', async () => {
    await createStream(aws.kinesis, 'four', 4);
    await createLeaseTable(aws.dynamodb, 'four-leases');
    const shared = { streamName: 'four', leaseTableName: 'four-leases', leaseDurationMs: 3_000, clients: aws };
    const first = startWorker({ ...shared, workerId: 'first' });
    await until('the first worker holds all', () => first.metrics.gauges.get('leasesHeld') === 4);
    const second = startWorker({ ...shared, workerId: 'second' });
    const produced: string[] = [];
    const produce = async (count: number) => {
      for (let i = 0; i < count; i++) {
        produced.push(`event-${produced.length}`);
        await put(aws.kinesis, 'four', `customer-${produced.length}`, produced.at(-1) ?? '');
      }
    };
    await produce(50);
    await until(
      'both hold two',
      () => first.metrics.gauges.get('leasesHeld') === 2 && second.metrics.gauges.get('leasesHeld') === 2,
    );
    await produce(50);
    const read = () => new Set([...first.consumer.texts, ...second.consumer.texts]);
    await until('everything is read', () => read().size === produced.length);
    expect(second.metrics.counted('leasesTaken{stolen}')).toBe(2);
    expect(first.metrics.counted('leasesLost{stolen}')).toBe(2);
    expect(second.consumer.records.length).toBeGreaterThan(0);
    const owners = [...(await leaseItems(aws.dynamodb, 'four-leases')).values()].map((item) => item.leaseOwner?.S);
    expect(owners.filter((owner) => owner?.startsWith('first:'))).toHaveLength(2);

    await first.stop();
    await until('the second takes over what the first gave up', () => second.metrics.gauges.get('leasesHeld') === 4);
    expect(second.metrics.counted('leasesTaken{expired}')).toBe(0);
    await second.stop();
  });

  it('a lease of a worker that died is taken after its duration, not before, and read from its checkpoint', async () => {
    await createStream(aws.kinesis, 'dead', 1);
    await createLeaseTable(aws.dynamodb, 'dead-leases');
    const checkpoint = await put(aws.kinesis, 'dead', 'c', 'finished');
    await put(aws.kinesis, 'dead', 'c', 'unfinished');
    await putItem(aws.dynamodb, 'dead-leases', {
      leaseKey: { S: 'shardId-000000000000' },
      leaseOwner: { S: 'dead' },
      leaseCounter: { N: '41' },
      checkpoint: { S: checkpoint },
      checkpointSubSequenceNumber: { N: '0' },
      ownerSwitchesSinceCheckpoint: { N: '0' },
    });
    const begun = performance.now();
    const options = { streamName: 'dead', leaseTableName: 'dead-leases', workerId: 'heir', leaseDurationMs: 3_000 };
    const heir = startWorker({ ...options, clients: aws });
    await until('the heir reads', () => heir.consumer.records.length > 0);
    expect(performance.now() - begun).toBeGreaterThan(3_000);
    expect(heir.metrics.counted('leasesTaken{expired}')).toBe(1);
    expect(heir.consumer.texts).toEqual(['unfinished']);
    await heir.stop();
  });

  it('that say the same name are two owners all the same', async () => {
    await createStream(aws.kinesis, 'twins', 2);
    await createLeaseTable(aws.dynamodb, 'twins-leases');
    const options = { streamName: 'twins', leaseTableName: 'twins-leases', workerId: 'pod', clients: aws };
    const twins = [startWorker(options), startWorker(options)];
    await until('each holds one', () => twins.every((twin) => twin.metrics.gauges.get('leasesHeld') === 1));
    await Promise.all(twins.map((twin) => twin.stop()));
  });
});

describe('a drain', () => {
  it('waits for work in flight, checkpoints exactly what is finished, and the next worker goes on after it', async () => {
    await createStream(aws.kinesis, 'drain', 1);
    await createLeaseTable(aws.dynamodb, 'drain-leases');
    const sequences: string[] = [];
    for (let i = 0; i < 6; i++) sequences.push(await put(aws.kinesis, 'drain', 'c', `event-${i}`));
    const consumer = new RecordingConsumer();
    consumer.finishes = (record) => record.text !== 'event-3';
    const options = { streamName: 'drain', leaseTableName: 'drain-leases', clients: aws };
    const first = startWorker({ ...options, workerId: 'a', consumer });
    await until('all are delivered', () => consumer.records.length === 6);
    await first.stop();
    const item = (await leaseItems(aws.dynamodb, 'drain-leases')).get('shardId-000000000000');
    expect(item?.checkpoint?.S).toBe(sequences[2]);
    expect(item?.leaseOwner).toBeUndefined();

    const second = startWorker({ ...options, workerId: 'b' });
    await until('the rest is read', () => second.consumer.records.length === 3);
    await second.stop();
    expect(second.consumer.texts).toEqual(['event-3', 'event-4', 'event-5']);
  });

  it('does not outlast its time, whatever the work does', async () => {
    await createStream(aws.kinesis, 'stuck', 1);
    await createLeaseTable(aws.dynamodb, 'stuck-leases');
    await put(aws.kinesis, 'stuck', 'c', 'event');
    const consumer = new RecordingConsumer();
    consumer.onDeliver = () => new Promise(() => undefined);
    consumer.finished = () => new Promise(() => undefined);
    const options = { streamName: 'stuck', leaseTableName: 'stuck-leases', drainTimeoutMs: 300, clients: aws };
    const worker = startWorker({ ...options, workerId: 'a', consumer });
    await until('the shard is held', () => worker.metrics.gauges.get('leasesHeld') === 1);
    await worker.stop();
    expect(worker.log.matching('outlasts the drain')).toHaveLength(1);
    const item = (await leaseItems(aws.dynamodb, 'stuck-leases')).get('shardId-000000000000');
    expect(item?.leaseOwner).toBeUndefined();
    expect(item?.checkpoint?.S).toBe('TRIM_HORIZON');
  });
});

describe('a start', () => {
  it('without the table or the stream fails in words', async () => {
    const noTable = startWorker({ streamName: 'drain', leaseTableName: 'no-table', workerId: 'a', clients: aws });
    await expect(noTable.running).rejects.toThrow('The lease table "no-table" does not exist');
    const noStream = startWorker({ streamName: 'none', leaseTableName: 'drain-leases', workerId: 'a', clients: aws });
    await expect(noStream.running).rejects.toThrow('The Kinesis stream "none" does not exist');
    expect(noStream.notReady()).toBeDefined();
  });

  it.each(['CLIENT_VERSION_3X', 'CLIENT_VERSION_3X_WITH_ROLLBACK'])(
    'takes no lease from a fleet that the marker shows at %s',
    async (version) => {
      const table = `marker-${version}`;
      await createLeaseTable(aws.dynamodb, table);
      const marker = { leaseKey: { S: 'Migration3.0' }, cv: { S: version } };
      const free = { leaseKey: { S: 'shardId-000000000000' }, leaseCounter: { N: '1' }, checkpoint: { S: 'LATEST' } };
      for (const item of [marker, free]) await putItem(aws.dynamodb, table, item);
      const worker = startWorker({ streamName: 'drain', leaseTableName: table, workerId: 'a', clients: aws });
      await until('it says so', () => worker.notReady()?.includes(version) === true);
      await until('it has looked again', () => worker.looks() >= 2);
      await worker.stop();
      expect(worker.metrics.counters.size).toBe(0);
      expect((await leaseItems(aws.dynamodb, table)).get('shardId-000000000000')).toEqual(free);
    },
  );

  it('takes no lease when the marker stands in the table beside the lease table', async () => {
    await createLeaseTable(aws.dynamodb, 'older-fleet');
    await createLeaseTable(aws.dynamodb, 'older-fleet-CoordinatorState', 'key');
    const marker = { key: { S: 'Migration3.0' }, cv: { S: 'CLIENT_VERSION_3X' } };
    await putItem(aws.dynamodb, 'older-fleet-CoordinatorState', marker);
    const worker = startWorker({ streamName: 'drain', leaseTableName: 'older-fleet', workerId: 'a', clients: aws });
    await until('it says so', () => worker.notReady()?.includes('CLIENT_VERSION_3X') === true);
    await worker.stop();
    expect((await leaseItems(aws.dynamodb, 'older-fleet')).size).toBe(0);
  });

  it('takes leases beside a marker that says 2.x', async () => {
    await createLeaseTable(aws.dynamodb, 'marker-2x');
    await putItem(aws.dynamodb, 'marker-2x', { leaseKey: { S: 'Migration3.0' }, cv: { S: 'CLIENT_VERSION_2X' } });
    const worker = startWorker({ streamName: 'drain', leaseTableName: 'marker-2x', workerId: 'a', clients: aws });
    await until('it is ready and reads', () => worker.consumer.records.length === 6);
    expect(worker.notReady()).toBeUndefined();
    await worker.stop();
  });
});
