/** `chargeonce publish` to an event hub: Microsoft's client on the local broker. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemHost } from '../../runtime/host';
import { runCli } from '../../runtime/ops/cli';
import { publishVerb } from '../../runtime/ops/publish';
import { words } from '../../runtime/ops/publish-report';
import { createHubPublisher, type HubPublisherOptions } from '../../runtime/sources/event-hubs/publisher';
import { createProducer } from '../../runtime/sources/event-hubs/publisher-client';
import { type AmqpBroker, startAmqpBroker } from '../emulators/amqp';
import { startEntra } from '../support/entra';
import { newAuthority } from '../support/rds/certificates';
import { fakeShell } from '../unit/ops/fake-shell';

let broker: AmqpBroker;
let folder: string;
beforeEach(async () => {
  broker = await startAmqpBroker();
  broker.createHub('usage', { partitions: 4 });
  folder = mkdtempSync(join(tmpdir(), 'chargeonce-publish-hub-'));
});
afterEach(async () => {
  await broker.close();
  rmSync(folder, { recursive: true });
});

interface Stored {
  readonly partition: string;
  readonly key: string | undefined;
  readonly text: string;
}

/** What the partitions hold, in order. */
function everything(): Stored[] {
  return [...(broker.hubs.get('usage')?.partitions ?? [])].flatMap(([partition, log]) =>
    Array.from({ length: log.end - log.begin }, (_, index) => {
      const message = log.at(log.begin + index)?.message;
      const { content } = (message?.body ?? {}) as { readonly content?: Buffer };
      const key = message?.message_annotations?.['x-opt-partition-key'] as string | undefined;
      return { partition, key, text: content?.toString('latin1') ?? 'no bytes' };
    }),
  );
}

const textsOf = (stored: readonly Stored[]) => stored.map(({ text }) => text);

async function chargeonce(args: string[], env: Record<string, string> = {}, stdin: Uint8Array[] = []) {
  const settings = { EVENTHUB_NAME: 'usage', EVENTHUB_CONNECTION_STRING: broker.connectionString, ...env };
  const { shell, written } = fakeShell(['publish', ...args], { SOURCE: 'event-hubs', ...settings }, stdin);
  const code = await runCli({ shell, host: systemHost, verbs: [publishVerb], version: '0' });
  return { code, ...written };
}

async function publish(lines: readonly string[], more: Partial<HubPublisherOptions> = {}, timeoutMs = 1_000) {
  const hub = { connectionString: broker.connectionString };
  const producer = await createProducer({ eventHubName: 'usage', hub, timeoutMs });
  const left: string[] = [];
  const publisher = createHubPublisher({
    producer,
    host: systemHost,
    onUndelivered: ({ line, reason }) => left.push(`${line}: ${reason}`),
    ...more,
  });
  async function* all() {
    for (const line of lines) yield Buffer.from(line, 'latin1');
  }
  const result = await publisher.publish(all()).finally(() => producer.close());
  return { ...result, left };
}

const event = (customer: string, period = 'p', size = 0) =>
  JSON.stringify({ customer_id: customer, billing_period: period, amount_cents: 100, pad: 'x'.repeat(size) });

