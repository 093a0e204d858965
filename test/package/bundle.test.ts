import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ABSENT, type Built, buildImages, MAX_BUNDLE_BYTES } from '../../runtime/image/build';
import { SCHEMA_VERSION } from '../../runtime/ledger';
import { instructions, type Layout, layOut } from './image-layout';
import { node24 } from './node-24';

const ROOT = join(__dirname, '..', '..');
const IMAGES = join(ROOT, 'dist', 'runtime', 'image');
const VERSION = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
/** A number that belongs to nobody: the image's own user does not exist here. */
const NOBODY = 65_534;

const REFUSED = 'http://127.0.0.1:1';
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x', AWS_REGION: 'eu-west-1' };
const WORKER = {
  ...CREDENTIALS,
  DATABASE_URL: 'postgres://worker:hunter2@127.0.0.1:1/ledger?sslmode=disable',
  STRIPE_API_KEY: 'rk_test_abc123',
  STRIPE_API_BASE: REFUSED,
  STRIPE_TIMEOUT_MS: '500',
  SPEND_CAP_MODE: 'off',
  STREAM_NAME: 'usage',
  LEASE_TABLE_NAME: 'leases',
  AWS_ENDPOINT_URL_KINESIS: REFUSED,
  AWS_ENDPOINT_URL_DYNAMODB: REFUSED,
  HEALTH_HOST: '127.0.0.1',
  HEALTH_PORT: '0',
};
const HUB_WORKER = {
  DATABASE_URL: WORKER.DATABASE_URL,
  STRIPE_API_KEY: WORKER.STRIPE_API_KEY,
  STRIPE_API_BASE: REFUSED,
  STRIPE_TIMEOUT_MS: '500',
  SPEND_CAP_MODE: 'off',
  EVENTHUB_NAME: 'usage',
  EVENTHUB_CONSUMER_GROUP: 'chargeonce',
  EVENTHUB_CONNECTION_STRING: 'Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=k;SharedAccessKey=hunter2',
  CHECKPOINT_CONNECTION_STRING:
    'DefaultEndpointsProtocol=http;AccountName=a;AccountKey=hunter2;BlobEndpoint=http://127.0.0.1:1/a',
  CHECKPOINT_CONTAINER: 'checkpoints',
  HEALTH_HOST: '127.0.0.1',
  HEALTH_PORT: '0',
};
/** To a stream that is not there, without credentials. */
const PUBLISH = ['publish', '-', '--stream', 'usage', '--json', '--endpoint-url', REFUSED];
const PUBLISHER = { ...CREDENTIALS, AWS_ACCESS_KEY_ID: '', AWS_EC2_METADATA_DISABLED: 'true' };

let built: Built[];
let layout: Layout;
let hubLayout: Layout;

beforeAll(async () => {
  built = await buildImages();
  layout = layOut(join(IMAGES, 'kinesis'));
  hubLayout = layOut(join(IMAGES, 'event-hubs'));
});
afterAll(() => {
  for (const { root, workdir } of [layout, hubLayout]) {
    for (const folder of [root, workdir]) chmodSync(folder, 0o755);
    rmSync(root, { recursive: true });
  }
});

/** Runs the image's entry point the way a container does: read-only, another user, nothing but the given environment. */
function run(node: string, args: readonly string[], env: Record<string, string> = {}, input = '', image = layout) {
  const { rest, user } = entry(image);
  const { status, stdout, stderr, error } = spawnSync(node, [...rest, ...args], {
    cwd: image.workdir,
    env,
    input,
    encoding: 'utf8',
    timeout: 60_000,
    ...user,
  });
  if (error !== undefined) throw error;
  return { code: status, out: stdout, err: stderr };
}

function entry(image: Layout) {
  const [command, ...rest] = image.entrypoint;
  expect(command).toBe('node');
  return { rest, user: process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {} };
}

/** Runs a worker until it has printed something, then stops it as a platform does. */
async function runUntil(node: string, env: Record<string, string>, printed: string, image = layout) {
  const { rest, user } = entry(image);
  const child = spawn(node, [...rest, 'consume'], { cwd: image.workdir, env, ...user });
  let [out, err] = ['', ''];
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
    if (out.includes(printed) && !child.killed) child.kill('SIGTERM');
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, out, err };
}

