/** Opens what every charge needs: the ledger, and a Stripe account that is the ledger's own. */
import type { ChargingConfig } from './config';
import type { Host } from './host';
import { type Ledger, openLedger } from './ledger';
import { ledgerConnection } from './ops/ledger-connection';
import type { ChargeTools } from './processor/charge';
import { decide } from './processor/decide';
import { idempotencyKey } from './processor/keys';
import type { Log, Metrics, ReachCrashPoint, RowIdentity } from './processor/ports';
import { createStripe } from './stripe';

export interface ChargingContext {
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly crash: ReachCrashPoint;
  /** Who claims, for people. */
  readonly worker: string;
  /** How long a pending row's claim must have been over before somebody without its delivery takes it. */
  readonly overdueAfterMs: number;
  /** In place of `ledger.checkSchema`: waits for a schema that is too old, say. */
  readonly checkSchema?: (ledger: Ledger) => Promise<{ readonly ledgerId: string }>;
}

export interface Charging {
  readonly tools: ChargeTools;
  /** The same ledger as in the tools, to be closed by whoever opened it. */
  readonly ledger: Ledger;
}

/**
 * Rejects when the schema is too old or too new, or when the ledger belongs to another Stripe account or mode than the
 * key; nothing is left open then.
 */
export async function openCharging(config: ChargingConfig, context: ChargingContext): Promise<Charging> {
  const { host, log, metrics, crash } = context;
  const { billing, spendCap } = config;
  const ledger = openLedger({
    connection: await ledgerConnection(config.database),
    worker: context.worker,
    claimTtlMs: billing.claimTtlMs,
    overdueAfterMs: context.overdueAfterMs,
    spendCap: { mode: spendCap.mode, defaults: spendCap.perPeriod },
    host,
    log,
    metrics,
  });
  try {
    const { ledgerId } = await (context.checkSchema?.(ledger) ?? ledger.checkSchema());
    const { namespace } = billing;
    const apiBase = new URL(config.stripe.apiBase);
    const stripe = createStripe({ ...config.stripe, apiBase, ledgerId, namespace, host, log, metrics });
    await ledger.bindAccount(await stripe.account());
    const keyOfAttempt = (of: RowIdentity, attempt: number) => idempotencyKey({ ...of, namespace, attempt });
    return { ledger, tools: { ledger, stripe, decide, keyOfAttempt, host, log, metrics, crash } };
  } catch (error) {
    await ledger.close();
    throw error;
  }
}
