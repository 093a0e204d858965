/** What each container of the consumer is told. */
import type * as managedidentity from '@pulumi/azure-native/managedidentity';
import type * as inputs from '@pulumi/azure-native/types/input';
import type * as pulumi from '@pulumi/pulumi';
import { ENVIRONMENT, METRICS_NAMESPACE } from '../../../runtime/contract';
import type { BillingConsumerArgs } from './billing-consumer-args';
import { spendCapEnvironment } from './spend-cap';

/** Where the runtime answers /healthz and /readyz, inside the replica only. */
export const HEALTH_PORT = 8080;

/** The secret's name in the container app and in the jobs. */
export const STRIPE_KEY_SECRET = 'stripe-key';

/** Nothing reads it: its change makes a new revision, and so workers with the new key. */
export const STRIPE_KEY_VERSION = 'STRIPE_KEY_VERSION';

export type Settings = Readonly<Record<string, pulumi.Input<string>>>;
type Identity = Pick<managedidentity.UserAssignedIdentity, 'name' | 'clientId'>;

/** What worker and ops job have in common, beside the ledger and who they are there. */
export interface ChargingSettings {
  readonly args: BillingConsumerArgs;
  readonly identity: Identity;
  /** Of the Stripe key. Absent: the platform starts workers anew by itself. */
  readonly keyVersion: pulumi.Input<string> | undefined;
  /** One replica's share of the fleet's rate. */
  readonly stripeShare: number;
  /** What to run when the schema is too old, as the log shall say it. Absent: it is brought up to date at start. */
  readonly migrateCommand: pulumi.Input<string> | undefined;
}

/** The ledger, and who the container is there: an identity's role in PostgreSQL has the identity's name. */
function ledgerSettings({ ledger, environment }: BillingConsumerArgs, identity: Identity): Settings {
  const privateCa = environment?.[ENVIRONMENT.PGSSLROOTCERT];
  return {
    ...(privateCa === undefined ? {} : { [ENVIRONMENT.PGSSLROOTCERT]: privateCa }),
    ...ledger.connectionEnvironment,
    [ENVIRONMENT.PGUSER]: identity.name,
    [ENVIRONMENT.AZURE_CLIENT_ID]: identity.clientId,
  };
}

/** The migration: the ledger, and nothing else. It alone is the ledger's owner. */
export function migrateSettings(args: BillingConsumerArgs, migrator: Identity): Settings {
  return ledgerSettings(args, migrator);
}

/** The ops job: the ledger, Stripe and the cap. No hub, so that no worker can be started by mistake. */
export function opsSettings({ args, identity, stripeShare, migrateCommand }: ChargingSettings): Settings {
  return {
    ...ledgerSettings(args, identity),
    ...spendCapEnvironment(args.spendCap),
    [ENVIRONMENT.STRIPE_MODE]: args.stripeMode ?? 'test',
    [ENVIRONMENT.STRIPE_MAX_RPS]: String(stripeShare),
    ...(migrateCommand === undefined ? {} : { [ENVIRONMENT.MIGRATE_COMMAND]: migrateCommand }),
  };
}

/** All that the worker is told, the key apart. What is not here has the runtime's own default. */
export function workerSettings(settings: ChargingSettings, metricsService: string): Settings {
  const { keyVersion } = settings;
  const { eventHub, checkpointStore } = settings.args;
  return {
    ...opsSettings(settings),
    [ENVIRONMENT.SOURCE]: 'event-hubs',
    ...eventHub.connectionEnvironment,
    ...checkpointStore.connectionEnvironment,
    [ENVIRONMENT.HEALTH_PORT]: String(HEALTH_PORT),
    [ENVIRONMENT.METRICS_FORMAT]: 'json',
    [ENVIRONMENT.METRICS_NAMESPACE]: METRICS_NAMESPACE,
    [ENVIRONMENT.METRICS_SERVICE]: metricsService,
    ...(keyVersion === undefined ? {} : { [STRIPE_KEY_VERSION]: keyVersion }),
  };
}

/** As Container Apps takes it. */
export function variables(settings: Settings): inputs.app.EnvironmentVarArgs[] {
  return Object.entries(settings).map(([name, value]) => ({ name, value }));
}

/** The Stripe key, of which the container app holds a reference or a secret, never a plain value. */
export const STRIPE_KEY_VARIABLE: inputs.app.EnvironmentVarArgs = {
  name: ENVIRONMENT.STRIPE_API_KEY,
  secretRef: STRIPE_KEY_SECRET,
};
