import './peers';

export { BillingConsumer } from './billing-consumer';
export type { BillingConsumerProps } from './billing-consumer-props';
export { BillingStream, type BillingStreamProps, type IBillingStream } from './billing-stream';
export { KinesisBilling, type KinesisBillingProps } from './kinesis-billing';
export { type ILeaseTable, LeaseTable, type LeaseTableCapacity, type LeaseTableProps } from './lease-table';
export { type ILedgerDatabase, LedgerDatabase, type LedgerDatabaseProps } from './ledger-database';
export { maskAssets } from './mask-assets';
export { SpendCap } from './spend-cap';
export { StripeMode } from './stripe-mode';
