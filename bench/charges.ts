/**
 * `npm run bench`: what a fresh charge costs under load. The real processor and ledger on a PostgreSQL of its own, over
 * HTTP to the Stripe emulator, which takes its time like Stripe. Loopback only; ends by itself within a minute.
 */
import { createDecoder } from '../runtime/decode';
import { systemHost } from '../runtime/host';
import { migrate, openLedger } from '../runtime/ledger';
import { BusyCustomers } from '../runtime/processor/customer-queue';
import { decide } from '../runtime/processor/decide';
import { idempotencyKey } from '../runtime/processor/keys';
import type { Delivery, Metrics, Partition } from '../runtime/processor/ports';
import { Processor } from '../runtime/processor/processor';
import { StripeHalt } from '../runtime/processor/stripe-halt';
import { createStripe } from '../runtime/stripe';
import { type PostgresServer, startPostgres } from '../test/emulators/postgres';
import { startStripeEmulator } from '../test/emulators/stripe';
import { silentLog } from '../test/support/quiet';

interface Load {
  readonly charges: number;
  readonly atOnce: number;
  /** What each request takes at Stripe. */
  readonly stripeMs: number;
}

const LOADS: readonly Load[] = [
  { charges: 200, atOnce: 1, stripeMs: 5 },
  { charges: 800, atOnce: 16, stripeMs: 50 },
  { charges: 3_000, atOnce: 64, stripeMs: 50 },
  { charges: 3_000, atOnce: 64, stripeMs: 100 },
];

async function measure(postgres: PostgresServer, load: Load, name: string): Promise<string> {
  await postgres.createDatabase(name);
  const connection = { url: postgres.url(name) };
  await migrate({ connection });
  const stripe = await startStripeEmulator({ autoCustomers: true, latencyMs: load.stripeMs });
  const counts = { ledgerStatements: 0, stripeCalls: 0 };
  const metrics: Metrics = {
    count: (metric) => {
      if (metric === 'ledgerStatements' || metric === 'stripeCalls') counts[metric]++;
    },
    gauge: () => {},
  };
  const world = { host: systemHost, log: silentLog, metrics };
  const ledger = openLedger({
    connection,
    worker: 'bench',
    claimTtlMs: 120_000,
    spendCap: { mode: 'ledger', defaults: { usd: 1_000_000_000 } },
    ...world,
  });
  const client = createStripe({
    apiKey: 'rk_test_bench_0123456789',
    mode: 'test',
    apiBase: new URL(stripe.url),
    maxRps: 10_000,
    timeoutMs: 30_000,
    ledgerId: 'bench',
    namespace: 'billing',
    ...world,
  });
  const processor = processorOf(load, { ledger, stripe: client, ...world });
  const started = systemHost.monotonic();
  const partition: Partition = {
    id: 'bench/0',
    signal: new AbortController().signal,
    holdsFor: () => true,
    checkpoint: () => {},
  };
  await processor.deliver(partition, deliveries(load.charges));
  await processor.finished(partition);
  const seconds = (systemHost.monotonic() - started) / 1_000;
  await ledger.close();
  await stripe.close();
  const each = (count: number) => (count / load.charges).toFixed(2).padStart(9);
  return [
    String(load.atOnce).padStart(7),
    String(load.stripeMs).padStart(10),
    String(Math.round(load.charges / seconds)).padStart(10),
    each(counts.ledgerStatements),
    each(counts.stripeCalls),
  ].join('');
}

function processorOf(
  load: Load,
  tools: Pick<ConstructorParameters<typeof Processor>[1], 'ledger' | 'stripe' | 'host' | 'log' | 'metrics'>,
): Processor {
  const keyOfAttempt = (of: { customerId: string; billingPeriod: string }, attempt: number) =>
    idempotencyKey({ ...of, namespace: 'billing', attempt });
  return new Processor(
    {
      decode: createDecoder({ defaultCurrency: 'usd' }),
      describe: () => 'Usage',
      keyOf: (event) => keyOfAttempt(event, 1),
      maxConcurrentCharges: load.atOnce,
      claimTtlMs: 120_000,
      stripeMaxRps: 10_000,
      parkAfterMs: 300_000,
      ownershipMarginMs: 0,
      checkpoint: { mode: 'batch', intervalMs: 0, count: 0 },
      drain: new AbortController().signal,
    },
    { ...tools, decide, keyOfAttempt, crash: () => {} },
    new BusyCustomers(),
    new StripeHalt(tools.host, tools.log, tools.metrics),
  );
}

function deliveries(count: number): Delivery[] {
  return Array.from({ length: count }, (_, index) => ({
    body: Buffer.from(
      JSON.stringify({
        customer_id: `customer-${index}`,
        billing_period: '2026-10',
        stripe_customer_id: `cus_bench${index}`,
        payment_method: 'pm_card_visa',
        amount_cents: 500,
      }),
    ),
    position: String(index),
    partitionKey: `customer-${index}`,
  }));
}

async function main(): Promise<void> {
  const postgres = await startPostgres();
  try {
    console.log('at once  Stripe ms  charges/s  statements  Stripe calls   (each: of one fresh charge)');
    for (const [index, load] of LOADS.entries()) console.log(await measure(postgres, load, `bench_${index}`));
  } finally {
    await postgres.stop();
  }
}

void main();
