/** A stream that is imported was made by somebody else: how long it keeps events is seen when a worker starts. */
import { IncreaseStreamRetentionPeriodCommand, KinesisClient } from '@aws-sdk/client-kinesis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { warnOfRetention } from '../../runtime/sources/kinesis/retention';
import { type AwsLocal, createLeaseTable, createStream, put, startAwsLocal } from '../support/aws-local';
import { startWorker } from '../support/kinesis-worker';
import { KeptLog } from '../support/quiet';
import { until } from '../support/until';

const going = new AbortController().signal;
let aws: AwsLocal;
beforeAll(async () => {
  aws = await startAwsLocal();
});
afterAll(() => aws.stop());

/** A stream that keeps records for so many hours. */
async function streamOf(streamName: string, hours: number): Promise<void> {
  await createStream(aws.kinesis, streamName, 1);
  if (hours === 24) return;
  const longer = { StreamName: streamName, RetentionPeriodHours: hours };
  await aws.kinesis.send(new IncreaseStreamRetentionPeriodCommand(longer));
}

it('a stream that keeps events for a day is warned of, once for each start, and is read all the same', async () => {
  await streamOf('day', 24);
  await createLeaseTable(aws.dynamodb, 'day-leases');
  await put(aws.kinesis, 'day', 'c', 'event');
  const worker = startWorker({ streamName: 'day', leaseTableName: 'day-leases', workerId: 'a', clients: aws });
  await until('the event is read', () => worker.consumer.records.length === 1);
  await worker.stop();
  expect(worker.log.matching('the stream keeps events for too short a time')).toMatchObject([
    { level: 'warn', fields: { retentionHours: 24, allowed: '48 h or more' } },
  ]);
});

it.each([47, 48, 168])('%d h', async (hours) => {
  const log = new KeptLog();
  await streamOf(`kept-${hours}`, hours);
  await warnOfRetention(aws.kinesis, { StreamName: `kept-${hours}` }, log, going);
  expect(log.lines.map(({ fields }) => fields)).toEqual(
    hours < 48 ? [{ retentionHours: hours, allowed: '48 h or more' }] : [],
  );
});

it('that nobody answers is said, and stops nothing', async () => {
  const log = new KeptLog();
  await warnOfRetention(aws.kinesis, { StreamName: 'nowhere' }, log, going);
  const away = new KinesisClient({ region: 'us-east-1', endpoint: 'http://127.0.0.1:1', maxAttempts: 1 });
  await warnOfRetention(away, { StreamName: 'nowhere' }, log, going);
  expect(log.matching('how long the stream keeps events could not be read')).toHaveLength(2);
});

it('a stop does not wait for an answer', async () => {
  const log = new KeptLog();
  await warnOfRetention(aws.kinesis, { StreamName: 'nowhere' }, log, AbortSignal.abort());
  expect(log.lines).toEqual([]);
});
