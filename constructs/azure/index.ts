export { CheckpointStore } from './checkpoint-store/checkpoint-store';
export type { CheckpointSku, CheckpointStoreArgs, ExistingAccountArgs } from './checkpoint-store/checkpoint-store-args';
export { BillingEventHub } from './event-hub/billing-event-hub';
export type { BillingEventHubArgs, CaptureArgs } from './event-hub/billing-event-hub-args';
export type { EventHubSku } from './event-hub/event-hub-limits';
export { type LedgerAdministrator, LedgerDatabase } from './ledger/ledger-database';
export type {
  ExistingServerArgs,
  LedgerDatabaseArgs,
  LedgerHighAvailability,
  LedgerNetworkArgs,
} from './ledger/ledger-database-args';
