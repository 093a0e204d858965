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
import { type EventHubsConfig, readEventHubs } from './event-hubs';
import { type KinesisConfig, readKinesis } from './kinesis';
import { type ProcessConfig, readProcess } from './process';
import { type Environment, Reader } from './reader';
import { readStripe, type StripeConfig } from './stripe';
import { typoWarnings } from './typo';

/** The transports that events come by. */
export const SOURCES = ['kinesis', 'event-hubs'] as const;
export type SourceName = (typeof SOURCES)[number];

/** What is the same for every source. */
export interface CommonConfig {
  readonly database: DatabaseConfig;
  readonly stripe: StripeConfig;
  readonly billing: BillingConfig;
  readonly spendCap: SpendCapConfig;
  readonly checkpoint: CheckpointConfig;
  readonly process: ProcessConfig;
}

export type Config = CommonConfig & SourceConfig;

type SourceConfig =
  | { readonly source: 'kinesis'; readonly kinesis: KinesisConfig }
  | { readonly source: 'event-hubs'; readonly eventHubs: EventHubsConfig };

/** What every charge needs, wherever its event comes from. */
export type ChargingConfig = Pick<CommonConfig, 'database' | 'stripe' | 'billing' | 'spendCap'>;

export type Read<T> =
  | { readonly ok: true; readonly config: T; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[]; readonly warnings: readonly string[] };

/**
 * What `consume` needs. Never throws: whatever stands in the environment is answered in words.
 * @param sources those that this build can read; the first one is meant where SOURCE is absent
 */
export function readConfig(env: Environment, sources: readonly SourceName[] = SOURCES): Read<Config> {
  return finish(env, (reader) => {
    const source = readSource(reader, sources);
    const charging = readCharging(reader);
    return {
      ...source,
      ...charging,
      checkpoint: readCheckpoint(reader),
      process: readProcess(reader, charging.stripe),
    };
  });
}

function readSource(reader: Reader, sources: readonly SourceName[]): SourceConfig {
  const [first = 'kinesis'] = sources;
  const wanted = reader.optional('SOURCE') ?? first;
  const source = sources.find((each) => each === wanted);
  if (source === undefined) {
    const elsewhere = SOURCES.some((each) => each === wanted);
    reader.problem('SOURCE', {
      allowed: sources.join(' | '),
      wayOut: elsewhere
        ? `This build reads ${sources.join(' and ')} only: run the one that is made for ${wanted}.`
        : `Leave it out for ${first}.`,
    });
  }
  return (source ?? first) === 'event-hubs'
    ? { source: 'event-hubs', eventHubs: readEventHubs(reader) }
    : { source: 'kinesis', kinesis: readKinesis(reader) };
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
  // What two parts of the configuration read is wrong only once.
  if (reader.problems.length > 0) return { ok: false, problems: [...new Set(reader.problems)], warnings };
  return { ok: true, config: deepFreeze(config), warnings };
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner);
  }
  return Object.freeze(value);
}
