/** Facts about Azure that the mocks answer with; a type that is not here gets an id of the same form by its token. */
export const SUBSCRIPTION = '11111111-2222-4333-8444-555555555555';
export const TENANT = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';

export type Values = Readonly<Record<string, unknown>>;

interface AzureType {
  readonly arm: string;
  /** The properties that hold its name and those of what it lies in, outermost first. */
  readonly names: readonly string[];
  /** What Azure adds to what was sent. */
  readonly adds?: (name: string, inputs: Values, id: string) => Values;
}

const identity = (id: string): Values => ({ principalId: uuidOf(`${id}/principal`), clientId: uuidOf(`${id}/client`) });

const TYPES: Readonly<Record<string, AzureType>> = {
  'azure-native:eventhub:Namespace': {
    arm: 'Microsoft.EventHub/namespaces',
    names: ['namespaceName'],
    adds: (name, inputs, id) => ({
      serviceBusEndpoint: `https://${name}.servicebus.windows.net:443/`,
      ...(inputs.identity === undefined
        ? {}
        : { identity: { ...(inputs.identity as object), principalId: uuidOf(`${id}/principal`) } }),
    }),
  },
  'azure-native:eventhub:EventHub': {
    arm: 'Microsoft.EventHub/namespaces/eventhubs',
    names: ['namespaceName', 'eventHubName'],
  },
  'azure-native:eventhub:ConsumerGroup': {
    arm: 'Microsoft.EventHub/namespaces/eventhubs/consumergroups',
    names: ['namespaceName', 'eventHubName', 'consumerGroupName'],
  },
  'azure-native:storage:StorageAccount': {
    arm: 'Microsoft.Storage/storageAccounts',
    names: ['accountName'],
    adds: (name) => ({ primaryEndpoints: { blob: `https://${name}.blob.core.windows.net/` } }),
  },
  'azure-native:storage:BlobContainer': {
    arm: 'Microsoft.Storage/storageAccounts/blobServices/containers',
    names: ['accountName', '=default', 'containerName'],
  },
  'azure-native:dbforpostgresql:Server': {
    arm: 'Microsoft.DBforPostgreSQL/flexibleServers',
    names: ['serverName'],
    adds: (name) => ({ fullyQualifiedDomainName: `${name}.postgres.database.azure.com` }),
  },
  'azure-native:dbforpostgresql:Database': {
    arm: 'Microsoft.DBforPostgreSQL/flexibleServers/databases',
    names: ['serverName', 'databaseName'],
  },
  'azure-native:network:VirtualNetwork': { arm: 'Microsoft.Network/virtualNetworks', names: ['virtualNetworkName'] },
  'azure-native:network:Subnet': {
    arm: 'Microsoft.Network/virtualNetworks/subnets',
    names: ['virtualNetworkName', 'subnetName'],
  },
  'azure-native:network:PublicIPAddress': {
    arm: 'Microsoft.Network/publicIPAddresses',
    names: ['publicIpAddressName'],
    adds: () => ({ ipAddress: '203.0.113.7' }),
  },
  'azure-native:privatedns:PrivateZone': { arm: 'Microsoft.Network/privateDnsZones', names: ['privateZoneName'] },
  'azure-native:managedidentity:UserAssignedIdentity': {
    arm: 'Microsoft.ManagedIdentity/userAssignedIdentities',
    names: ['resourceName'],
    adds: (_name, _inputs, id) => ({ ...identity(id), tenantId: TENANT }),
  },
  'azure-native:operationalinsights:Workspace': {
    arm: 'Microsoft.OperationalInsights/workspaces',
    names: ['workspaceName'],
    adds: (_name, _inputs, id) => ({ customerId: uuidOf(id) }),
  },
  'azure-native:app:ManagedEnvironment': { arm: 'Microsoft.App/managedEnvironments', names: ['environmentName'] },
  'azure-native:app:ContainerApp': { arm: 'Microsoft.App/containerApps', names: ['containerAppName'] },
  'azure-native:app:Job': { arm: 'Microsoft.App/jobs', names: ['jobName'] },
};

/** What Azure would answer to the creation of a resource: its id, its name, what it adds. */
export function azureAnswer(type: string, logicalName: string, inputs: Values): { id: string; state: Values } {
  const [, module = '', kind = ''] = type.split(':');
  const { arm, names, adds }: AzureType = TYPES[type] ?? { arm: `Mock.${module}/${kind}`, names: [] };
  const named = names.map((each) => (each.startsWith('=') ? each.slice(1) : textOf(inputs[each], logicalName)));
  const [provider, ...kinds] = arm.split('/');
  const segments = named.length === kinds.length ? named : [logicalName];
  const path = kinds.map((each, at) => `${each}/${segments[at]}`).join('/');
  const group = textOf(inputs.resourceGroupName, 'rg');
  const id = `/subscriptions/${SUBSCRIPTION}/resourceGroups/${group}/providers/${provider}/${path}`;
  const name = segments.at(-1) ?? logicalName;
  return { id, state: { ...inputs, name, ...adds?.(name, inputs, id) } };
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** A UUID that follows from the text: fit to be compared, not to be guarded by. */
function uuidOf(text: string): string {
  let hash = 0;
  for (const letter of text) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0;
  return `00000000-0000-4000-8000-${hash.toString(16).padStart(12, '0')}`;
}
