/** Environment in, one frozen and checked configuration out, or every problem at once. Pure. */
import {
  type BillingConfig,
  type CheckpointConfig,
  readBilling,
  readCheckpoint,
  readSpendCap,
  type SpendCapConfig,
} from './billing';
import { type DatabaseConfig, readDatabase } from './database';
import { type KinesisConfig, readKinesis } from './kinesis';
import { type ProcessConfig, readProcess } from './process';
import { type Environment, Reader } from './reader';
import { readStripe, type StripeConfig } from './stripe';
import { typoWarnings } from './typo';

export interface Config {
  readonly source: 'kinesis';
  readonly database: DatabaseConfig;
  readonly stripe: StripeConfig;
  readonly billing: BillingConfig;
  readonly spendCap: SpendCapConfig;
  readonly checkpoint: CheckpointConfig;
  readonly kinesis: KinesisConfig;
  readonly process: ProcessConfig;
}

/** What every charge needs, wherever its event comes from. */
export type ChargingConfig = Pick<Config, 'database' | 'stripe' | 'billing' | 'spendCap'>;

export type Read<T> =
  | { readonly ok: true; readonly config: T; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[]; readonly warnings: readonly string[] };

/** What `consume` needs. Never throws: whatever stands in the environment is answered in words. */
export function readConfig(env: Environment): Read<Config> {
  return finish(env, (reader) => {
    const source = reader.optional('SOURCE') ?? 'kinesis';
    if (source !== 'kinesis') {
      reader.problem('SOURCE', { allowed: 'kinesis', wayOut: 'This version reads Kinesis only; leave it out.' });
    }
    const charging = readCharging(reader);
    return {
      source: 'kinesis',
      ...charging,
      checkpoint: readCheckpoint(reader),
      kinesis: readKinesis(reader),
      process: readProcess(reader, charging.stripe),
    };
  });
}

/** What verbs need that charge without a stream, such as `reconcile --apply`. */
export function readChargingConfig(env: Environment): Read<ChargingConfig> {
  return finish(env, readCharging);
}

function readCharging(reader: Reader): ChargingConfig {
  const stripe = readStripe(reader);
  const billing = readBilling(reader, stripe.timeoutMs);
  const database = readDatabase(reader);
  return { database, stripe, billing, spendCap: readSpendCap(reader, billing.defaultCurrency) };
}

/** What verbs need that only talk to the ledger, such as `migrate`. */
export function readDatabaseConfig(env: Environment): Read<DatabaseConfig> {
  return finish(env, readDatabase);
}

function finish<T extends object>(env: Environment, read: (reader: Reader) => T): Read<T> {
  const reader = new Reader(env);
  const config = read(reader);
  const warnings = [...reader.warnings, ...typoWarnings(env)];
  if (reader.problems.length > 0) return { ok: false, problems: reader.problems, warnings };
  return { ok: true, config: deepFreeze(config), warnings };
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner);
  }
  return Object.freeze(value);
}
