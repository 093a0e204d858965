/** A consumer between real parts, run under Pulumi's mocks. */
import {
  BillingConsumer,
  type BillingConsumerArgs,
  BillingEventHub,
  CheckpointStore,
  LedgerDatabase,
} from '../../constructs/azure';
import { SUBSCRIPTION } from './mock-azure';
import { type Registered, type Run, type RunOptions, runProgram } from './mocks';

export const DIGEST = `sha256:${'4e'.repeat(32)}`;
export const IMAGE = `contoso.azurecr.io/chargeonce@${DIGEST}`;
export const GROUP = 'rg-billing';
export const GROUP_ID = `/subscriptions/${SUBSCRIPTION}/resourceGroups/${GROUP}`;
export const SECRET_URI = 'https://kv-billing.vault.azure.net/secrets/stripe-rk';
export const VAULT_ID = `${GROUP_ID}/providers/Microsoft.KeyVault/vaults/kv-billing`;

export type Change = (args: BillingConsumerArgs) => BillingConsumerArgs;

/** All that must be said, and nothing more. */
export function smallest(): BillingConsumerArgs {
  const common = { resourceGroupName: GROUP };
  return {
    ...common,
    eventHub: new BillingEventHub('usage', common),
    checkpointStore: new CheckpointStore('checkpoints', common),
    ledger: new LedgerDatabase('ledger', common),
    image: IMAGE,
    stripeKeySecretUri: SECRET_URI,
    keyVaultId: VAULT_ID,
    spendCap: 'off',
  };
}

/** Runs a consumer named `charges`. */
export function runConsumer(change: Change = (args) => args, options?: RunOptions): Promise<Run<BillingConsumer>> {
  return runProgram(() => new BillingConsumer('charges', change(smallest())), options);
}

/** Runs many of them between the same parts, named `charges-0` and so on: a run of its own for each takes its time. */
export function runConsumers(changes: readonly Change[], options?: RunOptions): Promise<Run<BillingConsumer[]>> {
  return runProgram(() => {
    const parts = smallest();
    return changes.map((change, index) => new BillingConsumer(`charges-${index}`, change(parts)));
  }, options);
}

/** A container as it was declared. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string; readonly secretRef?: string }[];
  readonly resources: unknown;
  readonly probes?: readonly Readonly<Record<string, unknown>>[];
}

const PLACES = {
  worker: ['app', 'containers'],
  migrate: ['app', 'initContainers'],
  ops: ['ops', 'containers'],
} as const;

/** The only container of that name. */
export function container(run: Run<unknown>, name: keyof typeof PLACES, consumer = 'charges'): Container {
  const [resource, list] = PLACES[name];
  return containerOf(run.named(`${consumer}-${resource}`), list, name);
}

export function containerOf(resource: Registered, list: 'containers' | 'initContainers', name: string): Container {
  const template = resource.inputs.template as Partial<Record<typeof list, Container[]>>;
  const found = template[list]?.filter((each) => each.name === name) ?? [];
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${resource.name} has ${found.length} of ${name}`);
  return found[0];
}

/** The environment of its process, with the key put in as the platform does. */
export function environmentOf({ env }: Container): Record<string, string> {
  return Object.fromEntries(
    env.map(({ name, value, secretRef }) => [
      name,
      value ?? (secretRef === 'stripe-key' ? 'rk_test_4eC39HqLyjWDarjtT1zdp7dc' : ''),
    ]),
  );
}

/** A property deep inside an object, by its path. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value);
}
