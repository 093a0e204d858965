/** What monitoring watches, made as a user makes it, and programs around it. */
import * as pulumi from '@pulumi/pulumi';
import {
  BillingConsumer,
  BillingEventHub,
  BillingMonitoring,
  type BillingMonitoringArgs,
  CheckpointStore,
  LedgerDatabase,
} from '../../constructs/azure';
import { type Run, type RunOptions, runProgram } from './mocks';

export const WORKSPACE_ID =
  '/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg/providers/Microsoft.OperationalInsights/workspaces/logs';

export interface Watch {
  readonly args?: Partial<BillingMonitoringArgs>;
  /** Whether the hub captures. */
  readonly capture?: boolean;
  /** Which parts are given. */
  readonly parts?: readonly ('consumer' | 'eventHub' | 'checkpointStore' | 'ledger')[];
}

const CONTAINER_ID =
  '/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/archive/blobServices/default/containers/usage';

type Watched = Run<BillingMonitoring>;
const kept = new Map<string, Promise<Watched>>();

/** Monitoring of all parts, by e-mail, unless it is said otherwise. What was run once is not run again. */
export function watch(given: Watch = {}, options: RunOptions = {}): Promise<Watched> {
  const key = JSON.stringify([given, options], (_, value) => (Number.isNaN(value) ? 'NaN' : value));
  const run = kept.get(key) ?? watchAnew(given, options);
  kept.set(key, run);
  return run;
}

export function watchAnew({ args = {}, capture = false, parts }: Watch = {}, options: RunOptions = {}) {
  return runProgram(() => {
    pulumi.runtime.setAllConfig({});
    const common = { resourceGroupName: 'rg', workspaceId: WORKSPACE_ID };
    const eventHub = new BillingEventHub('hub', {
      ...common,
      ...(capture ? { capture: { containerId: CONTAINER_ID } } : {}),
    });
    const checkpointStore = new CheckpointStore('checkpoints', { resourceGroupName: 'rg' });
    const ledger = new LedgerDatabase('ledger', common);
    const consumer = new BillingConsumer('charges', {
      ...{ ...common, eventHub, checkpointStore, ledger },
      image: `contoso.azurecr.io/chargeonce@sha256:${'a'.repeat(64)}`,
      stripeKey: pulumi.secret('rk_test_4eC39H'),
      spendCap: { perPeriod: { usd: 1 } },
    });
    const all = { consumer, eventHub, checkpointStore, ledger };
    const given = Object.fromEntries(Object.entries(all).filter(([name]) => parts?.includes(name as never) ?? true));
    return new BillingMonitoring('watch', { ...common, alertEmails: ['ops@contoso.com'], ...given, ...args });
  }, options);
}
