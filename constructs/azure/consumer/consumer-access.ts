/** What the consumer's identities may do: each of it before anything runs as them. */
import type * as authorization from '@pulumi/azure-native/authorization';
import type * as managedidentity from '@pulumi/azure-native/managedidentity';
import type * as inputs from '@pulumi/azure-native/types/input';
import * as pulumi from '@pulumi/pulumi';
import { assignRole } from '../shared/role-assignment';
import type { BillingConsumerArgs } from './billing-consumer-args';
import { STRIPE_KEY_SECRET } from './consumer-environment';
import { azureRegistryName, registryHost } from './image-reference';
import type { StripeKeySource } from './stripe-key';

type Identity = managedidentity.UserAssignedIdentity;

/** A registry that asks who pulls. */
export interface Registry {
  readonly server: string;
  readonly id: pulumi.Input<string>;
}

/**
 * The registry to log in to; nothing when the image is public.
 *
 * @param neighbour id of a resource in `resourceGroupName`, where one of Azure's registries is looked for
 */
export function registryOf(args: BillingConsumerArgs, neighbour: pulumi.Output<string>): Registry | undefined {
  if (args.registry !== undefined) return args.registry;
  const server = registryHost(args.image);
  const registry = azureRegistryName(server);
  if (registry === undefined) return undefined;
  const id = neighbour.apply((at) => at.replace(/\/providers\/.*$/, ''));
  return { server, id: pulumi.interpolate`${id}/providers/Microsoft.ContainerRegistry/registries/${registry}` };
}

export function grantPull(
  parent: pulumi.Resource,
  childName: string,
  registry: Registry | undefined,
  { principalId }: Identity,
): authorization.RoleAssignment[] {
  if (registry === undefined) return [];
  return [assignRole(parent, childName, { scope: registry.id, principalId, role: 'AcrPull' })];
}

/** What the worker does: reads the hub, keeps checkpoints, has its key read for it, has its image pulled for it. */
export function grantWorker(
  parent: pulumi.Resource,
  name: string,
  identity: Identity,
  { args, key, registry }: { args: BillingConsumerArgs; key: StripeKeySource; registry: Registry | undefined },
): authorization.RoleAssignment[] {
  const { principalId } = identity;
  return [
    args.eventHub.grantConsume(`${name}-consume`, principalId),
    args.checkpointStore.grantCheckpoint(`${name}-checkpoint`, principalId),
    ...(key.kind === 'key-vault'
      ? [assignRole(parent, `${name}-stripe-key`, { scope: key.secretId, principalId, role: 'Key Vault Secrets User' })]
      : []),
    ...grantPull(parent, `${name}-worker-pull`, registry, identity),
  ];
}

export function registryCredentials(
  registry: Registry | undefined,
  identity: Identity,
): inputs.app.RegistryCredentialsArgs[] {
  return registry === undefined ? [] : [{ server: registry.server, identity: identity.id }];
}

/** The Stripe key of a container app or job that runs as `identity`. */
export function stripeKeySecret(key: StripeKeySource, identity: Identity): inputs.app.SecretArgs {
  return key.kind === 'key-vault'
    ? { name: STRIPE_KEY_SECRET, keyVaultUrl: key.uri, identity: identity.id }
    : { name: STRIPE_KEY_SECRET, value: key.value };
}
