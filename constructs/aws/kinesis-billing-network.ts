import type { RemovalPolicy } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

export interface OwnNetwork {
  readonly vpc: ec2.IVpc;
  /** Addresses that requests to Stripe come from. */
  readonly egressIps: readonly string[];
}

/**
 * A network for billing alone: two zones; one NAT gateway, since billing may wait for a zone and a second gateway costs
 * as much as the tasks; gateway endpoints, which cost nothing; flow logs for as long as the other logs.
 */
export function addOwnNetwork(scope: Construct, removalPolicy: RemovalPolicy): OwnNetwork {
  const address = new ec2.CfnEIP(scope, 'EgressIp');
  const vpc = new ec2.Vpc(scope, 'Vpc', {
    maxAzs: 2,
    natGateways: 1,
    natGatewayProvider: ec2.NatProvider.gateway({ eipAllocationIds: [address.attrAllocationId] }),
    // Nothing is ever put into it, and emptying it would take a function that changes this account's network.
    restrictDefaultSecurityGroup: false,
    subnetConfiguration: [
      { name: 'Public', subnetType: ec2.SubnetType.PUBLIC, cidrMask: 24 },
      { name: 'Private', subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 24 },
      { name: 'Isolated', subnetType: ec2.SubnetType.PRIVATE_ISOLATED, cidrMask: 24 },
    ],
    gatewayEndpoints: {
      S3: { service: ec2.GatewayVpcEndpointAwsService.S3 },
      DynamoDb: { service: ec2.GatewayVpcEndpointAwsService.DYNAMODB },
    },
  });
  const logGroup = new logs.LogGroup(scope, 'FlowLogs', { retention: logs.RetentionDays.THREE_MONTHS, removalPolicy });
  vpc.addFlowLog('FlowLog', { destination: ec2.FlowLogDestination.toCloudWatchLogs(logGroup) });
  return { vpc: vpc as ec2.IVpc, egressIps: [address.attrPublicIp] };
}
