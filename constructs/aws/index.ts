import './peers';

export { BillingConsumer, type BillingConsumerProps } from './billing-consumer';
export { BillingStream, type BillingStreamProps, type IBillingStream } from './billing-stream';
export { KinesisBilling, type KinesisBillingProps } from './kinesis-billing';
export { type ILeaseTable, LeaseTable, type LeaseTableCapacity, type LeaseTableProps } from './lease-table';
export { type ILedgerDatabase, LedgerDatabase, type LedgerDatabaseProps } from './ledger-database';
export { maskAssets } from './mask-assets';
export { SpendCap } from './spend-cap';
export { StripeMode } from './stripe-mode';
