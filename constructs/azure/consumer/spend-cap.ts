import * as pulumi from '@pulumi/pulumi';
import { ENVIRONMENT } from '../../../runtime/contract';
import { type AmountsByCurrency, spendCapSetting } from '../../shared/spend-cap-setting';
import { shown, type WrongArg } from '../shared/wrong-args';

/**
 * The most that a billing period may cost, held in the ledger: `{ perPeriod: { usd: 50_000_00 } }`, in minor units.
 * Currencies that it does not name are blocked. `'off'`: no cap.
 */
export type SpendCap = { readonly perPeriod: AmountsByCurrency } | 'off';

const ALLOWED = "{ perPeriod: { usd: 50_000_00 } }, or 'off'";

/** What is wrong when it is neither a cap nor `off`, or names no currency, a wrong one or an impossible amount. */
export function wrongSpendCap(spendCap: unknown): WrongArg | undefined {
  if (spendCap === 'off') return undefined;
  const perPeriod: unknown = Object(spendCap).perPeriod;
  const output = [spendCap, perPeriod, ...Object.values(Object(perPeriod))].find((each) =>
    pulumi.Output.isInstance(each),
  );
  if (output !== undefined) {
    const wayOut = 'Say the amounts in the program, or read them from the configuration with requireNumber.';
    return { prop: 'spendCap', received: shown(output), allowed: ALLOWED, wayOut };
  }
  if (typeof perPeriod !== 'object' || perPeriod === null) {
    const received = typeof spendCap === 'object' ? JSON.stringify(spendCap) : shown(spendCap);
    const wayOut = 'There is no default: say the most that a billing period may cost, or that nothing caps it.';
    return { prop: 'spendCap', received, allowed: ALLOWED, wayOut };
  }
  try {
    spendCapSetting(perPeriod as AmountsByCurrency);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { prop: 'spendCap', received: JSON.stringify(spendCap), allowed: ALLOWED, wayOut: error.message };
  }
}

/** What the runtime is told of it. */
export function spendCapEnvironment(spendCap: SpendCap): Record<string, string> {
  if (spendCap === 'off') return { [ENVIRONMENT.SPEND_CAP_MODE]: 'off' };
  return {
    [ENVIRONMENT.SPEND_CAP_MODE]: 'ledger',
    [ENVIRONMENT.SPEND_CAP_DEFAULT]: spendCapSetting(spendCap.perPeriod),
  };
}
