import './peers';

export { BillingConsumer } from './billing-consumer';
export type { BillingConsumerProps } from './billing-consumer-props';
export { BillingStream, type BillingStreamProps } from './billing-stream';
export type { IBillingStream } from './billing-stream-base';
export type { ImportedStreamOptions } from './imported-stream';
export type { ImportedTableOptions } from './imported-table';
export { KinesisBilling, type KinesisBillingProps } from './kinesis-billing';
export { LeaseTable, type LeaseTableCapacity, type LeaseTableProps } from './lease-table';
export type { ILeaseTable } from './lease-table-base';
export { LedgerDatabase, type LedgerDatabaseProps } from './ledger-database';
export type { ILedgerDatabase, LedgerLogin } from './ledger-login';
export { ManualTask } from './manual-task';
export { maskAssets } from './mask-assets';
export { Migrations } from './migrations';
export { OpsTask } from './ops-task';
export { SpendCap } from './spend-cap';
export { StripeMode } from './stripe-mode';