describe('chargeonce publish', () => {
  test('puts every line into the hub as it is, by customer, and reports the one that is too large', async () => {
    const events = Array.from({ length: 3_000 }, (_, index) => event(`c${index % 50}`, `p${index}`));
    const odd = ['not json', '00123', Buffer.from([0xff, 0xfe, 0x00]).toString('latin1'), event('k'.repeat(200))];
    const large = event('large', 'p', 1024 * 1024);
    const [file, left] = [join(folder, 'events.ndjson'), join(folder, 'left.ndjson')];
    writeFileSync(file, Buffer.from([...events, '', ...odd, large].join('\n'), 'latin1'));
    const { code, out } = await chargeonce([file, '--json', '--undelivered', left]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      eventHub: 'usage',
      read: 3_005,
      sent: 3_004,
      retried: 0,
      unanswered: 0,
      undelivered: 1,
      // Each customer in each window of 2000 lines, and each odd line.
      requests: 104,
      lines: [{ line: 3_006, reason: expect.stringContaining('1048576 bytes') }],
    });
    expect(readFileSync(left, 'latin1')).toBe(`${large}\n`);
    const stored = everything();
    expect(textsOf(stored).sort()).toEqual([...events, ...odd].sort());
    const partitions = new Map<string | undefined, Set<string>>();
    for (const { key, partition } of stored) partitions.set(key, (partitions.get(key) ?? new Set()).add(partition));
    expect(partitions.size).toBe(54);
    expect([...partitions.values()].every((of) => of.size === 1)).toBe(true);
    expect([...partitions.keys()].every((key) => (key ?? '').length <= 128)).toBe(true);
    // In the file's order, as long as nothing fails.
    const ofOne = textsOf(stored.filter(({ key }) => key === 'c7'));
    expect(ofOne).toEqual(events.filter((_, index) => index % 50 === 7));
  });

  test('reads standard input, and says in words what it did', async () => {
    const input = [Buffer.from('{"customer_id":"a"}\n{"custo'), Buffer.from('mer_id":"b"}\n')];
    const { code, out } = await chargeonce(['-', '--hub', 'usage'], { SOURCE: '', EVENTHUB_NAME: '' }, input);
    expect([code, out]).toEqual([0, 'usage: sent 2 of 2 events; requests: 2, retried: 0\n']);
    expect(textsOf(everything()).sort()).toEqual(['{"customer_id":"a"}', '{"customer_id":"b"}']);
  });

  test('a hub that does not exist is told for every line, after one try', async () => {
    const { code, out } = await chargeonce(['-', '--hub', 'nowhere'], {}, [Buffer.from('1\n2\n3\n')]);
    expect(code).toBe(1);
    expect(out).toContain('not delivered: 3');
    expect(out).toMatch(/lines 1 to 3: MessagingEntityNotFoundError/);
  }, 60_000);

  test.each<[string[], Record<string, string>, string]>([
    [[], { EVENTHUB_NAME: '' }, 'received no --hub, and EVENTHUB_NAME is not set'],
    [['--hub', 'a b'], {}, '--hub: received "a b"; allowed: the name of an event hub'],
    [['--source', 'sqs'], {}, '--source: received "sqs"; allowed: kinesis | event-hubs'],
    [['--stream', 'usage'], {}, '--stream: belongs to --source kinesis'],
    [['--source', 'kinesis', '--hub', 'usage'], {}, '--hub: belongs to --source event-hubs'],
    [['--namespace', 'contoso.servicebus.windows.net'], {}, 'nothing beside EVENTHUB_CONNECTION_STRING'],
    [[], { EVENTHUB_CONNECTION_STRING: '' }, 'neither EVENTHUB_NAMESPACE nor EVENTHUB_CONNECTION_STRING is set'],
    [['--namespace', 'sb://x'], { EVENTHUB_CONNECTION_STRING: '' }, 'without sb:// and without a port'],
    [[], { EVENTHUB_CONNECTION_STRING: 'SharedAccessKey=geheim' }, 'copy it from the shared access policy'],
    [[], { EVENTHUB_CONNECTION_STRING: 'Endpoint=sb://x;EntityPath=other' }, 'received EntityPath=other'],
    [
      [],
      { EVENTHUB_CONNECTION_STRING: 'Endpoint=sb://x;SharedAccessKeyName=k' },
      'copy it from the shared access policy',
    ],
    [[], { EVENTHUB_CONNECTION_STRING: 'endpoint=sb://x;sharedaccesssignature=s' }, 'copy it from the shared'],
  ])('%j with %j is refused', async (args, env, words) => {
    const { code, out, err } = await chargeonce(['-', ...args], env, [Buffer.from('1\n')]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(words);
    expect(err).not.toContain('geheim');
  });
});

