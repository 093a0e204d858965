import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetRecordsCommand, GetShardIteratorCommand, type KinesisClient } from '@aws-sdk/client-kinesis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemHost } from '../../runtime/host';
import { runCli } from '../../runtime/ops/cli';
import { verbs } from '../../runtime/ops/verbs';
import { type AwsLocal, createStream, shardsOf, startAwsLocal } from '../support/aws-local';
import { fakeShell } from '../unit/ops/fake-shell';

let aws: AwsLocal;
let folder: string;
beforeAll(async () => {
  aws = await startAwsLocal();
  folder = mkdtempSync(join(tmpdir(), 'chargeonce-publish-'));
});
afterAll(async () => {
  await aws.stop();
  rmSync(folder, { recursive: true });
});

async function chargeonce(args: string[], stdin: Uint8Array[] = []) {
  const { shell, written } = fakeShell(args, {}, stdin);
  const code = await runCli({ shell, host: systemHost, verbs: verbs(), version: '0' });
  return { code, ...written };
}

interface Stored {
  readonly shard: string;
  readonly key: string;
  readonly text: string;
}

async function everythingIn(kinesis: KinesisClient, stream: string): Promise<Stored[]> {
  const stored: Stored[] = [];
  for (const { ShardId: shard = '' } of await shardsOf(kinesis, stream)) {
    const start = { StreamName: stream, ShardId: shard, ShardIteratorType: 'TRIM_HORIZON' } as const;
    let { ShardIterator: iterator } = await kinesis.send(new GetShardIteratorCommand(start));
    while (iterator !== undefined) {
      const answer = await kinesis.send(new GetRecordsCommand({ ShardIterator: iterator }));
      for (const { Data, PartitionKey } of answer.Records ?? []) {
        stored.push({ shard, key: PartitionKey ?? '', text: Buffer.from(Data ?? []).toString('latin1') });
      }
      iterator = (answer.Records ?? []).length === 0 ? undefined : answer.NextShardIterator;
    }
  }
  return stored;
}

const target = (stream: string) => ['--stream', stream, '--endpoint-url', aws.kinesisEndpoint, '--region', 'us-east-1'];

describe('chargeonce publish', () => {
  test('puts every line into the stream as it is, and reports the one that is too large', async () => {
    await createStream(aws.kinesis, 'published', 2);
    const events = Array.from({ length: 1_200 }, (_, index) =>
      JSON.stringify({ customer_id: `c${index % 50}`, billing_period: `p${index}`, amount_cents: 100 }),
    );
    const odd = ['not json', Buffer.from([0xff, 0xfe, 0x00]).toString('latin1')];
    const large = `{"customer_id":"large","pad":"${'x'.repeat(1024 * 1024)}"}`;
    const file = join(folder, 'events.ndjson');
    const left = join(folder, 'left.ndjson');
    writeFileSync(file, Buffer.from([...events, '', ...odd, large].join('\n'), 'latin1'));

    const { code, out } = await chargeonce(['publish', file, ...target('published'), '--json', '--undelivered', left]);

    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      stream: 'published',
      read: 1_203,
      sent: 1_202,
      undelivered: 1,
      requests: 3,
      lines: [{ line: 1_204, reason: expect.stringContaining('1048576 bytes') }],
    });
    expect(readFileSync(left, 'latin1')).toBe(`${large}\n`);
    const stored = await everythingIn(aws.kinesis, 'published');
    expect(stored.map(({ text }) => text).sort()).toEqual([...events, ...odd].sort());
    const shardsOfCustomer = new Map<string, Set<string>>();
    for (const { key, shard } of stored) shardsOfCustomer.set(key, (shardsOfCustomer.get(key) ?? new Set()).add(shard));
    expect(shardsOfCustomer.size).toBe(52);
    expect([...shardsOfCustomer.values()].every((shards) => shards.size === 1)).toBe(true);
  });

  test('reads standard input, and says in words what it did', async () => {
    await createStream(aws.kinesis, 'piped', 1);
    const input = [Buffer.from('{"customer_id":"a"}\n{"custo'), Buffer.from('mer_id":"b"}\n')];
    const { code, out } = await chargeonce(['publish', '-', ...target('piped')], input);
    expect([code, out]).toEqual([0, 'piped: sent 2 of 2 records; requests: 1, retried: 0\n']);
    expect((await everythingIn(aws.kinesis, 'piped')).map(({ key }) => key).sort()).toEqual(['a', 'b']);
  });

  test('a stream that does not exist is told for every line', async () => {
    const { code, out } = await chargeonce(['publish', '-', ...target('nowhere')], [Buffer.from('1\n2\n3\n')]);
    expect(code).toBe(1);
    expect(out).toContain('not delivered: 3');
    expect(out).toContain('lines 1 to 3: ResourceNotFoundException');
  });
});
