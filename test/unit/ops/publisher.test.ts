import type { PutRecordsCommand, PutRecordsCommandOutput, PutRecordsResultEntry } from '@aws-sdk/client-kinesis';
import { describe, expect, test } from 'vitest';
import { createPublisher, type PublisherOptions } from '../../../runtime/sources/kinesis/publisher';
import type { Undelivered } from '../../../runtime/sources/publishing/progress';
import { FakeHost } from '../../support/fake-host';

interface SentRecord {
  readonly text: string;
  readonly bytes: number;
  readonly key: string;
}

/** Answers for each record: nothing (delivered), an error code, or what the whole request fails with. */
type Script = (records: readonly SentRecord[], request: number) => (string | undefined)[] | Error;

/** A stream that plays a script; it refuses what Kinesis would refuse. */
function stream(script: Script = (records) => records.map(() => undefined)) {
  const requests: SentRecord[][] = [];
  const delivered: string[] = [];
  const client = {
    async send(command: PutRecordsCommand): Promise<PutRecordsCommandOutput> {
      const records = (command.input.Records ?? []).map(({ Data, PartitionKey }) => ({
        text: Buffer.from(Data ?? []).toString('latin1'),
        bytes: (Data?.byteLength ?? 0) + Buffer.byteLength(PartitionKey ?? ''),
        key: PartitionKey ?? '',
      }));
      if (records.length === 0 || records.length > 500) throw named('ValidationException');
      if (records.reduce((sum, record) => sum + record.bytes, 0) > 10 * 1024 * 1024) throw named('ValidationException');
      requests.push(records);
      const answer = script(records, requests.length);
      if (answer instanceof Error) throw answer;
      const Records = answer.map((code, index): PutRecordsResultEntry => {
        if (code !== undefined) return { ErrorCode: code, ErrorMessage: 'no' };
        delivered.push(records[index]!.text);
        return { SequenceNumber: String(delivered.length), ShardId: 'shardId-000000000000' };
      });
      return { Records, FailedRecordCount: answer.filter(Boolean).length, $metadata: {} };
    },
  };
  return { requests, delivered, client: client as unknown as PublisherOptions['client'] };
}

function named(name: string): Error {
  return Object.assign(new Error('refused'), { name });
}

async function* lines(list: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const line of list) yield Buffer.from(line);
}

async function publish(
  list: readonly (string | Uint8Array)[],
  target = stream(),
  more: Partial<PublisherOptions> = {},
) {
  const host = new FakeHost();
  const undelivered: Undelivered[] = [];
  const publisher = createPublisher({
    client: target.client,
    streamName: 'usage',
    host,
    concurrency: 1,
    onUndelivered: (line) => undelivered.push(line),
    ...more,
  });
  let result: Awaited<ReturnType<typeof publisher.publish>> | undefined;
  const running = publisher.publish(lines(list)).then((value) => {
    result = value;
  });
  await host.until(() => result !== undefined);
  await running;
  return {
    ...result!,
    left: undelivered.map(({ line, reason }) => ({ line, reason })),
    undeliveredLines: undelivered,
    host,
  };
}

const event = (customer: string, size = 0) => JSON.stringify({ customer_id: customer, pad: 'x'.repeat(size) });

describe('what is sent', () => {
  test('is the bytes of each line, valid or not, keyed by customer', async () => {
    const target = stream();
    const broken = Buffer.from([0xff, 0x00, 0x7b]);
    const list = [
      event('c1'),
      'not json',
      broken,
      '{"accountId":"a1"}',
      '{"customer_id":7}',
      '{"customer_id":""}',
      '[]',
    ];
    expect(await publish(list, target)).toMatchObject({ read: 7, sent: 7, undelivered: 0, requests: 1 });
    expect(target.requests[0]!.map(({ text }) => text)).toEqual(
      list.map((line) => Buffer.from(line).toString('latin1')),
    );
    const keys = target.requests[0]!.map(({ key }) => key);
    expect(keys.filter((key) => !/^[0-9a-f]{64}$/.test(key))).toEqual(['c1', 'a1']);
  });

  test('the same line always has the same key, another line another one', async () => {
    const target = stream();
    await publish(['junk', 'junk', 'other'], target);
    const [one, two, three] = target.requests[0]!.map(({ key }) => key);
    expect(one).toBe(two);
    expect(three).not.toBe(one);
  });

  test('empty lines are skipped, but counted when lines are named', async () => {
    const target = stream((records) => records.map(() => 'InternalFailure'));
    const { read, left } = await publish(['', event('c1'), '', event('c2')], target, { maxAttempts: 1 });
    expect(read).toBe(2);
    expect(left.map(({ line }) => line)).toEqual([2, 4]);
  });
});

