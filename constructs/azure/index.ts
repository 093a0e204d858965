import './peers';

export type { AlertName } from '../shared/alarm-texts-azure';

export type { AmountsByCurrency } from '../shared/spend-cap-setting';
export { CheckpointStore } from './checkpoint-store/checkpoint-store';
export type { CheckpointSku, CheckpointStoreArgs, ExistingAccountArgs } from './checkpoint-store/checkpoint-store-args';
export { BillingConsumer } from './consumer/billing-consumer';
export type { BillingConsumerArgs, LogTable, Migrations, RegistryArgs } from './consumer/billing-consumer-args';
export type { SpendCap } from './consumer/spend-cap';
export { BillingEventHub } from './event-hub/billing-event-hub';
export type { BillingEventHubArgs, CaptureArgs } from './event-hub/billing-event-hub-args';
export type { EventHubSku } from './event-hub/event-hub-limits';
export { EventHubsBilling } from './event-hubs-billing';
export type {
  CheckpointSettings,
  EventHubSettings,
  EventHubsBillingArgs,
  LedgerSettings,
} from './event-hubs-billing-args';
export { type LedgerAdministrator, LedgerDatabase } from './ledger/ledger-database';
export type {
  ExistingServerArgs,
  LedgerDatabaseArgs,
  LedgerHighAvailability,
  LedgerNetworkArgs,
} from './ledger/ledger-database-args';
export { BillingMonitoring } from './monitoring/billing-monitoring';
export type {
  BillingMonitoringArgs,
  WatchedCheckpointStore,
  WatchedConsumer,
  WatchedEventHub,
  WatchedLedger,
  WatchedResource,
} from './monitoring/billing-monitoring-args';
export type { ComponentArgs } from './shared/component-args';
