/** Reads back the network: VPC, subnets, routes, gateways, endpoints, flow logs. */
import * as ec2 from '@aws-sdk/client-ec2';
import type { AwsClients } from '../clients';
import { only, type Reader, tags } from './reading';

const vpc: Reader = {
  async read({ ec2: client }, { physicalId: VpcId }) {
    const { Vpcs } = await client.send(new ec2.DescribeVpcsCommand({ VpcIds: [VpcId] }));
    const found = only(Vpcs, VpcId);
    const attribute = (Attribute: ec2.VpcAttributeName) =>
      client.send(new ec2.DescribeVpcAttributeCommand({ VpcId, Attribute }));
    return {
      properties: {
        CidrBlock: found.CidrBlock,
        EnableDnsHostnames: (await attribute('enableDnsHostnames')).EnableDnsHostnames?.Value,
        EnableDnsSupport: (await attribute('enableDnsSupport')).EnableDnsSupport?.Value,
        InstanceTenancy: found.InstanceTenancy,
        Tags: tags(found.Tags),
      },
      attributes: { CidrBlock: found.CidrBlock, VpcId: found.VpcId },
    };
  },
};

const subnet: Reader = {
  async read({ ec2: client }, { physicalId }) {
    const { Subnets } = await client.send(new ec2.DescribeSubnetsCommand({ SubnetIds: [physicalId] }));
    const found = only(Subnets, physicalId);
    const { AvailabilityZone, CidrBlock, MapPublicIpOnLaunch, VpcId } = found;
    return { properties: { AvailabilityZone, CidrBlock, MapPublicIpOnLaunch, VpcId, Tags: tags(found.Tags) } };
  },
};

async function routeTableOf({ ec2: client }: AwsClients, id: string): Promise<ec2.RouteTable> {
  const { RouteTables } = await client.send(new ec2.DescribeRouteTablesCommand({ RouteTableIds: [id] }));
  return only(RouteTables, id);
}

const routeTable: Reader = {
  async read(aws, { physicalId }) {
    const found = await routeTableOf(aws, physicalId);
    return { properties: { VpcId: found.VpcId, Tags: tags(found.Tags) } };
  },
};

const association: Reader = {
  async read({ ec2: client }, { physicalId }) {
    const { RouteTables = [] } = await client.send(new ec2.DescribeRouteTablesCommand({}));
    const all = RouteTables.flatMap((table) => table.Associations ?? []);
    const found = only(
      all.filter((each) => each.RouteTableAssociationId === physicalId),
      physicalId,
    );
    return { properties: { RouteTableId: found.RouteTableId, SubnetId: found.SubnetId } };
  },
};

const route: Reader = {
  async read(aws, { properties }) {
    const table = await routeTableOf(aws, String(properties.RouteTableId));
    const to = String(properties.DestinationCidrBlock);
    const found = only(
      table.Routes?.filter((each) => each.DestinationCidrBlock === to),
      to,
    );
    const { DestinationCidrBlock, GatewayId, NatGatewayId } = found;
    return { properties: { RouteTableId: table.RouteTableId, DestinationCidrBlock, GatewayId, NatGatewayId } };
  },
};

const address: Reader = {
  async read({ ec2: client }, { physicalId }) {
    const { Addresses } = await client.send(new ec2.DescribeAddressesCommand({}));
    const found = only(
      Addresses?.filter((each) => each.PublicIp === physicalId),
      physicalId,
    );
    return {
      properties: { Domain: found.Domain, Tags: tags(found.Tags) },
      attributes: { AllocationId: found.AllocationId, PublicIp: found.PublicIp },
    };
  },
};

const natGateway: Reader = {
  async read({ ec2: client }, { physicalId }) {
    const { NatGateways } = await client.send(new ec2.DescribeNatGatewaysCommand({ NatGatewayIds: [physicalId] }));
    const found = only(NatGateways, physicalId);
    const { AllocationId } = only(found.NatGatewayAddresses, `addresses of ${physicalId}`);
    return { properties: { SubnetId: found.SubnetId, AllocationId, Tags: tags(found.Tags) } };
  },
};

async function internetGatewayOf({ ec2: client }: AwsClients, id: string): Promise<ec2.InternetGateway> {
  const command = new ec2.DescribeInternetGatewaysCommand({ InternetGatewayIds: [id] });
  return only((await client.send(command)).InternetGateways, id);
}

const internetGateway: Reader = {
  read: async (aws, { physicalId }) => ({
    properties: { Tags: tags((await internetGatewayOf(aws, physicalId)).Tags) },
  }),
};

const gatewayAttachment: Reader = {
  async read(aws, { properties }) {
    const found = await internetGatewayOf(aws, String(properties.InternetGatewayId));
    const { VpcId } = only(found.Attachments, `attachments of ${found.InternetGatewayId}`);
    return { properties: { InternetGatewayId: found.InternetGatewayId, VpcId } };
  },
};

const endpoint: Reader = {
  async read({ ec2: client }, { physicalId }) {
    const { VpcEndpoints } = await client.send(new ec2.DescribeVpcEndpointsCommand({ VpcEndpointIds: [physicalId] }));
    const { ServiceName, VpcEndpointType, VpcId, RouteTableIds, Tags } = only(VpcEndpoints, physicalId);
    return { properties: { ServiceName, VpcEndpointType, VpcId, RouteTableIds, Tags: tags(Tags) } };
  },
};

const flowLog: Reader = {
  async read({ ec2: client }, { physicalId }) {
    const { FlowLogs } = await client.send(new ec2.DescribeFlowLogsCommand({ FlowLogIds: [physicalId] }));
    const found = only(FlowLogs, physicalId);
    return {
      properties: {
        ResourceId: found.ResourceId,
        // The call does not say it; the id does.
        ResourceType: found.ResourceId?.startsWith('vpc-') ? 'VPC' : 'unknown',
        TrafficType: found.TrafficType,
        LogDestinationType: found.LogDestinationType,
        LogGroupName: found.LogGroupName,
        DeliverLogsPermissionArn: found.DeliverLogsPermissionArn,
        MaxAggregationInterval: found.MaxAggregationInterval,
        Tags: tags(found.Tags),
      },
    };
  },
};

export const NETWORK_READERS: Readonly<Record<string, Reader>> = {
  'AWS::EC2::VPC': vpc,
  'AWS::EC2::Subnet': subnet,
  'AWS::EC2::RouteTable': routeTable,
  'AWS::EC2::SubnetRouteTableAssociation': association,
  'AWS::EC2::Route': route,
  'AWS::EC2::EIP': address,
  'AWS::EC2::NatGateway': natGateway,
  'AWS::EC2::InternetGateway': internetGateway,
  'AWS::EC2::VPCGatewayAttachment': gatewayAttachment,
  'AWS::EC2::VPCEndpoint': endpoint,
  'AWS::EC2::FlowLog': flowLog,
};
