import type * as pulumi from '@pulumi/pulumi';
import type { CheckpointStore } from './checkpoint-store/checkpoint-store';
import type { CheckpointStoreArgs } from './checkpoint-store/checkpoint-store-args';
import type { BillingConsumerArgs } from './consumer/billing-consumer-args';
import type { BillingEventHub } from './event-hub/billing-event-hub';
import type { BillingEventHubArgs } from './event-hub/billing-event-hub-args';
import type { LedgerDatabase } from './ledger/ledger-database';
import type { LedgerDatabaseArgs, LedgerNetworkArgs } from './ledger/ledger-database-args';
import type { BillingMonitoringArgs } from './monitoring/billing-monitoring-args';
import type { ComponentArgs } from './shared/component-args';

/** What the pattern says itself to each part that it makes. */
type SaidHere = keyof ComponentArgs | 'protect' | 'workspaceId' | 'network';

/** How a hub that the pattern makes differs from its defaults: all of `BillingEventHubArgs` that the pattern does not say. */
export type EventHubSettings = Omit<BillingEventHubArgs, SaidHere>;
/** How a store that the pattern makes differs from its defaults: all of `CheckpointStoreArgs` that the pattern does not say. */
export type CheckpointSettings = Omit<CheckpointStoreArgs, SaidHere | 'consumerGroupName'>;
/** How a ledger that the pattern makes differs from its defaults: all of `LedgerDatabaseArgs` that the pattern does not say. */
export type LedgerSettings = Omit<LedgerDatabaseArgs, SaidHere>;

export interface EventHubsBillingArgs
  extends ComponentArgs,
    Pick<
      BillingConsumerArgs,
      | 'image'
      | 'registry'
      | 'stripeKeySecretUri'
      | 'keyVaultId'
      | 'stripeKey'
      | 'spendCap'
      | 'stripeMode'
      | 'stripeMaxRps'
      | 'minReplicas'
      | 'maxReplicas'
      | 'cpu'
      | 'memory'
      | 'migrations'
      | 'environment'
    >,
    Pick<BillingMonitoringArgs, 'alertEmails' | 'actionGroupIds'> {
  /**
   * The hub: one of ours, or how the one made here differs from its defaults.
   * @default a new BillingEventHub
   */
  readonly eventHub?: BillingEventHub | EventHubSettings;
  /**
   * The checkpoints: a store of ours, or how the one made here differs from its defaults.
   * @default a new CheckpointStore
   */
  readonly checkpointStore?: CheckpointStore | CheckpointSettings;
  /**
   * The ledger: one of ours, or how the one made here differs from its defaults.
   * @default a new LedgerDatabase in a network of its own
   */
  readonly ledger?: LedgerDatabase | LedgerSettings;
  /**
   * The network of a ledger that is made here, and of the workers. Decided on the first day.
   * @default a network of its own, which reaches Stripe from one fixed address
   */
  readonly network?: LedgerNetworkArgs;
  /**
   * Log Analytics workspace of all logs.
   * @default a new one
   */
  readonly workspaceId?: pulumi.Input<string>;
  /**
   * For tests: `false` turns protection and retention off, on every part made here.
   * @default true
   */
  readonly protect?: boolean;
}
