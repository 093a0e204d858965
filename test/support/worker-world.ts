/** A small world for whole processes: the bundle on a stream, a lease table, a ledger and a Stripe of its own. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemHost } from '../../runtime/host';
import { createPublisher } from '../../runtime/sources/kinesis/publisher';
import { Worker } from '../../stacks/local/workers';
import { type StripeEmulator, startStripeEmulator } from '../emulators';
import { type AwsLocal, createLeaseTable, createStream } from './aws-local';
import { type LedgerDatabase, ledgerDatabase } from './ledger-database';
import { until } from './until';

/** The bundle of this state. */
export const BUNDLE = join(__dirname, '../../dist/runtime/image/kinesis/chargeonce.js');
/** The shortest that the configuration allows with this Stripe deadline. */
export const CLAIM_TTL_MS = 15_000;
export const LEASE_DURATION_MS = 4_000;

export interface WorldEvent {
  readonly customer: string;
  readonly period?: string;
  readonly amount?: number;
}

export interface WorkerWorld {
  readonly name: string;
  readonly stripe: StripeEmulator;
  readonly database: LedgerDatabase;
  /** Absent: the bundle of this state. */
  startWorker(extra?: Readonly<Record<string, string>>, bundle?: string): Promise<Worker>;
  /** The whole lines that the worker has written so far. */
  output(worker: Worker): string[];
  publish(events: readonly WorldEvent[]): Promise<void>;
  /** Rows by status. */
  statuses(): Promise<Record<string, number>>;
  /** Resolves when as many rows are charged. */
  charged(count: number, timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly shards?: number;
  /** In place of the world's own DynamoDB: a proxy in front of it, say. */
  readonly dynamodbEndpoint?: string;
  readonly kinesisEndpoint?: string;
  /** Absent: one of its own that is migrated to this state's schema. */
  readonly database?: LedgerDatabase;
}

let worlds = 0;

export async function workerWorld(aws: AwsLocal, options: WorldOptions = {}): Promise<WorkerWorld> {
  if (!existsSync(BUNDLE)) throw new Error('The bundle is not built: run `npm run build:bundle` first.');
  const name = `world-${process.pid}-${++worlds}`;
  const [database, stripe] = await Promise.all([
    options.database ?? ledgerDatabase(),
    startStripeEmulator({ autoCustomers: true }),
    createStream(aws.kinesis, name, options.shards ?? 1),
    createLeaseTable(aws.dynamodb, name),
  ]);
  const logFolder = mkdtempSync(join(tmpdir(), `chargeonce-${name}-`));
  const workers: Worker[] = [];
  const environment = {
    SOURCE: 'kinesis',
    STREAM_NAME: name,
    LEASE_TABLE_NAME: name,
    LEASE_DURATION_MS: String(LEASE_DURATION_MS),
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_KINESIS: options.kinesisEndpoint ?? aws.kinesisEndpoint,
    AWS_ENDPOINT_URL_DYNAMODB: options.dynamodbEndpoint ?? aws.dynamodbEndpoint,
    DATABASE_URL: database.url,
    PGSSLMODE: 'disable',
    STRIPE_API_KEY: 'rk_test_world_0123456789',
    STRIPE_API_BASE: stripe.url,
    STRIPE_MAX_RPS: '100',
    STRIPE_TIMEOUT_MS: '2500',
    CLAIM_TTL_MS: String(CLAIM_TTL_MS),
    RECONCILE_INTERVAL_MS: '500',
    SPEND_CAP_MODE: 'ledger',
    SPEND_CAP_DEFAULT: 'usd:100000000',
    HEALTH_HOST: '127.0.0.1',
    DRAIN_TIMEOUT_MS: '20000',
  };
  const statuses = async () => {
    const rows = await database.query<{ status: string; count: number }>(
      'SELECT status, count(*)::int AS count FROM billing_records GROUP BY status',
    );
    return Object.fromEntries(rows.map((row) => [row.status, row.count]));
  };
  return {
    name,
    stripe,
    database,
    async startWorker(extra = {}, bundle = BUNDLE) {
      const worker = await Worker.start(
        `worker-${workers.length + 1}`,
        { bundle, command: ['consume'], environment, logFolder },
        extra,
      );
      workers.push(worker);
      return worker;
    },
    output: ({ name: file }) =>
      readFileSync(join(logFolder, `${file}.log`), 'utf8')
        .split('\n')
        .slice(0, -1),
    publish: (events) => publishTo(aws, name, events),
    statuses,
    charged: (count, timeoutMs = 60_000) =>
      until(`${count} rows of ${name} are charged`, async () => (await statuses()).charged === count, timeoutMs),
    async close() {
      for (const worker of workers) if (worker.exit === undefined) worker.kill();
      await Promise.all(workers.map((worker) => worker.exited));
      await stripe.close();
      await database.drop();
      rmSync(logFolder, { recursive: true, force: true });
    },
  };
}

async function publishTo(aws: AwsLocal, streamName: string, events: readonly WorldEvent[]): Promise<void> {
  const refused: string[] = [];
  const publisher = createPublisher({
    client: aws.kinesis,
    streamName,
    host: systemHost,
    onUndelivered: ({ reason }) => refused.push(reason),
  });
  await publisher.publish(
    (async function* () {
      for (const event of events) yield Buffer.from(JSON.stringify(body(event)));
    })(),
  );
  if (refused.length > 0) throw new Error(`${refused.length} events were not delivered: ${refused[0]}`);
}

function body({ customer, period = '2026-10', amount = 500 }: WorldEvent): object {
  return {
    customer_id: customer,
    billing_period: period,
    stripe_customer_id: `cus_${customer.replaceAll('-', '')}`,
    amount_cents: amount,
  };
}
