import * as network from '@pulumi/azure-native/network';
import * as privatedns from '@pulumi/azure-native/privatedns';
import type * as pulumi from '@pulumi/pulumi';
import { globalName } from '../shared/global-name';
import { keep } from '../shared/stateful';
import type { LedgerDatabaseArgs } from './ledger-database-args';

/** Where the server and its consumer live. */
export interface LedgerNetwork {
  readonly subnetId: pulumi.Input<string>;
  readonly privateDnsZoneId: pulumi.Input<string>;
  readonly environmentSubnetId: pulumi.Output<string> | undefined;
  /** The addresses that Stripe sees; unknown of a network that is made elsewhere. */
  readonly egressIps: pulumi.Output<string[]> | undefined;
  /** What must be there before the server, though the server does not name it. */
  readonly before: readonly pulumi.Resource[];
}

/** Clear of the ranges that Container Apps keeps for itself. */
const ADDRESS_SPACE = '10.90.0.0/22';
/** Container Apps takes /27; this leaves room for two revisions of any size. */
const ENVIRONMENT_PREFIX = '10.90.0.0/23';
const SERVER_PREFIX = '10.90.2.0/24';
const ZONE_SUFFIX = 'private.postgres.database.azure.com';
/** Azure adds the locations of a service endpoint by itself. */
const SERVICE_MANAGED = ['serviceEndpoints[0].locations'];

export function ownNetwork(parent: pulumi.Resource, name: string, args: LedgerDatabaseArgs): LedgerNetwork {
  const { resourceGroupName } = args;
  const tags = args.tags === undefined ? {} : { tags: args.tags };
  const kept = { parent, ...keep(args.protect ?? true) };
  const vnet = new network.VirtualNetwork(
    `${name}-network`,
    { resourceGroupName, addressSpace: { addressPrefixes: [ADDRESS_SPACE] }, ...tags },
    // Subnets are resources of their own.
    { ...kept, ignoreChanges: ['subnets'] },
  );
  const { nat, address } = egress(parent, name, args);
  const inside = { resourceGroupName, virtualNetworkName: vnet.name };
  const serverSubnet = new network.Subnet(
    `${name}-server-subnet`,
    {
      ...inside,
      subnetName: 'server',
      addressPrefix: SERVER_PREFIX,
      delegations: [{ name: 'postgresql', serviceName: 'Microsoft.DBforPostgreSQL/flexibleServers' }],
      serviceEndpoints: [{ service: 'Microsoft.Storage' }],
    },
    { ...kept, ignoreChanges: SERVICE_MANAGED },
  );
  const environmentSubnet = new network.Subnet(
    `${name}-environment-subnet`,
    {
      ...inside,
      subnetName: 'environment',
      addressPrefix: ENVIRONMENT_PREFIX,
      delegations: [{ name: 'container-apps', serviceName: 'Microsoft.App/environments' }],
      natGateway: { id: nat.id },
      // So that a checkpoint account can let this subnet in, and nobody else.
      serviceEndpoints: [{ service: 'Microsoft.Storage' }],
    },
    // A network changes one subnet at a time.
    { ...kept, dependsOn: [serverSubnet], ignoreChanges: SERVICE_MANAGED },
  );
  const zone = new privatedns.PrivateZone(
    `${name}-zone`,
    { resourceGroupName, privateZoneName: zoneName(parent, name, resourceGroupName), location: 'global', ...tags },
    kept,
  );
  const link = new privatedns.VirtualNetworkLink(
    `${name}-zone-link`,
    {
      resourceGroupName,
      privateZoneName: zone.name,
      virtualNetworkLinkName: 'network',
      location: 'global',
      registrationEnabled: false,
      virtualNetwork: { id: vnet.id },
      ...tags,
    },
    kept,
  );
  return {
    subnetId: serverSubnet.id,
    privateDnsZoneId: zone.id,
    environmentSubnetId: environmentSubnet.id,
    egressIps: address.ipAddress.apply((ip) => (ip === undefined ? [] : [ip])),
    before: [link],
  };
}

/** One fixed address to the internet: Stripe's dashboard can then take the key from nowhere else. */
function egress(parent: pulumi.Resource, name: string, args: LedgerDatabaseArgs) {
  const { resourceGroupName } = args;
  const tags = args.tags === undefined ? {} : { tags: args.tags };
  const address = new network.PublicIPAddress(
    `${name}-egress-address`,
    {
      resourceGroupName,
      sku: { name: network.PublicIPAddressSkuName.Standard },
      publicIPAllocationMethod: network.IPAllocationMethod.Static,
      publicIPAddressVersion: network.IPVersion.IPv4,
      ...tags,
    },
    // An address that others have allowed can never be had again.
    { parent, ...keep(args.protect ?? true) },
  );
  const nat = new network.NatGateway(
    `${name}-egress`,
    {
      resourceGroupName,
      sku: { name: network.NatGatewaySkuName.Standard },
      publicIpAddresses: [{ id: address.id }],
      ...tags,
    },
    { parent, ...keep(args.protect ?? true) },
  );
  return { nat, address };
}

/** Another one for each stack: a resource group has a zone of a name once. */
function zoneName(parent: pulumi.Resource, name: string, resourceGroupName: pulumi.Input<string>) {
  const label = globalName(parent, 'zone', name, resourceGroupName, { maxLength: 63, hyphens: true });
  return label.apply((each) => `${each}.${ZONE_SUFFIX}`);
}
