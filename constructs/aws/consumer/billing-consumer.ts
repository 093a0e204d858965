import { Annotations, Names, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as iam from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { ENVIRONMENT } from '../../../runtime/contract';
import { FLEET_STRIPE_RPS, MAX_HEALTHY_PERCENT } from '../../shared/limits';
import type { ConsumerMetricName } from '../../shared/metric-names';
import { checkMaxShards } from '../lease-table/lease-checks';
import { warnOfUnknownRoots } from '../ledger/ledger-roots';
import { checkNeeded } from '../needed-props';
import { packagedImage } from '../packaged-image';
import { refuseSnapshot } from '../removal-check';
import { StripeMode } from '../stripe-mode';
import type { BillingConsumerProps } from './billing-consumer-props';
import { checkDesiredCount, checkElsewhere, checkEnvironment, checkRate, checkSize } from './consumer-checks';
import { migrateArguments, migrateContainer, opsContainer, type Wiring, workerContainer } from './consumer-containers';
import { chargingEnvironment, type WorkerSettings, workerEnvironment } from './consumer-environment';
import { consumerMetric } from './consumer-metrics';
import { checkPlace, egressSubnets, warnOfOtherVpc } from './consumer-network';
import { checkSecretKey, checkSecretPlace, grantImportedKey } from './consumer-secrets';
import { ManualTask, type TaskSetting, taskDefinition } from './manual-task';
import { Migrations } from './migrations';
import { OpsTask } from './ops-task';

const CPU = 256;
const MEMORY_MIB = 512;

/** The consumer runtime on Fargate: reads the stream, charges once, keeps the ledger. */
export class BillingConsumer extends Construct implements ec2.IConnectable, iam.IGrantable {
  /** Runs the workers. */
  readonly service: ecs.FargateService;
  /** Where the tasks run: the given one, or one of its own in `vpc`. */
  readonly cluster: ecs.ICluster;
  /** Of the service. */
  readonly taskDefinition: ecs.FargateTaskDefinition;
  /** What a worker may do: read the stream, keep leases, log in to the ledger. */
  readonly taskRole: iam.IRole;
  /** What ECS may do to start a task: pull the image, read the secrets, write logs. */
  readonly executionRole: iam.IRole;
  /** Of the service, the migration and the ops task. */
  readonly logGroup: logs.LogGroup;
  readonly connections: ec2.Connections;
  readonly grantPrincipal: iam.IPrincipal;
  /** Tasks of the service. */
  readonly desiredCount: number;
  /** Value of the dimension `Service` of every metric of this consumer. */
  readonly metricsService: string;
  /** Any verb of `chargeonce`, next to the ledger. */
  readonly opsTask: OpsTask;
  /** Brings the schema up to date when somebody starts it. Absent: `migrations` is AT_START. */
  readonly migrateTask?: ManualTask;

  /**
   * @throws when both or neither of `cluster` and `vpc` are given; when the subnets have no way to Stripe; when there are
   * more tasks than shards, or too many to share `stripeMaxRps`; when the table's `maxShards` cannot hold the stream's
   * shards; when Fargate has no such size; when `environment` names what the construct sets; when stream, table or a
   * secret that is known by its name is certainly elsewhere; when a secret's key would be a cycle of stacks; when a
   * snapshot is to be left behind
   */
  constructor(scope: Construct, id: string, props: BillingConsumerProps) {
    super(scope, id);
    checkNeeded(this.node.path, props, ['stream', 'leaseTable', 'ledger', 'stripeKey', 'spendCap']);
    this.desiredCount = props.desiredCount ?? 2;
    this.metricsService = Names.uniqueResourceName(this, {
      maxLength: 200,
      separator: '-',
      allowedSpecialCharacters: '-_',
    });
    const { vpc, subnets } = this.check(props);
    const settings = this.settingsOf(props);
    checkEnvironment(this, props.environment ?? {}, Object.keys(workerEnvironment(this, settings)));

    this.logGroup = new logs.LogGroup(this, 'Logs', {
      retention: props.logRetention ?? logs.RetentionDays.THREE_MONTHS,
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    });
    this.cluster = props.cluster ?? this.addCluster(vpc);
    const setting = this.taskSettingOf(props, vpc, subnets);
    const wiring = { image: props.image ?? this.packaged(setting.cpuArchitecture), logGroup: this.logGroup };
    if (props.migrations === Migrations.MANUAL) {
      const container = migrateContainer(wiring, props.ledger, props.environment);
      this.migrateTask = new ManualTask(this, 'Migrate', setting, container, migrateArguments(props.ledger));
    }
    this.taskDefinition = this.addWorker(props, settings, setting, wiring);
    this.taskRole = this.taskDefinition.taskRole;
    this.executionRole = this.taskDefinition.obtainExecutionRole();
    this.grantPrincipal = this.taskRole.grantPrincipal;
    this.opsTask = this.addOpsTask(props, settings, setting, wiring);
    this.service = this.addService(setting);
    this.connections = this.service.connections;

    props.stream.grantConsume(this);
    props.leaseTable.grantLease(this);
    props.ledger.grantConnect(this);
    props.ledger.grantConnect(this.opsTask.taskRole);
    for (const role of [this.executionRole, this.opsTask.executionRole]) grantImportedKey(role, props.stripeKey);
    grantImportedKey(this.migrateTask?.executionRole ?? this.executionRole, props.ledger.ownerSecret);

    // The consumer opens its own way: a rule of the database would refer to compute, which is a cycle of stacks.
    this.connections.allowToDefaultPort(props.ledger, 'the ledger');
    this.waitForItsWays(setting, props.ledger.connections.securityGroups);
  }

  /** One line for a shell that brings the schema up to date. Absent: `migrations` is AT_START. */
  get migrateCommand(): string | undefined {
    return this.migrateTask?.command;
  }

  /** A metric that the workers write. */
  metric(name: ConsumerMetricName, options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return consumerMetric(this.metricsService, name, options);
  }

  /** Stripe calls whose outcome is not known; each is resolved by asking Stripe again. Sum. */
  metricUnknownOutcomes(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('unknown', options);
  }

  /** Deliveries that are no event. Sum. */
  metricDeadLetters(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('deadLetters', options);
  }

  /** Deliveries with another amount or currency than the billed one: recorded, never charged. Sum. */
  metricConflicts(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('conflicts', options);
  }

  /** Leases lost to another worker or to the clock. Sum. */
  metricLeasesLost(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('leasesLost', options);
  }

  /** 1 while Stripe refuses the key. Maximum. */
  metricHalted(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('halted', options);
  }

  /** How far the slowest shard is behind, in milliseconds. Maximum. */
  metricMillisBehindLatest(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('millisBehindLatest', options);
  }

  /** What can be wrong with the props, before anything is made. */
  private check(props: BillingConsumerProps) {
    const { path } = this.node;
    const vpc = checkPlace(path, props);
    const subnets = egressSubnets(path, vpc, props.vpcSubnets);
    warnOfOtherVpc(this, vpc, props.ledger);
    warnOfUnknownRoots(this, props);
    checkDesiredCount(path, this.desiredCount, props.stream.shardCount);
    checkMaxShards(path, props.leaseTable.maxShards, props.stream.shardCount);
    checkSize(path, props.cpu ?? CPU, props.memoryLimitMiB ?? MEMORY_MIB);
    for (const [prop, secret] of [
      ['stripeKey', props.stripeKey],
      ['ledger', props.ledger.ownerSecret],
    ] as const) {
      checkSecretPlace(this, prop, secret);
      checkSecretKey(this, prop, secret);
    }
    checkRate(path, props.stripeMaxRps);
    refuseSnapshot(path, props.removalPolicy);
    checkElsewhere(this, props);
    return { vpc, subnets };
  }

  private settingsOf(props: BillingConsumerProps): WorkerSettings {
    return {
      stream: props.stream,
      leaseTable: props.leaseTable,
      ledger: props.ledger,
      spendCap: props.spendCap,
      stripeMode: props.stripeMode ?? StripeMode.TEST,
      fleetRps: props.stripeMaxRps ?? FLEET_STRIPE_RPS,
      desiredCount: this.desiredCount,
      metricsService: this.metricsService,
    };
  }

  private taskSettingOf(props: BillingConsumerProps, vpc: ec2.IVpc, subnets: ec2.SelectedSubnets): TaskSetting {
    return {
      cpu: props.cpu ?? CPU,
      memoryLimitMiB: props.memoryLimitMiB ?? MEMORY_MIB,
      cpuArchitecture: props.cpuArchitecture ?? ecs.CpuArchitecture.ARM64,
      cluster: this.cluster,
      subnets,
      securityGroup: this.addSecurityGroup(vpc),
      logGroup: this.logGroup,
    };
  }

  /** Open to the outside: Stripe, AWS, and whatever resolver the network has. Nothing comes in. */
  private addSecurityGroup(vpc: ec2.IVpc): ec2.ISecurityGroup {
    const securityGroup = new ec2.SecurityGroup(this, 'SecurityGroup', {
      vpc,
      description: 'chargeonce: tasks that charge',
      allowAllOutbound: true,
    });
    const why = 'The way to the ledger needs a rule of the ledger only.';
    Annotations.of(this).acknowledgeWarning('@aws-cdk/aws-ec2:ipv4IgnoreEgressRule', why);
    return securityGroup as ec2.ISecurityGroup;
  }

  private addCluster(vpc: ec2.IVpc): ecs.ICluster {
    const containerInsightsV2 = ecs.ContainerInsights.ENABLED;
    return new ecs.Cluster(this, 'Cluster', { vpc, containerInsightsV2 }) as ecs.ICluster;
  }

  private packaged(cpuArchitecture: ecs.CpuArchitecture): ecs.ContainerImage {
    const platform = cpuArchitecture === ecs.CpuArchitecture.ARM64 ? Platform.LINUX_ARM64 : Platform.LINUX_AMD64;
    const asset = new DockerImageAsset(this, 'Image', { directory: packagedImage('kinesis'), platform });
    return ecs.ContainerImage.fromDockerImageAsset(asset);
  }

  private addWorker(props: BillingConsumerProps, settings: WorkerSettings, setting: TaskSetting, wiring: Wiring) {
    const task = taskDefinition(this, 'Task', setting);
    const worker = task.addContainer(
      'Worker',
      workerContainer(wiring, {
        environment: { ...props.environment, ...workerEnvironment(this, settings), ...this.migrateSetting() },
        secrets: stripeSecret(props),
      }),
    );
    if (this.migrateTask === undefined) {
      worker.addContainerDependencies({
        container: task.addContainer('Migrate', {
          ...migrateContainer(wiring, props.ledger, props.environment),
          essential: false,
        }),
        condition: ecs.ContainerDependencyCondition.SUCCESS,
      });
    }
    return task;
  }

  private addOpsTask(props: BillingConsumerProps, settings: WorkerSettings, setting: TaskSetting, wiring: Wiring) {
    const container = opsContainer(wiring, {
      environment: { ...props.environment, ...chargingEnvironment(this, settings), ...this.migrateSetting() },
      secrets: stripeSecret(props),
    });
    return new OpsTask(this, 'Ops', setting, container, ['--help']);
  }

  /** What to run when the schema is too old, as the log shall say it. */
  private migrateSetting(): Record<string, string> {
    return this.migrateTask === undefined ? {} : { [ENVIRONMENT.MIGRATE_COMMAND]: this.migrateTask.command };
  }

  private addService({ securityGroup, subnets }: TaskSetting): ecs.FargateService {
    return new ecs.FargateService(this, 'Service', {
      cluster: this.cluster,
      taskDefinition: this.taskDefinition,
      desiredCount: this.desiredCount,
      vpcSubnets: { subnets: subnets.subnets },
      securityGroups: [securityGroup],
      assignPublicIp: false,
      enableExecuteCommand: false,
      minHealthyPercent: 100,
      maxHealthyPercent: MAX_HEALTHY_PERCENT,
      circuitBreaker: { rollback: true },
      propagateTags: ecs.PropagatedTagSource.SERVICE,
      enableECSManagedTags: true,
    });
  }

  /**
   * A task that starts before its permissions, its route or its way to the ledger exist fails, and three failures end a
   * deploy; one that stops after they are gone cannot give its leases back. The rule that lets it in belongs to the
   * ledger's group when that is of this stack, to the tasks' group otherwise.
   */
  private waitForItsWays(setting: TaskSetting, ledger: readonly ec2.ISecurityGroup[]): void {
    this.service.node.addDependency(
      this.executionRole,
      setting.subnets.internetConnectivityEstablished,
      setting.securityGroup,
      ...ledger.filter((group) => Stack.of(group) === Stack.of(this)),
      // The line that a worker logs must work at once.
      ...(this.migrateTask ? [this.migrateTask] : []),
    );
  }
}

function stripeSecret({ stripeKey, stripeKeyField }: BillingConsumerProps): Record<string, ecs.Secret> {
  return { [ENVIRONMENT.STRIPE_API_KEY]: ecs.Secret.fromSecretsManager(stripeKey, stripeKeyField) };
}
