/** What the ledger's tests share. */
import { systemHost } from '../../runtime/host/host';
import { type Ledger, type LedgerOptions, openLedger } from '../../runtime/ledger';
import type { BillingEvent, ChargeRow, ClaimRequest, Metrics } from '../../runtime/processor/ports';
import { silentLog } from '../support/quiet';

/** Counts statements by name. */
export function countingMetrics(): Metrics & { readonly statements: Map<string, number>; total(): number } {
  const statements = new Map<string, number>();
  return {
    statements,
    count(name, labels) {
      if (name !== 'ledgerStatements') return;
      const statement = labels?.statement ?? '';
      statements.set(statement, (statements.get(statement) ?? 0) + 1);
    },
    gauge: () => undefined,
    total: () => [...statements.values()].reduce((sum, count) => sum + count, 0),
  };
}

export function openTestLedger(url: string, options: Partial<LedgerOptions> = {}): Ledger {
  return openLedger({
    connection: { url },
    host: systemHost,
    log: silentLog,
    metrics: countingMetrics(),
    worker: 'w1',
    claimTtlMs: 60_000,
    spendCap: { mode: 'off', defaults: {} },
    ...options,
  });
}

export function event(customerId: string, fields: Partial<BillingEvent> = {}): BillingEvent {
  return {
    customerId,
    billingPeriod: '2026-10',
    stripeCustomerId: `cus_${customerId}`,
    amountCents: 1000,
    currency: 'usd',
    paymentMethod: 'pm_card_visa',
    ...fields,
  };
}

export function request(customerId: string, fields: Partial<BillingEvent> = {}): ClaimRequest {
  return {
    event: event(customerId, fields),
    idempotencyKey: `key-${customerId}-${fields.billingPeriod ?? '2026-10'}`,
    description: 'Usage',
    source: 'test',
    sourcePosition: '1',
  };
}

/** Claims one identity and answers its row; throws when it is not mine. */
export async function claimOne(
  ledger: Ledger,
  customerId: string,
  fields: Partial<BillingEvent> = {},
): Promise<ChargeRow> {
  const [answer] = await ledger.claim([request(customerId, fields)]);
  if (answer?.outcome !== 'mine') throw new Error(`${customerId} is not mine: ${JSON.stringify(answer)}`);
  return answer.row;
}

/** A row whose intent is saved, and gated unless said otherwise. */
export async function claimWithIntent(ledger: Ledger, customerId: string, gated = true): Promise<ChargeRow> {
  const row = await claimOne(ledger, customerId);
  const withIntent = { ...row, paymentIntentId: `pi_${customerId}` };
  if (!(await ledger.saveIntent(row, withIntent.paymentIntentId))) throw new Error('the intent was not saved');
  if (gated && !(await ledger.gate(withIntent))) throw new Error('the gate was closed');
  return withIntent;
}