describe('the bundles', () => {
  test('are no larger than allowed, for each source and for the command line', () => {
    expect(built.map(({ name }) => name)).toEqual(['kinesis', 'event-hubs', 'cli']);
    for (const { file, bytes } of built) {
      expect(bytes).toBeLessThanOrEqual(MAX_BUNDLE_BYTES);
      expect(bytes).toBe(readFileSync(file).byteLength);
    }
  });

  test('need nothing but Node.js', () => {
    for (const { file } of built) {
      const asked = [...readFileSync(file, 'utf8').matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name]) => name ?? '');
      expect(asked.length).toBeGreaterThan(5);
      const foreign = asked.filter((name) => !builtinModules.includes(name.replace(/^node:/, '')));
      expect([...new Set(foreign)].sort().filter((name) => !ABSENT.includes(name))).toEqual([]);
    }
  });

  test.each([
    ['kinesis', ['Kinesis_20131202', 'DynamoDB_20120810'], ['com.microsoft:epoch', 'x-ms-blob-type']],
    ['event-hubs', ['com.microsoft:epoch', 'x-ms-blob-type'], ['Kinesis_20131202', 'DynamoDB_20120810']],
    ['cli', ['com.microsoft:epoch', 'x-ms-blob-type', 'Kinesis_20131202', 'DynamoDB_20120810'], []],
  ])('%s has the SDKs of its own cloud, and none of the other', (name, own, foreign) => {
    const text = readFileSync(built.find((each) => each.name === name)?.file ?? '', 'utf8');
    expect(own.filter((mark) => !text.includes(mark))).toEqual([]);
    expect(foreign.filter((mark) => text.includes(mark))).toEqual([]);
  });

  test('the one of the command line can be run as a program', () => {
    const cli = built.find(({ name }) => name === 'cli')?.file ?? '';
    expect(readFileSync(cli, 'utf8').startsWith('#!/usr/bin/env node\n')).toBe(true);
    expect(execFileSync(process.execPath, [cli, '--version'], { encoding: 'utf8' })).toBe(`${VERSION}\n`);
  });
});

describe('the Dockerfile', () => {
  test.each(['kinesis', 'event-hubs'])(
    'of %s has a pinned base, no build step and a user that is not root',
    (image) => {
      const all = instructions(join(IMAGES, image, 'Dockerfile'));
      expect(all.map(({ name }) => name)).toEqual(['FROM', 'COPY', 'ENV', 'USER', 'WORKDIR', 'ENTRYPOINT']);
      expect(all[0]?.rest).toMatch(/^node:24\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}$/);
      expect(all.find(({ name }) => name === 'USER')?.rest).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    },
  );
});

