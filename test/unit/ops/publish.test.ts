import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemHost } from '../../../runtime/host';
import { runCli } from '../../../runtime/ops/cli';
import { publishVerb } from '../../../runtime/ops/publish';
import { fakeShell } from './fake-shell';

/** A stream that takes everything, and keeps the stream's name and the region of each request. */
let server: Server;
let endpoint: string;
let requests: { stream: string; region: string; records: number }[];
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { StreamName, Records } = JSON.parse(Buffer.concat(chunks).toString()) as {
      StreamName: string;
      Records: unknown[];
    };
    const region = /Credential=[^/]+\/\d+\/([^/]+)\//.exec(request.headers.authorization ?? '')?.[1] ?? '';
    requests.push({ stream: StreamName, region, records: Records.length });
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
    const delivered = Records.map((_, index) => ({ SequenceNumber: String(index + 1), ShardId: 'shardId-0' }));
    response.end(JSON.stringify({ FailedRecordCount: 0, Records: delivered }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(
  () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
);

let folder: string;
let file: string;
const LINES = '{"customer_id":"a"}\n{"customer_id":"b"}\n';
beforeEach(() => {
  requests = [];
  folder = mkdtempSync(join(tmpdir(), 'chargeonce-publish-'));
  file = join(folder, 'events.ndjson');
  writeFileSync(file, LINES);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'x');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'x');
  vi.stubEnv('AWS_REGION', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

async function publish(args: string[], env: Record<string, string> = {}) {
  const { shell, written } = fakeShell(['publish', ...args, '--endpoint-url', endpoint], env);
  const code = await runCli({ shell, host: systemHost, verbs: [publishVerb], version: '1.2.3' });
  return { code, ...written };
}

/** Exit code 2, one line on stderr, nothing sent. */
async function refused(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { code, out, err } = await publish(args, env);
  expect([code, out, requests]).toEqual([2, '', []]);
  expect(err).toMatch(/^chargeonce publish: [^\n]+\n$/);
  return err.trimEnd().replace('chargeonce publish: ', '');
}

describe('which stream', () => {
  test('is what --stream and --region say', async () => {
    const env = { STREAM_NAME: 'other', AWS_REGION: 'us-east-1' };
    expect((await publish([file, '--stream', 'usage', '--region', 'eu-west-1'], env)).code).toBe(0);
    expect(requests).toEqual([{ stream: 'usage', region: 'eu-west-1', records: 2 }]);
  });

  test('is what STREAM_NAME and AWS_REGION say without them', async () => {
    const { code, out } = await publish([file], { STREAM_NAME: 'usage', AWS_REGION: 'eu-west-1' });
    expect([code, out]).toEqual([0, 'usage: sent 2 of 2 records; requests: 1, retried: 0\n']);
    expect(requests).toEqual([{ stream: 'usage', region: 'eu-west-1', records: 2 }]);
  });

  test.each([{}, { STREAM_NAME: '' }])('must be said: %j', async (env) => {
    expect(await refused([file], env)).toBe(
      'received no --stream, and STREAM_NAME is not set; say which stream to publish to, e.g. --stream usage',
    );
  });

  test('that is said but empty is not looked for elsewhere', async () => {
    expect(await refused([file, '--stream', ''], { STREAM_NAME: 'production' })).toContain('--stream: received ""');
  });

  test.each([
    [['--stream', 'arn:aws:kinesis:eu-west-1:1:stream/usage'], {}, '--stream: received "arn:aws:kinesis'],
    [[], { STREAM_NAME: 'a b' }, 'STREAM_NAME: received "a b"; allowed: the name of a stream'],
  ])('that can be none is refused: %j %j', async (args, env, words) => {
    expect(await refused([file, ...args], env)).toContain(words);
  });
});

describe('the file', () => {
  const TO = ['--stream', 'usage', '--region', 'eu-west-1'];

  test('that is a folder', async () => {
    expect(await refused([folder, ...TO])).toBe(
      `file: received ${folder}, which is a folder; give a file with one event a line, or - for standard input`,
    );
  });

  test('that is missing', async () => {
    const missing = join(folder, 'missing.ndjson');
    expect(await refused([missing, ...TO])).toBe(
      `file: received ${missing}, which does not exist; give a file with one event a line, or - for standard input`,
    );
  });

  test('that lies under a file', async () => {
    expect(await refused([join(file, 'x'), ...TO])).toContain('which cannot be read (ENOTDIR)');
  });
});

describe('--undelivered', () => {
  const TO = ['--stream', 'usage', '--region', 'eu-west-1'];

  test('is emptied when all is delivered', async () => {
    const left = join(folder, 'left.ndjson');
    writeFileSync(left, 'old\n');
    expect((await publish([file, ...TO, '--undelivered', left])).code).toBe(0);
    expect(readFileSync(left, 'utf8')).toBe('');
  });

  test('in a folder that is missing', async () => {
    const left = join(folder, 'missing', 'left.ndjson');
    expect(await refused([file, ...TO, '--undelivered', left])).toBe(
      `--undelivered: received ${left}, whose folder does not exist; make it first, or name another file`,
    );
  });

  test('that is a folder', async () => {
    expect(await refused([file, ...TO, '--undelivered', folder])).toBe(
      `--undelivered: received ${folder}, which is a folder; name a file in it`,
    );
  });

  test('that lies under a file', async () => {
    expect(await refused([file, ...TO, '--undelivered', join(file, 'x')])).toContain('cannot be written (ENOTDIR)');
  });

  test('that is the file to publish, under whatever name, leaves it as it is', async () => {
    const link = join(folder, 'link.ndjson');
    symlinkSync(file, link);
    for (const same of [file, link]) {
      expect(await refused([file, ...TO, '--undelivered', same])).toContain('which is the file to publish');
    }
    expect(readFileSync(file, 'utf8')).toBe(LINES);
  });
});