describe('requests', () => {
  test('have at most 500 records', async () => {
    const target = stream();
    await publish(
      Array.from({ length: 1_201 }, (_, index) => event(`c${index}`)),
      target,
    );
    expect(target.requests.map((records) => records.length)).toEqual([500, 500, 201]);
  });

  test('have at most 10 MiB, keys included', async () => {
    const target = stream();
    const near = 1024 * 1024 - 100;
    const { sent } = await publish(
      Array.from({ length: 25 }, () => event('c', near)),
      target,
    );
    expect(sent).toBe(25);
    expect(target.requests.map((records) => records.length)).toEqual([10, 10, 5]);
  });

  test('a record with its key may have exactly 1 MiB; a larger one is reported and not sent', async () => {
    const target = stream();
    const frame = event('c').length + 1;
    const fits = event('c', 1024 * 1024 - frame);
    const { sent, left } = await publish([fits, `${fits} `], target);
    expect(target.requests[0]![0]!.bytes).toBe(1024 * 1024);
    expect(sent).toBe(1);
    expect(left).toEqual([{ line: 2, reason: 'larger than a record may be (1048576 bytes with its key)' }]);
  });

  test('a stream with larger records takes larger records', async () => {
    const { sent } = await publish([event('c', 2 * 1024 * 1024)], stream(), { maxRecordBytes: 10_485_760 });
    expect(sent).toBe(1);
  });

  test('are spread over time when a rate is given', async () => {
    const list = Array.from({ length: 1_500 }, (_, index) => event(`c${index}`));
    const { host } = await publish(list, stream(), { recordsPerSecond: 100 });
    expect(host.monotonic()).toBeGreaterThanOrEqual(10_000);
  });
});

describe('what fails', () => {
  test('is sent again alone, until it is delivered', async () => {
    const target = stream((records, request) =>
      records.map(({ key }) => (key === 'c1' && request < 4 ? 'ProvisionedThroughputExceededException' : undefined)),
    );
    const result = await publish([event('c0'), event('c1'), event('c2')], target);
    expect(result).toMatchObject({ sent: 3, retried: 3, undelivered: 0, requests: 4 });
    expect(target.requests.slice(1).map((records) => records.map(({ key }) => key))).toEqual([['c1'], ['c1'], ['c1']]);
    expect(target.delivered).toHaveLength(3);
  });

  test('waits longer each time', async () => {
    const { host } = await publish(
      [event('c')],
      stream(() => ['InternalFailure']),
      { maxAttempts: 5 },
    );
    // 100 + 200 + 400 + 800 ms, of which the jitter takes at most half.
    expect(host.monotonic()).toBeGreaterThanOrEqual(750);
    expect(host.monotonic()).toBeLessThanOrEqual(1_500);
  });

  test('is given up after as many attempts without progress, with the reason and the bytes', async () => {
    const target = stream((records) => records.map(({ key }) => (key === 'bad' ? 'InternalFailure' : undefined)));
    const result = await publish([event('good'), event('bad')], target, { maxAttempts: 3 });
    expect(result).toMatchObject({ sent: 1, undelivered: 1 });
    expect(result.left).toEqual([{ line: 2, reason: '3 attempts: InternalFailure: no' }]);
    expect(Buffer.from(result.undeliveredLines[0]!.data).toString()).toBe(event('bad'));
    // The first request delivered the other entry, so it does not count against this one.
    expect(target.requests).toHaveLength(4);
  });

  test('as a whole request with an unknown outcome is sent again', async () => {
    const target = stream((records, request) => (request === 1 ? named('TimeoutError') : records.map(() => undefined)));
    expect(await publish([event('c1'), event('c2')], target)).toMatchObject({ sent: 2, retried: 2, undelivered: 0 });
  });

  test('an answer for another number of records counts as none', async () => {
    const target = stream((records, request) => (request === 1 ? [undefined] : records.map(() => undefined)));
    expect(await publish([event('c1'), event('c2')], target)).toMatchObject({ sent: 2, undelivered: 0 });
  });

  test('an error code with no position is no delivery, whatever the count says', async () => {
    const target = stream((records, request) => records.map(() => (request === 1 ? '' : undefined)));
    expect(await publish([event('c1')], target)).toMatchObject({ sent: 1, retried: 1 });
  });

  test('a request refused for one record: only that record stays behind', async () => {
    const target = stream((records) =>
      records.some(({ key }) => key === 'poison') ? named('ValidationException') : records.map(() => undefined),
    );
    const list = Array.from({ length: 100 }, (_, index) => event(index === 37 ? 'poison' : `c${index}`));
    const { sent, left } = await publish(list, target);
    expect(sent).toBe(99);
    expect(left).toEqual([{ line: 38, reason: 'ValidationException: refused' }]);
  });

  test.each([
    'ResourceNotFoundException',
    'AccessDeniedException',
    'ExpiredTokenException',
    'CredentialsProviderError',
  ])('%s stops it: nothing more is sent, every line is accounted for', async (name) => {
    const target = stream(() => named(name));
    const list = Array.from({ length: 1_200 }, (_, index) => event(`c${index}`));
    const result = await publish(list, target);
    expect(target.requests).toHaveLength(1);
    expect(result).toMatchObject({ read: 1_200, sent: 0, undelivered: 1_200 });
    expect(new Set(result.left.map(({ line }) => line)).size).toBe(1_200);
  });

  test('a callback that fails ends it', async () => {
    const publisher = createPublisher({
      client: stream(() => named('AccessDeniedException')).client,
      streamName: 'usage',
      host: new FakeHost(),
      onUndelivered: () => {
        throw new Error('disk full');
      },
    });
    await expect(publisher.publish(lines([event('c')]))).rejects.toThrow('disk full');
  });
});
