import { type CfnResource, RemovalPolicy } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

export interface OwnNetwork {
  readonly vpc: ec2.IVpc;
  /** Addresses that requests to Stripe come from. */
  readonly egressIps: readonly string[];
}

export interface OwnNetworkOptions {
  /** Of the flow logs. */
  readonly removalPolicy: RemovalPolicy;
  /** Whether a database that outlives the stack is put into the isolated subnets. */
  readonly keptDatabase: boolean;
}

/**
 * A network for billing alone: two zones; one NAT gateway, since billing may wait for a zone and a second gateway costs
 * as much as the tasks; gateway endpoints, which cost nothing; flow logs for as long as the other logs.
 */
export function addOwnNetwork(scope: Construct, { removalPolicy, keptDatabase }: OwnNetworkOptions): OwnNetwork {
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
  if (keptDatabase) keepUnderDatabase(vpc);
  return { vpc: vpc as ec2.IVpc, egressIps: [address.attrPublicIp] };
}

/** AWS refuses to delete subnets that a database is in, and their VPC, and then the whole `cdk destroy` fails. */
function keepUnderDatabase(vpc: ec2.Vpc): void {
  for (const part of [vpc, ...vpc.isolatedSubnets]) {
    (part.node.defaultChild as CfnResource).applyRemovalPolicy(RemovalPolicy.RETAIN);
  }
}
