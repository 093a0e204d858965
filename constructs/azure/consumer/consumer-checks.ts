/** What a consumer refuses at preview, before anything is made. */

import * as pulumi from '@pulumi/pulumi';
import { ENVIRONMENT } from '../../../runtime/contract';
import { FLEET_STRIPE_RPS } from '../../shared/limits';
import { wrongStripeRate } from '../../shared/stripe-rate';
import { unknownArgs } from '../shared/known-args';
import { wrongCommon, wrongWhenMissing } from '../shared/needed-args';
import { found, refuseWrongArgs, shown, type WrongArg, wrongCount } from '../shared/wrong-args';
import { memoryOf, wrongSize } from './app-size';
import type { BillingConsumerArgs } from './billing-consumer-args';
import { STRIPE_KEY_VERSION } from './consumer-environment';
import { azureRegistryName, isAzureRegistry, registryHost, wrongImage } from './image-reference';
import { wrongLedger, wrongStore } from './one-consumer-group';
import { wrongValue } from './own-settings';
import { wrongSpendCap } from './spend-cap';
import { wrongStripeKey } from './stripe-key';

/** All that it reads. */
const ARGS = {
  resourceGroupName: true,
  tags: true,
  eventHub: true,
  checkpointStore: true,
  ledger: true,
  image: true,
  registry: true,
  stripeKeySecretUri: true,
  keyVaultId: true,
  stripeKey: true,
  spendCap: true,
  stripeMode: true,
  stripeMaxRps: true,
  managedEnvironmentId: true,
  environmentSubnetId: true,
  workspaceId: true,
  logTable: true,
  minReplicas: true,
  maxReplicas: true,
  cpu: true,
  memory: true,
  migrations: true,
  environment: true,
  logRetentionDays: true,
  protect: true,
} as const satisfies Record<keyof BillingConsumerArgs, true>;

/** Cores of a replica. */
export const CPU = 0.5;

export const REPLICAS = 2;

/** As Container Apps checks the name of a variable. */
const SETTING_NAME = /^[A-Za-z_.-][\w.-]*$/;

/** Settings that the component makes or wires itself, with those that would contradict them. */
const OWNED: readonly string[] = [
  ENVIRONMENT.SOURCE,
  ENVIRONMENT.EVENTHUB_NAME,
  ENVIRONMENT.EVENTHUB_NAMESPACE,
  ENVIRONMENT.EVENTHUB_CONSUMER_GROUP,
  ENVIRONMENT.EVENTHUB_CONNECTION_STRING,
  ENVIRONMENT.EVENTHUB_ENDPOINT_ADDRESS,
  ENVIRONMENT.CHECKPOINT_CONTAINER_URL,
  ENVIRONMENT.CHECKPOINT_CONNECTION_STRING,
  ENVIRONMENT.CHECKPOINT_CONTAINER,
  ENVIRONMENT.AZURE_CLIENT_ID,
  ENVIRONMENT.DATABASE_URL,
  ENVIRONMENT.DATABASE_AUTH,
  ENVIRONMENT.DATABASE_SECRET_ARN,
  ENVIRONMENT.PGHOST,
  ENVIRONMENT.PGPORT,
  ENVIRONMENT.PGDATABASE,
  ENVIRONMENT.PGSSLMODE,
  ENVIRONMENT.PGUSER,
  ENVIRONMENT.PGPASSWORD,
  ENVIRONMENT.PGPASSWORD_FILE,
  ENVIRONMENT.STRIPE_API_KEY,
  STRIPE_KEY_VERSION,
  ENVIRONMENT.STRIPE_MODE,
  ENVIRONMENT.STRIPE_MAX_RPS,
  ENVIRONMENT.SPEND_CAP_MODE,
  ENVIRONMENT.SPEND_CAP_DEFAULT,
  ENVIRONMENT.WORKER_ID,
  ENVIRONMENT.HEALTH_HOST,
  ENVIRONMENT.HEALTH_PORT,
  ENVIRONMENT.METRICS_FORMAT,
  ENVIRONMENT.METRICS_NAMESPACE,
  ENVIRONMENT.METRICS_SERVICE,
  ENVIRONMENT.MIGRATE_COMMAND,
  ENVIRONMENT.CHARGEONCE_CRASH_AT,
];

