import { Duration, RemovalPolicy, Size } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as iam from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { ENVIRONMENT } from '../../runtime/contract';
import { FLEET_STRIPE_RPS, MAX_HEALTHY_PERCENT, STOP_TIMEOUT_SECONDS } from '../shared/limits';
import type { BillingConsumerProps } from './billing-consumer-props';
import { checkDesiredCount, checkNetwork, checkOwnNames } from './consumer-checks';
import { HEALTH_PORT, ledgerEnvironment, workerEnvironment } from './consumer-environment';
import type { ILedgerDatabase } from './ledger-login';
import { packagedImage } from './packaged-image';
import { StripeMode } from './stripe-mode';

/** The user `node` of the official image. */
const USER = '1000:1000';

/** The consumer runtime on Fargate: reads the stream, charges once, keeps the ledger. */
export class BillingConsumer extends Construct implements ec2.IConnectable, iam.IGrantable {
  readonly service: ecs.FargateService;
  readonly taskDefinition: ecs.FargateTaskDefinition;
  readonly taskRole: iam.IRole;
  readonly executionRole: iam.IRole;
  readonly logGroup: logs.LogGroup;
  readonly connections: ec2.Connections;
  readonly grantPrincipal: iam.IPrincipal;

  constructor(scope: Construct, id: string, props: BillingConsumerProps) {
    super(scope, id);
    const desiredCount = props.desiredCount ?? 2;
    checkNetwork(this.node.path, props);
    checkDesiredCount(this.node.path, desiredCount, props.stream.shardCount);
    const environment = this.environmentOf(props, desiredCount);
    checkOwnNames(this.node.path, props.environment ?? {}, Object.keys(environment));

    this.logGroup = new logs.LogGroup(this, 'Logs', {
      retention: props.logRetention ?? logs.RetentionDays.THREE_MONTHS,
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    });
    const cpuArchitecture = props.cpuArchitecture ?? ecs.CpuArchitecture.ARM64;
    this.taskDefinition = new ecs.FargateTaskDefinition(this, 'Task', {
      cpu: props.cpu ?? 256,
      memoryLimitMiB: props.memoryLimitMiB ?? 512,
      runtimePlatform: { cpuArchitecture, operatingSystemFamily: ecs.OperatingSystemFamily.LINUX },
    });
    const image = props.image ?? packagedContainerImage(cpuArchitecture);
    const worker = this.addWorker(props, image, { ...props.environment, ...environment });
    worker.addContainerDependencies({
      container: this.addMigration(props.ledger, image),
      condition: ecs.ContainerDependencyCondition.SUCCESS,
    });
    this.service = this.addService(props, desiredCount);
    this.taskRole = this.taskDefinition.taskRole;
    this.executionRole = this.taskDefinition.obtainExecutionRole();
    this.grantPrincipal = this.taskRole.grantPrincipal;
    this.connections = this.service.connections;

    props.stream.grantConsume(this);
    props.leaseTable.grantLease(this);

    // The consumer opens its own way: a rule of the database would refer to compute, which is a cycle of stacks.
    this.connections.allowToDefaultPort(props.ledger, 'the ledger');
  }

  private addWorker(props: BillingConsumerProps, image: ecs.ContainerImage, environment: Record<string, string>) {
    return this.taskDefinition.addContainer('Worker', {
      containerName: 'worker',
      image,
      command: ['consume'],
      environment,
      secrets: {
        ...ledgerSecrets(props.ledger),
        [ENVIRONMENT.STRIPE_API_KEY]: ecs.Secret.fromSecretsManager(props.stripeKey, props.stripeKeyField),
      },
      user: USER,
      readonlyRootFilesystem: true,
      stopTimeout: Duration.seconds(STOP_TIMEOUT_SECONDS),
      healthCheck: {
        // Unhealthy until first ready, so that a bad deploy rolls back; then alive, whatever its neighbours do.
        command: ['CMD', 'node', '-e', probe(`http://127.0.0.1:${HEALTH_PORT}/healthz`)],
        interval: Duration.seconds(30),
        timeout: Duration.seconds(10),
        retries: 3,
        startPeriod: Duration.seconds(120),
      },
      logging: this.logTo('worker'),
    });
  }

  /** Brings the schema up to date at every task start: a no-op when it is current, under a lock otherwise. */
  private addMigration(ledger: ILedgerDatabase, image: ecs.ContainerImage) {
    return this.taskDefinition.addContainer('Migrate', {
      containerName: 'migrate',
      image,
      command: ['migrate', '--apply'],
      essential: false,
      environment: ledgerEnvironment(ledger),
      secrets: ledgerSecrets(ledger),
      user: USER,
      readonlyRootFilesystem: true,
      logging: this.logTo('migrate'),
    });
  }

  /** Never blocking: an outage of CloudWatch would stall the worker until it loses its leases. */
  private logTo(streamPrefix: string): ecs.LogDriver {
    return ecs.LogDrivers.awsLogs({
      streamPrefix,
      logGroup: this.logGroup,
      mode: ecs.AwsLogDriverMode.NON_BLOCKING,
      maxBufferSize: Size.mebibytes(16),
    });
  }

  private addService(props: BillingConsumerProps, desiredCount: number): ecs.FargateService {
    return new ecs.FargateService(this, 'Service', {
      cluster: props.cluster ?? this.addCluster(props.vpc!),
      taskDefinition: this.taskDefinition,
      desiredCount,
      vpcSubnets: props.vpcSubnets ?? { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS },
      assignPublicIp: false,
      minHealthyPercent: 100,
      maxHealthyPercent: MAX_HEALTHY_PERCENT,
      circuitBreaker: { rollback: true },
      propagateTags: ecs.PropagatedTagSource.SERVICE,
      enableECSManagedTags: true,
    });
  }

  private addCluster(vpc: ec2.IVpc): ecs.ICluster {
    const containerInsightsV2 = ecs.ContainerInsights.ENABLED;
    return new ecs.Cluster(this, 'Cluster', { vpc, containerInsightsV2 }) as ecs.ICluster;
  }

  private environmentOf(props: BillingConsumerProps, desiredCount: number): Record<string, string> {
    return workerEnvironment(this, {
      stream: props.stream,
      leaseTable: props.leaseTable,
      ledger: props.ledger,
      spendCap: props.spendCap,
      stripeMode: props.stripeMode ?? StripeMode.TEST,
      fleetRps: props.stripeMaxRps ?? FLEET_STRIPE_RPS,
      desiredCount,
    });
  }
}

function ledgerSecrets(ledger: ILedgerDatabase): Record<string, ecs.Secret> {
  return {
    [ENVIRONMENT.PGUSER]: ecs.Secret.fromSecretsManager(ledger.ownerSecret, 'username'),
    [ENVIRONMENT.PGPASSWORD]: ecs.Secret.fromSecretsManager(ledger.ownerSecret, 'password'),
  };
}

function packagedContainerImage(cpuArchitecture: ecs.CpuArchitecture): ecs.ContainerImage {
  const platform = cpuArchitecture === ecs.CpuArchitecture.ARM64 ? Platform.LINUX_ARM64 : Platform.LINUX_AMD64;
  return ecs.ContainerImage.fromAsset(packagedImage('kinesis'), { platform });
}

/** The image has no curl; Node is there. */
function probe(url: string): string {
  return `fetch('${url}').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))`;
}