/** What must hold on every version of Node.js. */
function behaves(nodeBinary: () => string): void {
  test('says its version and its verbs', () => {
    expect(run(nodeBinary(), ['--version'])).toEqual({ code: 0, out: `${VERSION}\n`, err: '' });
    const help = run(nodeBinary(), ['--help']);
    expect(help).toMatchObject({ code: 0, err: '' });
    for (const verb of ['consume', 'migrate', 'publish', 'reconcile', 'size', 'image'])
      expect(help.out).toContain(`  ${verb}`);
  });

  test('cannot write where it is', () => {
    expect(() => run(nodeBinary(), ['--help'])).not.toThrow();
    expect(existsSync(join(layout.workdir, 'node_modules'))).toBe(false);
    if (process.getuid?.() !== 0) expect(() => writeFileSync(join(layout.workdir, 'x'), '')).toThrow('EACCES');
  });

  test('refuses a wrong configuration with 2 and all problems', () => {
    const { code, out, err } = run(nodeBinary(), ['consume'], { HEALTH_PORT: 'x', STRIPE_API_KEY: 'sk_live_geheim' });
    expect([code, out]).toEqual([2, '']);
    for (const name of ['HEALTH_PORT', 'STRIPE_API_KEY', 'DATABASE_URL', 'SPEND_CAP_MODE', 'LEASE_TABLE_NAME']) {
      expect(err).toContain(`  - ${name}: received`);
    }
    expect(err).not.toContain('geheim');
  });

  test('a worker that cannot reach its ledger says so in JSON lines, tries on, and stops when it is told to', async () => {
    const { code, out, err } = await runUntil(nodeBinary(), WORKER, 'repeating it');
    expect(err).toBe('');
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; level: string });
    expect(lines[0]).toMatchObject({
      msg: 'chargeonce is starting',
      level: 'info',
      version: VERSION,
      schema: SCHEMA_VERSION,
    });
    expect(lines.find((line) => line.level === 'warn')).toMatchObject({
      msg: 'a ledger statement failed, repeating it',
      error: expect.stringContaining('ECONNREFUSED'),
    });
    expect(lines.at(-1)?.msg).toBe('stopped while it was starting: nothing had been taken');
    expect(code).toBe(0);
    expect(out).not.toMatch(/hunter2|abc123/);
  });

  test('migrate says which database it could not reach', () => {
    const { code, err } = run(nodeBinary(), ['migrate'], { DATABASE_URL: WORKER.DATABASE_URL });
    expect(code).toBe(2);
    expect(err).toContain('database ledger on 127.0.0.1:1 as worker');
    expect(err).not.toContain('hunter2');
  });

  test('the AWS SDK’s advice about Node.js is heard only by those who ask for it', () => {
    const env = { ...PUBLISHER, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'false' };
    const advised = run(nodeBinary(), PUBLISH, env, 'x\n').err.includes('NodeVersionSupportWarning');
    const version = execFileSync(nodeBinary(), ['--version'], { encoding: 'utf8' });
    expect(advised).toBe(Number(/^v(\d+)/.exec(version)?.[1]) < 22);
  });

  test('publish accounts for every line of a stream that is not there', () => {
    const { code, out, err } = run(nodeBinary(), PUBLISH, PUBLISHER, '{"customer_id":"c1"}\nx\n');
    expect([code, err]).toEqual([1, '']);
    expect(JSON.parse(out)).toMatchObject({ read: 2, sent: 0, undelivered: 2 });
  });
}

/** The same, for what differs in the image of Event Hubs. */
function behavesOnHubs(nodeBinary: () => string): void {
  test('Event Hubs: refuses a wrong configuration with 2 and all problems, and the other source', () => {
    const env = { EVENTHUB_CONNECTION_STRING: 'Endpoint=sb://x;SharedAccessKey=geheim' };
    const { code, out, err } = run(nodeBinary(), ['consume'], env, '', hubLayout);
    expect([code, out]).toEqual([2, '']);
    for (const name of ['EVENTHUB_NAME', 'EVENTHUB_CONNECTION_STRING', 'CHECKPOINT_CONTAINER_URL', 'DATABASE_URL']) {
      expect(err).toContain(`  - ${name}: received`);
    }
    expect(err).not.toContain('geheim');
    const other = run(nodeBinary(), ['consume'], { ...HUB_WORKER, SOURCE: 'kinesis' }, '', hubLayout);
    expect(other.code).toBe(2);
    expect(other.err).toContain('SOURCE: received "kinesis"; allowed: event-hubs. This build reads event-hubs only');
  });

  test('Event Hubs: a worker that cannot reach its ledger tries on, shows no key, and stops when it is told to', async () => {
    const { code, out, err } = await runUntil(nodeBinary(), HUB_WORKER, 'repeating it', hubLayout);
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out.slice(0, out.indexOf('\n')))).toMatchObject({
      msg: 'chargeonce is starting',
      source: 'event-hubs',
    });
    expect(out).not.toMatch(/hunter2|abc123/);
  });
}

describe('the image on this Node.js, read-only, as another user', () => {
  behaves(() => process.execPath);
  behavesOnHubs(() => process.execPath);
});

describe('the image on Node.js 24', () => {
  const binary = node24();
  if (binary === undefined) {
    test('is not run here', () => {
      console.log(`not run here: the registry has no Node.js for ${process.platform}-${process.arch}`);
      expect(process.platform).not.toBe('linux');
    });
  } else {
    test('is 24', () => {
      expect(run(binary, ['--version']).code).toBe(0);
      expect(execFileSync(binary, ['--version'], { encoding: 'utf8' })).toMatch(/^v24\./);
    });
    behaves(() => binary);
    behavesOnHubs(() => binary);
  }
});