/** @throws all that is wrong with the arguments, in one error */
export function checkConsumer(component: string, name: string, args: BillingConsumerArgs): void {
  const missing = missingParts({ ...args });
  refuseWrongArgs(component, name, [
    ...wrongCommon(args),
    ...unknownArgs(args, ARGS),
    ...missing,
    ...wrongConsumer(name, { ...args }, args?.eventHub?.partitionCount),
    ...(missing.length > 0 ? [] : wrongTogether(args)),
  ]);
}

function wrongTogether(args: BillingConsumerArgs): (WrongArg | undefined)[] {
  const unreached = args.ledger.server !== undefined && args.ledger.environmentSubnetId === undefined;
  return [wrongPlace(args, unreached), wrongLedger(args), wrongStore(args)];
}

function missingParts(args: Partial<BillingConsumerArgs>): WrongArg[] {
  const wayOut = 'A consumer works between the three. EventHubsBilling makes all of them with it.';
  return found([
    wrongWhenMissing('eventHub', args.eventHub, 'a BillingEventHub', wayOut),
    wrongWhenMissing('checkpointStore', args.checkpointStore, 'a CheckpointStore', wayOut),
    wrongWhenMissing('ledger', args.ledger, 'a LedgerDatabase', wayOut),
  ]);
}

/** What a consumer is told of itself, whatever it is between. */
export type ConsumerSettings = Omit<BillingConsumerArgs, 'eventHub' | 'checkpointStore' | 'ledger'>;

/**
 * All that is wrong with a consumer's own settings.
 *
 * @param partitionCount of the hub; absent when that is wrong itself
 */
export function wrongConsumer(name: string, args: ConsumerSettings, partitionCount: number | undefined): WrongArg[] {
  const cpu = args.cpu ?? CPU;
  return found([
    wrongName(name),
    wrongImage(args.image),
    wrongRegistry(args),
    wrongStripeKey(args),
    wrongSpendCap(args.spendCap),
    wrongChoice('stripeMode', args.stripeMode, ['test', 'live'], 'Leave it out for test.'),
    wrongChoice('migrations', args.migrations, ['at-start', 'manual'], 'Leave it out for at-start.'),
    ...(partitionCount === undefined ? [] : wrongFleet(args, partitionCount)),
    wrongSize(cpu, args.memory ?? memoryOf(cpu)),
    ...wrongSettings(args.environment ?? {}),
    wrongCount('logRetentionDays', args.logRetentionDays ?? 90, { min: 30, max: 730, wayOut: 'Leave it out for 90.' }),
  ]);
}

/**
 * The identities' names begin with it, and the workers' role in PostgreSQL has its identity's name: 63 bytes at most, and
 * none that other clouds keep for themselves.
 */
function wrongName(name: string): WrongArg | undefined {
  if (/^(?!rds)[A-Za-z][A-Za-z0-9-]{0,39}$/i.test(name)) return undefined;
  const allowed = 'a letter, then up to 39 letters, digits and hyphens, and not rds first';
  const wayOut = 'Names of Azure’s resources and of a role in PostgreSQL begin with it.';
  return { prop: 'name', received: shown(name), allowed, wayOut };
}

function wrongRegistry({ image, registry }: ConsumerSettings): WrongArg | undefined {
  if (wrongImage(image) !== undefined) return undefined;
  const host = registryHost(image);
  if (registry === undefined) {
    if (!isAzureRegistry(host) || azureRegistryName(host) !== undefined) return undefined;
    const wayOut = 'The host does not tell the registry’s name, and nobody could pull. az acr list prints both.';
    return { prop: 'registry', received: 'not given', allowed: `{ server: "${host}", id: its resource id }`, wayOut };
  }
  if (registry.server.toLowerCase() === host) return undefined;
  const wayOut = 'The image would be pulled without a login.';
  return { prop: 'registry.server', received: shown(registry.server), allowed: `"${host}", where image is`, wayOut };
}