describe('what failed is sent again, and nothing else', () => {
  test('after a busy hub, which holds nothing of it', async () => {
    broker.faults.busy(3);
    const lines = Array.from({ length: 40 }, (_, index) => event(`c${index % 10}`, `p${index}`));
    const { sent, retried, unanswered, requests } = await publish(lines);
    expect({ sent, retried, unanswered, requests }).toEqual({ sent: 40, retried: 12, unanswered: 0, requests: 13 });
    expect(textsOf(everything()).sort()).toEqual([...lines].sort());
  });

  test('after lost answers: all is there, and only what went unanswered is there twice', async () => {
    broker.faults.loseAck(2);
    const lines = Array.from({ length: 20 }, (_, index) => event(`c${index}`));
    const { sent, unanswered, retried } = await publish(lines, { concurrency: 1 });
    expect([sent, unanswered, retried]).toEqual([20, 2, 2]);
    const stored = textsOf(everything());
    expect(new Set(stored)).toEqual(new Set(lines));
    expect(stored).toHaveLength(22);
    const report = { target: 'usage', noun: 'events', read: 20, sent, retried, unanswered, undelivered: 0 } as const;
    expect(words({ ...report, requests: 22, lines: [] })).toBe(
      'usage: sent 20 of 20 events; requests: 22, retried: 2\n' +
        'no answer came for 2, which were sent again or given up: any of them may be there, or twice; ' +
        'the ledger charges once\n',
    );
  }, 30_000);

  test('until there have been as many tries as are allowed', async () => {
    broker.faults.busy(1_000);
    const { sent, undelivered, left } = await publish([event('a'), event('a')], { maxAttempts: 3 });
    expect([sent, undelivered, left[0]]).toEqual([0, 2, expect.stringMatching(/^1: 3 attempts: ServerBusyError/)]);
    expect(left[0]).not.toContain('may have arrived');
    expect(everything()).toEqual([]);
  });

  test('and it is said when what was given up may have arrived', async () => {
    broker.faults.loseAck(2);
    const { left } = await publish([event('a')], { maxAttempts: 2 });
    expect(left[0]).toContain('it may have arrived all the same');
    expect(everything()).toHaveLength(2);
  }, 30_000);
});

test('events that do not fit into one send are sent in more, the oversized one left out', async () => {
  const lines = Array.from({ length: 9 }, (_, index) => event('a', `p${index}`, 300_000));
  lines.splice(4, 0, event('a', 'large', 1_100_000));
  const { sent, requests, left } = await publish(lines);
  expect([sent, requests, left]).toEqual([9, 4, [expect.stringMatching(/^5: larger than the hub takes/)]]);
  expect(everything()).toHaveLength(9);
}, 30_000);

test('the rate is kept', async () => {
  const sleeps: number[] = [];
  let time = 0;
  const host = { ...systemHost, monotonic: () => time, random: () => 0.5 };
  const sleep = async (ms: number) => {
    sleeps.push(Math.round(ms));
    time += Math.max(0, ms);
  };
  const lines = Array.from({ length: 4 }, (_, index) => event(`c${index}`));
  await publish(lines, { host: { ...host, sleep }, eventsPerSecond: 10, concurrency: 1 });
  expect(sleeps).toEqual([0, 100, 100, 100]);
});

test('an identity logs in over TLS with a token for Event Hubs, and one that may not send is told for every line', async () => {
  const MAY = { name: 'metering', clientId: 'c1e7a000-0000-4000-8000-000000000001', principalId: randomUUID() };
  const MAY_NOT = { name: 'other', clientId: 'c1e7a000-0000-4000-8000-000000000002', principalId: randomUUID() };
  const entra = await startEntra({ identities: [MAY, MAY_NOT] });
  const authority = newAuthority('a stand-in for Azure');
  const namespace = await startAmqpBroker({
    tls: authority.sign('127.0.0.1'),
    verifyToken: ({ token }) => {
      const claims = entra.verify(token, 'https://eventhubs.azure.net/');
      return typeof claims !== 'string' && claims.oid === MAY.principalId;
    },
  });
  const hub = namespace.createHub('usage', { partitions: 1 });
  writeFileSync(join(folder, 'ca.pem'), authority.pem);
  const publishAs = (clientId: string) =>
    ran(['publish', join(folder, 'events'), '--hub', 'usage', '--namespace', 'contoso.servicebus.windows.net'], {
      ...entra.environment(clientId),
      EVENTHUB_ENDPOINT_ADDRESS: namespace.tlsAddress ?? '',
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    });
  try {
    writeFileSync(join(folder, 'events'), `${event('a')}\n`);
    const [sent, refused] = await Promise.all([publishAs(MAY.clientId), publishAs(MAY_NOT.clientId)]);
    expect([sent.code, sent.out], sent.err).toEqual([0, 'usage: sent 1 of 1 events; requests: 1, retried: 0\n']);
    expect(refused.code, refused.err).toBe(1);
    expect(refused.out).toMatch(/not delivered: 1\n {2}line 1: UnauthorizedError.*Azure Event Hubs Data Sender/);
    expect(hub.partitions.get('0')?.end).toBe(1);
  } finally {
    await namespace.close();
    await entra.stop();
  }
}, 60_000);

/** A process of its own: which authorities it trusts is settled when it starts. */
async function ran(args: readonly string[], env: Record<string, string>) {
  const main = join(__dirname, '..', '..', 'runtime', 'main.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', main, ...args], {
    env: { PATH: process.env.PATH, ...env },
  });
  const written = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written.err += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, ...written };
}
