/**
 * The journey of an event on one screen. No logic: only who is connected to whom.
 *
 *   source ──► decode ──► claim ──► create intent ──► confirm ──► settle ──► checkpoint
 *   kinesis    decode     ledger    stripe            stripe      ledger     source
 *              └───────────────── processor (decide) ─────────────────┘
 *                                 reconciler: the same, for rows that no delivery moves on
 */
import type { Config } from './config';
import { createDecoder, DEFAULT_DESCRIPTION_TEMPLATE, renderDescription } from './decode';
import { openLedger } from './ledger';
import { ledgerConnection } from './ops/ledger-connection';
import type { Pipeline, PipelineContext } from './ops/run-pipeline';
import { BusyCustomers } from './processor/customer-queue';
import { decide } from './processor/decide';
import { idempotencyKey } from './processor/keys';
import { Processor } from './processor/processor';
import { Reconciler } from './processor/reconciler';
import { StripeHalt } from './processor/stripe-halt';
import { awsClients, createKinesisSource } from './sources/kinesis';
import { createStripe } from './stripe';

/**
 * A row whose claim has ended is first left to its delivery, which is read again within a few lease durations; the
 * reconciler is for rows that no delivery comes back for. Shorter: a worker that has just lost its leases would charge
 * what it gave back. Longer: a row whose delivery is gone waits longer.
 */
const OVERDUE_AFTER_MS = 30_000;

export async function runPipeline(config: Config, context: PipelineContext): Promise<Pipeline> {
  const { host, log, metrics, crash, signal } = context;
  const { billing, kinesis: stream } = config;
  const worker = stream.workerId ?? `worker-${host.uuid()}`;

  const ledger = openLedger({
    connection: await ledgerConnection(config.database),
    worker,
    claimTtlMs: billing.claimTtlMs,
    overdueAfterMs: OVERDUE_AFTER_MS,
    spendCap: { mode: config.spendCap.mode, defaults: config.spendCap.perPeriod },
    host,
    log,
    metrics,
  });
  const stripe = createStripe({
    ...config.stripe,
    apiBase: new URL(config.stripe.apiBase),
    ledgerId: (await ledger.checkSchema()).ledgerId,
    namespace: billing.namespace,
    host,
    log,
    metrics,
  });
  await ledger.bindAccount(await stripe.account());

  const aws = awsClients({ ...stream });
  const { drainTimeoutMs } = config.process;
  const source = createKinesisSource({ ...stream, workerId: worker, ...aws, drainTimeoutMs, host, log, metrics });
  const decode = createDecoder({
    defaultCurrency: billing.defaultCurrency,
    fields: billing.eventFields,
    maxBytes: billing.maxEventBytes,
  });
  const keyOfAttempt = (of: { customerId: string; billingPeriod: string }, attempt: number) =>
    idempotencyKey({ ...of, namespace: billing.namespace, attempt });
  const template = billing.descriptionTemplate ?? DEFAULT_DESCRIPTION_TEMPLATE;
  const tools = { ledger, stripe, decide, keyOfAttempt, host, log, metrics, crash };
  const busy = new BusyCustomers();
  const halt = new StripeHalt(host, log, metrics);
  const { claimTtlMs, reconcileIntervalMs } = billing;
  const processor = new Processor(
    {
      ...billing,
      decode,
      describe: (event) => renderDescription(template, event),
      keyOf: (event) => keyOfAttempt(event, 1),
      stripeMaxRps: config.stripe.maxRps,
      ownershipMarginMs: stream.ownershipMarginMs,
      checkpoint: config.checkpoint,
      drain: signal,
    },
    tools,
    busy,
    halt,
  );
  const reconciler = new Reconciler(
    { intervalMs: reconcileIntervalMs, claimTtlMs, maxConcurrent: 4, drain: signal },
    tools,
    busy,
    halt,
  );
  const done = Promise.all([source.run(processor, signal), reconciler.run()]).then(async () => {
    aws.destroy();
    await ledger.close();
  });
  return { done, notReady: () => source.notReady() ?? halt.reason() };
}
