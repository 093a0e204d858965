/** A network, its subnets and way out, and the private zone in which a database is found. */
import type { AzureTypes } from '../azure-type';
import { isGlobal, list, matches, oneOf, required, together } from '../rules';
import { text } from '../values';

export const NETWORK: AzureTypes = {
  'azure-native:network:VirtualNetwork': {
    arm: 'Microsoft.Network/virtualNetworks',
    names: ['virtualNetworkName'],
    regional: true,
    replacedOn: ['location'],
    rules: [required('addressSpace', 'a network has one or more address ranges')],
  },
  'azure-native:network:PublicIPAddress': {
    arm: 'Microsoft.Network/publicIPAddresses',
    names: ['publicIpAddressName'],
    regional: true,
    replacedOn: ['location'],
    rules: [
      together('sku.name', ({ publicIPAllocationMethod: method, sku }) =>
        JSON.stringify(sku)?.includes('Standard') && method !== 'Static'
          ? 'an address of a Standard SKU is Static'
          : undefined,
      ),
    ],
    outputs: (props) => ({ ipAddress: props.publicIPAllocationMethod === 'Static' ? '192.0.2.10' : '' }),
  },
  'azure-native:network:NatGateway': {
    arm: 'Microsoft.Network/natGateways',
    names: ['natGatewayName'],
    regional: true,
    replacedOn: ['location'],
    rules: [required('publicIpAddresses', 'a gateway has an address'), oneOf('sku.name', 'Standard', 'StandardV2')],
  },
  'azure-native:network:Subnet': {
    arm: 'Microsoft.Network/virtualNetworks/subnets',
    names: ['virtualNetworkName', 'subnetName'],
    refusal(props, cloud) {
      const networks = cloud.ofType('azure-native:network:VirtualNetwork');
      const network = networks.find(({ inputs }) => inputs.virtualNetworkName === props.virtualNetworkName);
      const inline = network === undefined ? [] : list(network.inputs, 'subnets').map(({ name }) => text(name));
      return inline.includes(text(props.subnetName)) ? 'The network declares this subnet itself.' : undefined;
    },
  },
  'azure-native:privatedns:PrivateZone': {
    arm: 'Microsoft.Network/privateDnsZones',
    names: ['privateZoneName'],
    regional: true,
    replacedOn: ['location'],
    rules: [isGlobal, matches('privateZoneName', /^([a-z0-9-]+\.)+[a-z]+$/, 'a domain name of two or more labels')],
  },
  'azure-native:privatedns:VirtualNetworkLink': {
    arm: 'Microsoft.Network/privateDnsZones/virtualNetworkLinks',
    names: ['privateZoneName', 'virtualNetworkLinkName'],
    regional: true,
    replacedOn: ['location'],
    rules: [isGlobal, required('virtualNetwork.id', 'a link is to a network')],
  },
};