function wrongChoice(prop: string, value: unknown, allowed: readonly string[], wayOut: string): WrongArg | undefined {
  if (value === undefined || allowed.some((each) => each === value)) return undefined;
  return { prop, received: shown(value), allowed: allowed.join(' or '), wayOut };
}

function wrongFleet({ stripeMaxRps, ...args }: ConsumerSettings, partitionCount: number): WrongArg[] {
  const min = args.minReplicas ?? REPLICAS;
  const max = args.maxReplicas ?? min;
  const wrong = found(wrongReplicas(min, max, partitionCount));
  return wrong.length > 0 ? wrong : found([wrongStripeRate(stripeMaxRps ?? FLEET_STRIPE_RPS, max)]);
}

function wrongReplicas(min: number, max: number, partitions: number): (WrongArg | undefined)[] {
  const none = 'Nothing would read the hub, and events expire unread. To stop charging, stop the container app.';
  const idle = 'A partition is read by one replica at a time; the others would idle.';
  return [
    wrongCount('minReplicas', min, { min: 1, max: partitions, wayOut: min > partitions ? idle : none }),
    min > partitions || typeof min !== 'number'
      ? undefined
      : wrongCount('maxReplicas', max, {
          min,
          max: partitions,
          wayOut: max > partitions ? idle : 'Leave it out for minReplicas.',
        }),
  ];
}

/** @param unreached whether the ledger is made in a network and names no subnet there for the workers */
function wrongPlace(args: ConsumerSettings, unreached: boolean): WrongArg | undefined {
  const prop = 'environmentSubnetId';
  if (args.managedEnvironmentId !== undefined) {
    if (args.environmentSubnetId === undefined) return undefined;
    const wayOut = 'An environment’s subnet is decided when it is made.';
    return { prop, received: 'given', allowed: 'without managedEnvironmentId only', wayOut };
  }
  if (args.logTable !== undefined) {
    const wayOut = 'An environment of its own writes to ContainerAppConsoleLogs.';
    return { prop: 'logTable', received: shown(args.logTable), allowed: 'beside managedEnvironmentId only', wayOut };
  }
  if (args.environmentSubnetId !== undefined || !unreached) return undefined;
  return {
    prop,
    received: 'not given',
    allowed: 'a subnet delegated to Microsoft.App/environments, or an environment as managedEnvironmentId',
    wayOut: 'The ledger is reached from its network only, and names no subnet there.',
  };
}

function wrongSettings(given: Readonly<Record<string, unknown>>): WrongArg[] {
  return Object.entries(given).flatMap(([setting, value]) => {
    const wrong = { prop: 'environment', received: `a map with ${setting}` };
    if (!SETTING_NAME.test(setting)) {
      const wayOut = 'Container Apps takes no other name.';
      return [{ ...wrong, allowed: 'names of letters, digits, "_", "-" and ".", no digit first', wayOut }];
    }
    if (!OWNED.includes(setting)) return wrongText(setting, value);
    const wayOut = `Leave ${setting} out: its value follows from the other arguments.`;
    return [{ ...wrong, allowed: 'names that the component does not set itself', wayOut }];
  });
}

/** The worker would refuse it at its start; a number or a boolean, Azure in the middle of a deploy. */
function wrongText(setting: string, value: unknown): WrongArg[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return found([wrongValue(setting, value)]);
  if (pulumi.Output.isInstance(value) || value instanceof Promise) return [];
  const [received, wayOut] = [
    `a map whose ${setting} is ${typeof value} ${String(value)}`,
    `Write '${String(value)}'.`,
  ];
  return [{ prop: 'environment', received, allowed: 'texts, or outputs of texts', wayOut }];
}
