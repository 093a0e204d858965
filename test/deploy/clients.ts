/** Clients of the services that are deployed to, on one endpoint and with one identity. */
import { ApplicationAutoScalingClient } from '@aws-sdk/client-application-auto-scaling';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EC2Client } from '@aws-sdk/client-ec2';
import { ECSClient } from '@aws-sdk/client-ecs';
import { IAMClient } from '@aws-sdk/client-iam';
import { KinesisClient } from '@aws-sdk/client-kinesis';
import { RDSClient } from '@aws-sdk/client-rds';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import { STSClient } from '@aws-sdk/client-sts';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { REGION, ROOT } from './emulator';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export type AwsClients = ReturnType<typeof awsClients>;

export function awsClients(endpoint: string, credentials: Credentials = ROOT) {
  // One refusal is an answer here, not a fault to be tried again.
  const options = { endpoint, region: REGION, credentials, maxAttempts: 1 };
  return {
    autoScaling: new ApplicationAutoScalingClient(options),
    cloudFormation: new CloudFormationClient(options),
    cloudWatch: new CloudWatchClient(options),
    dynamodb: new DynamoDBClient(options),
    ec2: new EC2Client(options),
    ecs: new ECSClient(options),
    iam: new IAMClient(options),
    // Its default speaks HTTP/2, whose connections outlive the test.
    kinesis: new KinesisClient({ ...options, requestHandler: new NodeHttpHandler() }),
    logs: new CloudWatchLogsClient(options),
    rds: new RDSClient(options),
    secrets: new SecretsManagerClient(options),
    sns: new SNSClient(options),
    sts: new STSClient(options),
  };
}
