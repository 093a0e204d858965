/** A few resources by hand; the configuration says what is wrong with them. */
import * as eventhub from '@pulumi/azure-native/eventhub';
import * as resources from '@pulumi/azure-native/resources';
import * as storage from '@pulumi/azure-native/storage';
import * as pulumi from '@pulumi/pulumi';

const config = new pulumi.Config();
const group = new resources.ResourceGroup('group', { resourceGroupName: 'rg-plain', location: 'westeurope' });
const account = new storage.StorageAccount('account', {
  resourceGroupName: group.name,
  accountName: 'plainaccount',
  kind: storage.Kind.StorageV2,
  sku: { name: storage.SkuName.Standard_LRS },
  minimumTlsVersion: config.get('tls') ?? storage.MinimumTlsVersion.TLS1_2,
  tags: { secret: config.getSecret('secret') ?? 'none' },
});
const namespace = new eventhub.Namespace('namespace', {
  resourceGroupName: group.name,
  namespaceName: 'plain-namespace',
});
new eventhub.EventHub('hub', {
  resourceGroupName: group.name,
  namespaceName: namespace.name,
  eventHubName: 'hub',
  partitionCount: config.getNumber('partitions') ?? 4,
});
if (config.getBoolean('unknownType')) new pulumi.CustomResource('azure-native:mystery:Thing', 'thing', {}, {});

export const accountName = account.name;
