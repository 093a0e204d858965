/** What the pattern makes, by hand from the CDK's own constructs: what `bench/synth.ts` compares it with. */
import { type App, Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as rds from 'aws-cdk-lib/aws-rds';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import * as sns from 'aws-cdk-lib/aws-sns';
import { packagedImage } from '../constructs/aws/packaged-image';

/** As many alarms as the pattern has. */
const ALARMS = 29;

export function bare(app: App): void {
  const stack = new Stack(app, 'Bare');
  const vpc = new ec2.Vpc(stack, 'Vpc', {
    maxAzs: 2,
    natGateways: 1,
    subnetConfiguration: [
      { name: 'Public', subnetType: ec2.SubnetType.PUBLIC },
      { name: 'Private', subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
      { name: 'Isolated', subnetType: ec2.SubnetType.PRIVATE_ISOLATED },
    ],
    gatewayEndpoints: {
      S3: { service: ec2.GatewayVpcEndpointAwsService.S3 },
      DynamoDb: { service: ec2.GatewayVpcEndpointAwsService.DYNAMODB },
    },
    flowLogs: { All: {} },
    restrictDefaultSecurityGroup: false,
  }) as ec2.IVpc;
  const stream = new kinesis.Stream(stack, 'Stream', { streamMode: kinesis.StreamMode.ON_DEMAND });
  const table = new dynamodb.TableV2(stack, 'Leases', {
    partitionKey: { name: 'leaseKey', type: dynamodb.AttributeType.STRING },
    globalSecondaryIndexes: [
      { indexName: 'ByOwner', partitionKey: { name: 'leaseOwner', type: dynamodb.AttributeType.STRING } },
    ],
  });
  const database = databaseIn(stack, vpc);
  const service = serviceIn(stack, vpc);
  service.connections.allowToDefaultPort(database);
  stream.grantRead(service.taskDefinition.taskRole);
  table.grantReadWriteData(service.taskDefinition.taskRole);
  stream.grant(iam.Role.fromRoleName(stack, 'Metering', 'metering'), 'kinesis:PutRecords');
  watch(stack, stream);
}

function databaseIn(stack: Stack, vpc: ec2.IVpc): rds.DatabaseInstance {
  const engine = rds.DatabaseInstanceEngine.postgres({ version: rds.PostgresEngineVersion.VER_17 });
  return new rds.DatabaseInstance(stack, 'Ledger', {
    engine,
    vpc,
    vpcSubnets: { subnetType: ec2.SubnetType.PRIVATE_ISOLATED },
    parameterGroup: new rds.ParameterGroup(stack, 'Parameters', { engine, parameters: { 'rds.force_ssl': '1' } }),
    multiAz: true,
    monitoringInterval: Duration.seconds(60),
  });
}

function serviceIn(stack: Stack, vpc: ec2.IVpc): ecs.FargateService {
  const logGroup = new logs.LogGroup(stack, 'Logs');
  const image = ecs.ContainerImage.fromAsset(packagedImage('kinesis'));
  const key = secrets.Secret.fromSecretNameV2(stack, 'StripeKey', 'billing/stripe-rk');
  const container = (task: ecs.FargateTaskDefinition, id: string) =>
    task.addContainer(id, {
      image,
      secrets: { STRIPE_API_KEY: ecs.Secret.fromSecretsManager(key) },
      logging: ecs.LogDrivers.awsLogs({ streamPrefix: id, logGroup }),
    });
  const task = new ecs.FargateTaskDefinition(stack, 'Task');
  container(task, 'Worker').addContainerDependencies({
    container: container(task, 'Migrate'),
    condition: ecs.ContainerDependencyCondition.SUCCESS,
  });
  container(new ecs.FargateTaskDefinition(stack, 'Ops'), 'Verb');
  const containerInsightsV2 = ecs.ContainerInsights.ENABLED;
  const cluster = new ecs.Cluster(stack, 'Cluster', { vpc, containerInsightsV2 }) as ecs.ICluster;
  return new ecs.FargateService(stack, 'Service', {
    cluster,
    taskDefinition: task,
    minHealthyPercent: 100,
    circuitBreaker: { rollback: true },
  });
}

function watch(stack: Stack, stream: kinesis.Stream): void {
  new sns.Topic(stack, 'Pager', { enforceSSL: true });
  const metric = stream.metricGetRecordsIteratorAgeMilliseconds();
  const alarms = Array.from(
    { length: ALARMS },
    (_, index) => new cloudwatch.Alarm(stack, `Alarm${index}`, { metric, threshold: 1, evaluationPeriods: 1 }),
  );
  new cloudwatch.CompositeAlarm(stack, 'Page', { alarmRule: cloudwatch.AlarmRule.anyOf(...alarms) });
  new cloudwatch.Dashboard(stack, 'Dashboard', {
    widgets: alarms.map((alarm) => [new cloudwatch.AlarmWidget({ alarm }) as cloudwatch.IWidget]),
  });
}
