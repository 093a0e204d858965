/** A few resources by hand; the configuration says what is wrong with them. */
import * as eventhub from '@pulumi/azure-native/eventhub';
import * as resources from '@pulumi/azure-native/resources';
import * as storage from '@pulumi/azure-native/storage';
import * as pulumi from '@pulumi/pulumi';

/** Of a type that no table knows. */
class Mystery extends pulumi.CustomResource {
  constructor(name: string) {
    super('azure-native:mystery:Thing', name);
  }
}

const config = new pulumi.Config();
const group = new resources.ResourceGroup('group', { resourceGroupName: 'rg-plain', location: 'westeurope' });
const inGroup = { resourceGroupName: group.name };

new storage.StorageAccount('account', {
  ...inGroup,
  accountName: 'plainaccount',
  kind: storage.Kind.StorageV2,
  sku: { name: storage.SkuName.Standard_LRS },
  minimumTlsVersion: config.get('tls') ?? storage.MinimumTlsVersion.TLS1_2,
  tags: { open: config.require('open'), secret: config.requireSecret('secret') },
});
const namespace = new eventhub.Namespace('namespace', { ...inGroup, namespaceName: 'plain-namespace' });
new eventhub.EventHub('hub', {
  ...inGroup,
  namespaceName: namespace.name,
  eventHubName: config.get('hub') ?? 'hub',
  partitionCount: config.getNumber('partitions') ?? 4,
});
if (config.getBoolean('unknownType')) new Mystery('thing');
