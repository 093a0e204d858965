import * as storage from '@pulumi/azure-native/storage';
import * as pulumi from '@pulumi/pulumi';
import { globalName } from '../shared/global-name';
import { type Change, guard } from '../shared/guard';
import { keep } from '../shared/stateful';
import { refuseWrongArgs } from '../shared/wrong-args';
import { wrongBlobSettings } from './blob-settings';
import type { CheckpointStoreArgs, ExistingAccountArgs } from './checkpoint-store-args';

/** A storage account, made here or elsewhere. */
export interface AccountParts {
  readonly account: storage.StorageAccount | undefined;
  readonly id: pulumi.Output<string>;
  readonly name: pulumi.Output<string>;
  readonly resourceGroupName: pulumi.Input<string>;
  /** Where its blobs are, with a slash at the end. */
  readonly blobEndpoint: pulumi.Output<string>;
}

const PUBLIC_DOMAIN = 'blob.core.windows.net';
const NAME_RULES = { maxLength: 24, hyphens: false };
const PREMIUM = 'Premium_';

export function ownAccount(parent: pulumi.Resource, name: string, args: CheckpointStoreArgs): AccountParts {
  const { resourceGroupName } = args;
  const sku = args.sku ?? storage.SkuName.Standard_ZRS;
  const account = new storage.StorageAccount(
    `${name}-account`,
    {
      resourceGroupName,
      accountName: args.accountName ?? globalName(parent, 'checkpoints', name, resourceGroupName, NAME_RULES),
      // isHnsEnabled is not sent, not even as false: Azure may refuse it of an account that exists.
      kind: sku.startsWith(PREMIUM) ? storage.Kind.BlockBlobStorage : storage.Kind.StorageV2,
      sku: { name: sku },
      allowSharedKeyAccess: false,
      allowBlobPublicAccess: false,
      allowCrossTenantReplication: false,
      defaultToOAuthAuthentication: true,
      enableHttpsTrafficOnly: true,
      minimumTlsVersion: storage.MinimumTlsVersion.TLS1_2,
      ...networkRules(args.allowedSubnetIds),
      ...(args.tags === undefined ? {} : { tags: args.tags }),
    },
    {
      parent,
      ...keep(args.protect ?? true),
      ignoreChanges: ['privateEndpointConnections'],
      // Azure changes neither of an account in place.
      replaceOnChanges: ['kind', 'sku.name'],
    },
  );
  switchOff(parent, name, args, account);
  return {
    account,
    id: account.id,
    name: account.name,
    resourceGroupName,
    blobEndpoint: blobEndpoint(account.name, account.primaryEndpoints),
  };
}

/** Everything that keeps what was overwritten, said to be off: an organization's template may have it on. */
function switchOff(
  parent: pulumi.Resource,
  name: string,
  { resourceGroupName, protect }: CheckpointStoreArgs,
  account: storage.StorageAccount,
): void {
  const hooks = guard(`${name}-blob-settings`, refuseBlobSettings);
  new storage.BlobServiceProperties(
    `${name}-blob-settings`,
    {
      resourceGroupName,
      accountName: account.name,
      blobServicesName: 'default',
      isVersioningEnabled: false,
      deleteRetentionPolicy: { enabled: false },
      containerDeleteRetentionPolicy: { enabled: false },
      changeFeed: { enabled: false },
      restorePolicy: { enabled: false },
    },
    { parent, ...keep(protect ?? true), ...(hooks ? { hooks } : {}) },
  );
}

/** @throws when something of the user's, such as a transform, switched on what must be off */
export function refuseBlobSettings({ name, to }: Change): void {
  const wayOut = 'Take it out of the transform that sets it.';
  refuseWrongArgs('CheckpointStore', name, [wrongBlobSettings(to, wayOut)]);
}

export function existingAccount(
  parent: pulumi.Resource,
  name: string,
  existing: ExistingAccountArgs,
  args: CheckpointStoreArgs,
): AccountParts {
  const resourceGroupName = existing.resourceGroupName ?? args.resourceGroupName;
  const where = { resourceGroupName, accountName: existing.accountName };
  const found = pulumi
    .all([
      storage.getStorageAccountOutput(where, { parent }),
      storage.getBlobServicePropertiesOutput({ ...where, blobServicesName: 'default' }, { parent }),
    ])
    .apply(([account, blobs]) => {
      const wayOut = 'Switch it off where the account is made, or leave existingAccount out for an account of its own.';
      refuseWrongArgs('CheckpointStore', name, [
        account.isHnsEnabled
          ? {
              prop: 'existingAccount',
              received: 'an account with a hierarchical namespace',
              allowed: 'one without',
              wayOut:
                'Microsoft advises against it for checkpoints, and it cannot be switched off: give another account.',
            }
          : undefined,
        wrongBlobSettings(blobs, wayOut),
      ]);
      return account;
    });
  return {
    account: undefined,
    id: found.id,
    name: found.name,
    resourceGroupName,
    blobEndpoint: blobEndpoint(found.name, found.primaryEndpoints),
  };
}

/** With a slash at the end: its domain differs between Azure's clouds. */
function blobEndpoint(
  name: pulumi.Output<string>,
  endpoints: pulumi.Output<{ readonly blob: string } | undefined>,
): pulumi.Output<string> {
  // Azure always says where; the mocks of a unit test seldom do.
  return pulumi.all([name, endpoints]).apply(([account, at]) => at?.blob ?? `https://${account}.${PUBLIC_DOMAIN}/`);
}

function networkRules(
  subnetIds: CheckpointStoreArgs['allowedSubnetIds'],
): Pick<storage.StorageAccountArgs, 'networkRuleSet'> {
  if (subnetIds === undefined) return {};
  return {
    networkRuleSet: {
      defaultAction: storage.DefaultAction.Deny,
      bypass: storage.Bypass.None,
      virtualNetworkRules: subnetIds.map((id) => ({ virtualNetworkResourceId: id, action: storage.Action.Allow })),
    },
  };
}
