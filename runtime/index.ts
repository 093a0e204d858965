/**
 * `chargeonce/runtime`: the parts of the runtime that know no cloud, for a worker or a source of your own. Needs no
 * SDK of a cloud. `runtime/pipeline.ts` shows how they fit together; `chargeonce/runtime/kinesis` is a source.
 */
export type { CheckpointMode, CheckpointOptions } from './checkpoint/policy';
export {
  type Config,
  type DatabaseConfig,
  describeConfig,
  type Environment,
  type Read,
  readConfig,
  readDatabaseConfig,
  redactSecrets,
} from './config';
export {
  CRASH_POINTS,
  type CrashPoint,
  ENVIRONMENT,
  type EnvironmentName,
  EVENT_VERSION,
  METRICS,
  type MetricName,
  ROW_STATUSES,
  type RowStatus,
} from './contract';
export {
  createDecoder,
  DEFAULT_DESCRIPTION_TEMPLATE,
  type Decode,
  type Decoded,
  type DecodedEvent,
  type DecoderOptions,
  type FieldPointers,
  renderDescription,
} from './decode';
export { createLog, createMetrics, type Host, type LogOptions, type ProcessMetrics, systemHost } from './host';
export {
  type AccountIdentity,
  AccountMismatch,
  type Ledger,
  type LedgerConnection,
  type LedgerOptions,
  type LedgerTls,
  LedgerUnavailable,
  type MigrateOptions,
  type MigrateResult,
  migrate,
  openLedger,
  type PasswordFunction,
  SCHEMA_VERSION,
  SchemaTooNew,
  SchemaTooOld,
  type SpendCapOptions,
} from './ledger';
export { ledgerConnection } from './ops/ledger-connection';
export type { ChargeTools } from './processor/charge';
export { BusyCustomers } from './processor/customer-queue';
export { type Decide, decide } from './processor/decide';
export { billingKey, idempotencyKey, type KeyInput } from './processor/keys';
export type {
  BillingEvent,
  ChargeRow,
  ClaimAnswer,
  ClaimRequest,
  DeadLetter,
  Delivery,
  LedgerPort,
  Log,
  Metrics,
  Partition,
  PartitionConsumer,
  PaymentMethodAnswer,
  ReachCrashPoint,
  Source,
  StripeAnswer,
  StripePort,
} from './processor/ports';
export { Processor, type ProcessorOptions } from './processor/processor';
export { Reconciler, type ReconcilerOptions } from './processor/reconciler';
export { StripeHalt } from './processor/stripe-halt';
export { createStripe, METADATA, STRIPE_API_VERSION, type StripeClient, type StripeOptions } from './stripe';
