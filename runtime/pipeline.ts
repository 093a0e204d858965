/**
 * The journey of an event on one screen. No logic: only who is connected to whom.
 *
 *   source ──► decode ──► claim ──► create intent ──► confirm ──► settle ──► checkpoint
 *   opened     decode     ledger    stripe            stripe      ledger     source
 *              └───────────────── processor (decide) ─────────────────┘
 *                                 reconciler: the same, for rows that no delivery moves on
 */
import { openCharging } from './charging';
import type { CommonConfig } from './config';
import { createDecoder, DEFAULT_DESCRIPTION_TEMPLATE, renderDescription } from './decode';
import type { OpenedSource, SourceContext } from './opened-source';
import { awaitSchema } from './ops/await-schema';
import type { Pipeline, PipelineContext } from './ops/run-pipeline';
import { watchWork } from './ops/watch-work';
import { BusyCustomers } from './processor/customer-queue';
import { idempotencyKey } from './processor/keys';
import { Processor } from './processor/processor';
import { Reconciler } from './processor/reconciler';
import { StripeHalt } from './processor/stripe-halt';

/**
 * A row whose claim has ended is first left to its delivery, which is read again by whoever owns its partition then; the
 * reconciler is for rows that no delivery comes back for. Shorter: a worker that has just lost a partition would charge
 * what it gave back. Longer: a row whose delivery is gone waits longer.
 */
const OVERDUE_AFTER_MS = 30_000;

/** Opens the source that the configuration names. */
export type OpenSource<C> = (config: C, context: SourceContext) => Promise<OpenedSource>;

export async function runPipeline<C extends CommonConfig>(
  config: C,
  context: PipelineContext,
  openSource: OpenSource<C>,
): Promise<Pipeline> {
  const { host, log, metrics, signal } = context;
  const { billing } = config;
  const { source, worker, ownershipMarginMs, close } = await openSource(config, { host, log, metrics });

  const { migrateCommand, login } = config.database;
  const schema = {
    ...context,
    migrateCommand,
    makesLogin: login.method === 'rds-iam' || login.method === 'entra',
  };
  const { ledger, tools } = await openCharging(config, {
    ...context,
    worker,
    overdueAfterMs: OVERDUE_AFTER_MS,
    checkSchema: (opened) => awaitSchema(() => opened.checkSchema(), schema),
  }).catch((error: unknown) => {
    close();
    throw error;
  });

  const decode = createDecoder({
    defaultCurrency: billing.defaultCurrency,
    fields: billing.eventFields,
    maxBytes: billing.maxEventBytes,
  });
  const template = billing.descriptionTemplate ?? DEFAULT_DESCRIPTION_TEMPLATE;
  const busy = new BusyCustomers();
  const halt = new StripeHalt(host, log, metrics);
  const { claimTtlMs, reconcileIntervalMs } = billing;
  const processor = new Processor(
    {
      ...billing,
      decode,
      describe: (event) => renderDescription(template, event),
      keyOf: (event) => idempotencyKey({ ...event, namespace: billing.namespace, attempt: 1 }),
      stripeMaxRps: config.stripe.maxRps,
      ownershipMarginMs,
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
  const everyMs = config.process.metricsIntervalMs / 2;
  const watched = { ledger, processor, unresolvedAfterMs: billing.parkAfterMs, everyMs, host, log, metrics };
  const watching = watchWork(watched, signal);
  const done = Promise.all([source.run(processor, signal), reconciler.run()]).then(async () => {
    close();
    await ledger.close();
    await watching;
  });
  return { done, notReady: () => source.notReady() ?? halt.reason() };
}
