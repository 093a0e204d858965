export { nearest } from '../contract/nearest';
export type { BillingConfig, CheckpointConfig, SpendCapConfig } from './billing';
export {
  type ChargingConfig,
  type CommonConfig,
  type Config,
  type Read,
  readChargingConfig,
  readConfig,
  readDatabaseConfig,
  SOURCES,
  type SourceName,
} from './config';
export { type DatabaseConfig, DEFAULT_MIGRATE_COMMAND } from './database';
export { describeConfig } from './describe';
export type { EventHubsConfig } from './event-hubs';
export type { KinesisConfig } from './kinesis';
export type { ProcessConfig } from './process';
export type { Environment } from './reader';
export { redactSecrets } from './redact';
export type { StripeConfig } from './stripe';
