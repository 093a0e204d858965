/** What platform teams own before a stack is deployed: a resource group and a vault, and what is told about them. */
import { resourceGroupId } from './provider/ids';

const RESOURCE_GROUP = 'rg-billing';
const PROVIDERS = `${resourceGroupId(RESOURCE_GROUP)}/providers`;
const VAULT = `${PROVIDERS}/Microsoft.KeyVault/vaults/kv-billing`;
const REGISTRY = `${PROVIDERS}/Microsoft.ContainerRegistry/registries/contoso`;

/** Ids of what exists and is not the stack's. */
export const OUTSIDE: readonly string[] = [
  resourceGroupId(RESOURCE_GROUP),
  REGISTRY,
  VAULT,
  `${VAULT}/secrets/stripe-rk`,
];

export const SETTINGS: Readonly<Record<string, string>> = { resourceGroupName: RESOURCE_GROUP, keyVaultId: VAULT };
