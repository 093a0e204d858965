import { Duration, RemovalPolicy, Token } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as iam from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import type * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { ENVIRONMENT } from '../../runtime/contract';
import { wrongProp } from '../shared/check';
import { FLEET_STRIPE_RPS, MAX_HEALTHY_PERCENT, STOP_TIMEOUT_SECONDS } from '../shared/limits';
import type { IBillingStream } from './billing-stream';
import { checkOwnNames, HEALTH_PORT, ledgerEnvironment, workerEnvironment } from './consumer-environment';
import type { ILeaseTable } from './lease-table';
import type { ILedgerDatabase } from './ledger-database';
import { packagedImage } from './packaged-image';
import type { SpendCap } from './spend-cap';
import { StripeMode } from './stripe-mode';

/** The user `node` of the official image. */
const USER = '1000:1000';

export interface BillingConsumerProps {
  readonly stream: IBillingStream;
  readonly leaseTable: ILeaseTable;
  readonly ledger: ILedgerDatabase;
  /** A restricted key (`rk_…`). Read by ECS when a task starts; never part of the template. */
  readonly stripeKey: secrets.ISecret;
  /**
   * The field of `stripeKey` that holds the key.
   * @default - the whole secret is the key
   */
  readonly stripeKeyField?: string;
  readonly spendCap: SpendCap;
  /**
   * Which half of the Stripe account the key belongs to; another key is refused at start.
   * @default StripeMode.TEST
   */
  readonly stripeMode?: StripeMode;
  /**
   * Requests a second that the whole fleet may send to one Stripe endpoint; each task gets its share.
   * @default 20
   */
  readonly stripeMaxRps?: number;
  /**
   * Where the tasks run. Exactly one of `cluster` and `vpc` is given.
   * @default - a cluster of its own in `vpc`
   */
  readonly cluster?: ecs.ICluster;
  /**
   * The network of a cluster of its own. Exactly one of `cluster` and `vpc` is given.
   * @default - the cluster's
   */
  readonly vpc?: ec2.IVpc;
  /**
   * Subnets of the tasks; they need a way to Stripe.
   * @default - private subnets with egress
   */
  readonly vpcSubnets?: ec2.SubnetSelection;
  /**
   * Tasks, no more than the stream has shards.
   * @default 2
   */
  readonly desiredCount?: number;
  /**
   * CPU units of a task.
   * @default 256
   */
  readonly cpu?: number;
  /**
   * Memory of a task.
   * @default 512
   */
  readonly memoryLimitMiB?: number;
  /**
   * Processor of the tasks.
   * @default ecs.CpuArchitecture.ARM64
   */
  readonly cpuArchitecture?: ecs.CpuArchitecture;
  /**
   * The runtime's image.
   * @default - built at deploy from the folder that ships with this package
   */
  readonly image?: ecs.ContainerImage;
  /**
   * More settings of the runtime (its README lists them). Names that this construct sets are refused.
   * @default - the runtime's own defaults
   */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * How long logs are kept.
   * @default logs.RetentionDays.THREE_MONTHS
   */
  readonly logRetention?: logs.RetentionDays;
  /**
   * What becomes of the logs when the stack goes.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
}

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
    const environment = this.environmentOf(props, desiredCount);
    this.checkNetwork(props);
    this.checkDesiredCount(desiredCount, props.stream.shardCount);
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
      logging: ecs.LogDrivers.awsLogs({ streamPrefix: 'worker', logGroup: this.logGroup }),
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
      logging: ecs.LogDrivers.awsLogs({ streamPrefix: 'migrate', logGroup: this.logGroup }),
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

  private checkNetwork(props: BillingConsumerProps): void {
    const path = this.node.path;
    if ((props.cluster === undefined) === (props.vpc === undefined)) {
      throw wrongProp({
        path,
        prop: 'cluster, vpc',
        received: props.cluster ? 'both given' : 'neither given',
        allowed: 'exactly one of the two',
        wayOut: 'Give the cluster to run in, or the vpc in which a cluster shall be made.',
      });
    }
    if (props.vpcSubnets?.subnetType === ec2.SubnetType.PRIVATE_ISOLATED) {
      throw wrongProp({
        path,
        prop: 'vpcSubnets',
        received: 'PRIVATE_ISOLATED',
        allowed: 'subnets with egress',
        wayOut: 'Isolated subnets have no way to Stripe. Leave it out for PRIVATE_WITH_EGRESS.',
      });
    }
  }

  private checkDesiredCount(desiredCount: number, shardCount: number | undefined): void {
    const prop = 'desiredCount';
    const path = this.node.path;
    if (Token.isUnresolved(desiredCount)) {
      const wayOut = 'Each task’s share of Stripe’s rate is worked out from it.';
      throw wrongProp({ path, prop, received: 'a token', allowed: 'a number known at synth', wayOut });
    }
    if (!Number.isInteger(desiredCount) || desiredCount < 0) {
      const wayOut = 'Leave it out for 2.';
      throw wrongProp({ path, prop, received: String(desiredCount), allowed: 'a whole number from 0', wayOut });
    }
    if (shardCount !== undefined && desiredCount > shardCount) {
      const wayOut = 'A shard is read by one task at a time; the others would idle. Add shards or run fewer tasks.';
      throw wrongProp({
        path,
        prop,
        received: String(desiredCount),
        allowed: `at most ${shardCount}, the shards`,
        wayOut,
      });
    }
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

/** The image has no shell and no curl; Node is there. */
function probe(url: string): string {
  return `fetch('${url}').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))`;
}
