/**
 * The same system composed from its parts, in a network that other teams share. `main: stacks/azure/composed.ts` in
 * Pulumi.yaml runs it. These are the lines that the pattern replaces.
 */
import * as network from '@pulumi/azure-native/network';
import * as operationalinsights from '@pulumi/azure-native/operationalinsights';
import * as privatedns from '@pulumi/azure-native/privatedns';
import * as pulumi from '@pulumi/pulumi';
import {
  BillingConsumer,
  BillingEventHub,
  BillingMonitoring,
  CheckpointStore,
  LedgerDatabase,
} from '../../constructs/azure';
import { placeholders } from './placeholders';

const config = new pulumi.Config();
const resourceGroupName = config.get('resourceGroupName') ?? placeholders.resourceGroupName;
const protect = config.getBoolean('protect') ?? true;
const tags = { team: 'billing' };
const common = { resourceGroupName, protect, tags };

/** The network team's part: a subnet for each of the two, a way out, and a zone for the server's name. */
const vnet = new network.VirtualNetwork('net', {
  resourceGroupName,
  addressSpace: { addressPrefixes: ['10.40.0.0/22'] },
});
const exit = new network.PublicIPAddress('net-exit', {
  resourceGroupName,
  sku: { name: network.PublicIPAddressSkuName.Standard },
  publicIPAllocationMethod: network.IPAllocationMethod.Static,
});
const nat = new network.NatGateway('net-nat', {
  resourceGroupName,
  sku: { name: network.NatGatewaySkuName.Standard },
  publicIpAddresses: [{ id: exit.id }],
});
const serverSubnet = new network.Subnet('net-server', {
  resourceGroupName,
  virtualNetworkName: vnet.name,
  addressPrefix: '10.40.0.0/27',
  delegations: [{ name: 'postgresql', serviceName: 'Microsoft.DBforPostgreSQL/flexibleServers' }],
});
const environmentSubnet = new network.Subnet(
  'net-environment',
  {
    resourceGroupName,
    virtualNetworkName: vnet.name,
    addressPrefix: '10.40.1.0/25',
    delegations: [{ name: 'container-apps', serviceName: 'Microsoft.App/environments' }],
    natGateway: { id: nat.id },
  },
  { dependsOn: serverSubnet },
);
const zone = new privatedns.PrivateZone('net-zone', {
  resourceGroupName,
  privateZoneName: 'billing.private.postgres.database.azure.com',
  location: 'global',
});
const link = new privatedns.VirtualNetworkLink('net-zone-link', {
  resourceGroupName,
  privateZoneName: zone.name,
  location: 'global',
  registrationEnabled: false,
  virtualNetwork: { id: vnet.id },
});

/** The platform team's part: where all logs go. */
const workspace = new operationalinsights.Workspace('logs', {
  resourceGroupName,
  sku: { name: operationalinsights.WorkspaceSkuNameEnum.PerGB2018 },
  retentionInDays: 90,
});
const watched = { ...common, workspaceId: workspace.id };

/** What must never be lost. */
const eventHub = new BillingEventHub('usage', { ...watched, partitionCount: 8 });
const checkpointStore = new CheckpointStore('checkpoints', common);
const ledger = new LedgerDatabase(
  'ledger',
  {
    ...watched,
    network: {
      subnetId: serverSubnet.id,
      privateDnsZoneId: zone.id,
      environmentSubnetId: environmentSubnet.id,
    },
    highAvailability: 'SameZone',
  },
  { dependsOn: link },
);
eventHub.grantPublish('metering', config.get('meteringPrincipalId') ?? placeholders.meteringPrincipalId);

/** What charges, and what watches it. */
const consumer = new BillingConsumer('charges', {
  ...watched,
  eventHub,
  checkpointStore,
  ledger,
  image: config.get('image') ?? placeholders.image,
  stripeKey: config.requireSecret('stripeKey'),
  stripeMode: 'test',
  spendCap: { perPeriod: { usd: 50_000_00, eur: 40_000_00 } },
  minReplicas: 2,
  maxReplicas: 4,
  migrations: 'manual',
  environment: { DEFAULT_CURRENCY: 'eur' },
});
new BillingMonitoring('watch', {
  ...{ ...common, workspaceId: workspace.id, consumer, eventHub, checkpointStore, ledger },
  alertEmails: config.getObject<string[]>('alertEmails') ?? placeholders.alertEmails,
});

export const { opsCommand, opsLogsCommand, migrateCommand } = consumer;
export const egressIp = exit.ipAddress;
