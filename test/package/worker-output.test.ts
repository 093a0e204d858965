/** What a working worker writes, on this Node.js: JSON lines on stdout, nothing on stderr, and which release it is. */
import { execFileSync, spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../../package.json';
import { buildImages } from '../../runtime/image/build';
import { SCHEMA_VERSION } from '../../runtime/ledger';
import { type PostgresServer, startPostgres } from '../emulators/postgres';
import { type StripeEmulator, startStripeEmulator } from '../emulators/stripe';
import { type AwsLocal, createLeaseTable, createStream, put, startAwsLocal } from '../support/aws-local';
import { until } from '../support/until';

let bundle: string;
let aws: AwsLocal;
let postgres: PostgresServer;
let stripe: StripeEmulator;
beforeAll(async () => {
  const [built, ...parts] = await Promise.all([
    buildImages(),
    startAwsLocal(),
    startPostgres(),
    startStripeEmulator({ autoCustomers: true }),
  ]);
  bundle = built.find(({ name }) => name === 'kinesis')?.file ?? '';
  [aws, postgres, stripe] = parts;
}, 120_000);
afterAll(() => Promise.all([aws?.stop(), postgres?.stop(), stripe?.close()]));

/** A worker that charges one customer and is then stopped as a platform does. */
async function runWorker(name: string, extra: Record<string, string> = {}) {
  await postgres.createDatabase(name);
  await createStream(aws.kinesis, name, 1);
  await createLeaseTable(aws.dynamodb, name);
  const env = {
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_KINESIS: aws.kinesisEndpoint,
    AWS_ENDPOINT_URL_DYNAMODB: aws.dynamodbEndpoint,
    STREAM_NAME: name,
    LEASE_TABLE_NAME: name,
    DATABASE_URL: postgres.url(name),
    PGSSLMODE: 'disable',
    STRIPE_API_KEY: 'rk_test_output0123456789',
    STRIPE_API_BASE: stripe.url,
    SPEND_CAP_MODE: 'off',
    HEALTH_HOST: '127.0.0.1',
    HEALTH_PORT: '0',
    ...extra,
  };
  execFileSync(process.execPath, [bundle, 'migrate', '--apply'], { env });
  const event = { customer_id: name, billing_period: '2026-10', amount_cents: 500, stripe_customer_id: `cus_${name}` };
  await put(aws.kinesis, name, name, JSON.stringify(event));
  const child = spawn(process.execPath, [bundle, 'consume'], { env });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  try {
    await until(
      `${name} is charged`,
      () => Promise.resolve(stripe.books.chargesOf(`cus_${name}`).length === 1),
      60_000,
    );
    const { healthPort } = JSON.parse(out.split('\n')[0]!) as { healthPort: number };
    const scraped = await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text();
    child.kill('SIGTERM');
    return { code: await ended, lines: out.trimEnd().split('\n'), err, scraped };
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

test('is JSON lines on stdout, and nothing on stderr', async () => {
  const { code, lines, err } = await runWorker('quiet');
  expect([code, err]).toEqual([0, '']);
  expect(lines.map((line) => typeof (JSON.parse(line) as { msg: unknown }).msg)).toEqual(lines.map(() => 'string'));
});

test('would show the AWS SDK’s advice about an old Node.js when it was let through', async () => {
  const { err } = await runWorker('advised', { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'false' });
  expect(err.includes('NodeVersionSupportWarning')).toBe(Number(process.versions.node.split('.')[0]) < 22);
});

test('says the version and the schema: in the first line, in every line of metrics, and to who scrapes them', async () => {
  const { lines, scraped } = await runWorker('versions', { METRICS_FORMAT: 'emf' });
  expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'chargeonce is starting', version, schema: SCHEMA_VERSION });
  const metrics = lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => '_aws' in line);
  expect(metrics.length).toBeGreaterThan(0);
  for (const line of metrics) expect(line).toMatchObject({ Version: version, SchemaVersion: String(SCHEMA_VERSION) });
  expect(scraped).toContain(`chargeonce_build_info{version="${version}",schema="${SCHEMA_VERSION}"} 1\n`);
});
