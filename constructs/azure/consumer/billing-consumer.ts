import * as app from '@pulumi/azure-native/app';
import * as managedidentity from '@pulumi/azure-native/managedidentity';
import type * as inputs from '@pulumi/azure-native/types/input';
import * as pulumi from '@pulumi/pulumi';
import { meantSetting } from '../../../runtime/contract/misspelt';
import { FLEET_STRIPE_RPS, STOP_TIMEOUT_SECONDS } from '../../shared/limits';
import { stripeShare } from '../../shared/stripe-rate';
import { memoryOf } from './app-size';
import type { BillingConsumerArgs, LogTable } from './billing-consumer-args';
import {
  grantPull,
  grantWorker,
  type Registry,
  registryCredentials,
  registryOf,
  stripeKeySecret,
} from './consumer-access';
import { CPU, checkConsumer, REPLICAS } from './consumer-checks';
import { migrateContainer, opsContainer, type Size, workerContainer } from './consumer-containers';
import { type ChargingSettings, migrateSettings, opsSettings, workerSettings } from './consumer-environment';
import { logsCommand, startCommand, startWithCommand } from './job-command';
import { type Place, placeOf } from './managed-environment';
import { addManualJob } from './manual-job';
import { remember } from './one-consumer-group';
import { ownSettings } from './own-settings';
import { physicalName } from './physical-name';
import { lagRule } from './scale-rule';
import { type StripeKeySource, stripeKeySource } from './stripe-key';

const COMPONENT = 'BillingConsumer';

/** What app and jobs have in common. */
interface Wiring {
  readonly name: string;
  readonly args: BillingConsumerArgs;
  readonly place: Place;
  readonly key: StripeKeySource;
  readonly registry: Registry | undefined;
  readonly size: Size;
  /** What has to exist before anything runs. */
  readonly ready: pulumi.Input<pulumi.Resource>[];
}

/** The consumer runtime on Container Apps: reads the hub, charges once, keeps the ledger. */
export class BillingConsumer extends pulumi.ComponentResource {
  /** Runs the workers. */
  readonly app: app.ContainerApp;
  /** As what the workers and the ops job run. */
  readonly identity: managedidentity.UserAssignedIdentity;
  /** As what the schema is brought up to date; the only one with the owner's rights in the ledger. */
  readonly migratorIdentity: managedidentity.UserAssignedIdentity;
  /** Where the workers run. Absent: it was given. */
  readonly environment: app.ManagedEnvironment | undefined;
  /** Any verb of `chargeonce`, next to the ledger: it reaches the ledger and Stripe, and neither hub nor checkpoints. */
  readonly job: app.Job;
  /**
   * One line for a shell with the Azure CLI: starts `job` and prints the name of the execution. It asks for `--help`: put
   * your verb in place of it, each word in quotes, with commas.
   */
  readonly opsCommand: pulumi.Output<string>;
  /**
   * One line that shows what the newest execution of `job` says, some seconds after it was started; later, the logs have
   * it.
   */
  readonly opsLogsCommand: pulumi.Output<string>;
  /** Brings the schema up to date when somebody starts it. Absent: `migrations` is at-start. */
  readonly migrateJob: app.Job | undefined;
  /** One line for a shell with the Azure CLI that starts `migrateJob`. Absent: `migrations` is at-start. */
  readonly migrateCommand: pulumi.Output<string> | undefined;
  /** Name of `app`, and service of every metric line of this consumer. */
  readonly metricsService: string;
  /** Replicas that always run. */
  readonly minReplicas: number;
  /** The most replicas. */
  readonly maxReplicas: number;
  /** Log Analytics workspace of the logs. Absent: the environment was given, and its workspace was not. */
  readonly workspaceId: pulumi.Output<string> | undefined;
  /** Table of that workspace that has the workers' lines. */
  readonly logTable: LogTable;

  /** @throws all that is wrong with the arguments, in one error */
  constructor(name: string, given: BillingConsumerArgs, opts?: pulumi.ComponentResourceOptions) {
    checkConsumer(COMPONENT, name, given);
    const { environment: own } = given;
    const args = own === undefined ? given : { ...given, environment: ownSettings(COMPONENT, name, own) };
    const minReplicas = args.minReplicas ?? REPLICAS;
    const maxReplicas = args.maxReplicas ?? minReplicas;
    const share = stripeShare(COMPONENT, args.stripeMaxRps ?? FLEET_STRIPE_RPS, maxReplicas);
    super(`chargeonce:azure:${COMPONENT}`, name, {}, opts);
    remember(args);
    this.minReplicas = minReplicas;
    this.maxReplicas = maxReplicas;
    this.metricsService = physicalName(name, 'app');
    this.warn(args);
    const key = stripeKeySource(COMPONENT, name, args);
    const cpu = args.cpu ?? CPU;

    const place = placeOf(this, name, args);
    this.environment = place.environment;
    this.workspaceId = place.workspaceId;
    this.logTable = place.logTable;
    this.identity = this.addIdentity(`${name}-worker`, args);
    this.migratorIdentity = this.addIdentity(`${name}-migrator`, args);

    const registry = registryOf(args, this.identity.id);
    const wiring = {
      ...{ name, args, place, key, registry, size: { cpu, memory: args.memory ?? memoryOf(cpu) } },
      ready: [...place.ready, ...this.grant(name, args, key, registry), ...parts(args)],
    };
    this.migrateJob = args.migrations === 'manual' ? this.addMigrateJob(wiring) : undefined;
    this.migrateCommand =
      this.migrateJob && startCommand({ ...args, id: this.migrateJob.id, name: physicalName(name, 'migrate') });
    const { identity, migrateCommand } = this;
    const settings = { args, identity, keyVersion: key.version, stripeShare: share, migrateCommand };
    this.job = this.addOpsJob(wiring, settings);
    const ops = { ...args, id: this.job.id, name: physicalName(name, 'ops') };
    this.opsCommand = startWithCommand(ops, ['--help']);
    this.opsLogsCommand = logsCommand(ops, 'ops');
    this.app = this.addApp(wiring, settings);
    this.registerOutputs({
      app: this.app,
      identity: this.identity,
      migratorIdentity: this.migratorIdentity,
      environment: this.environment,
      job: this.job,
      opsCommand: this.opsCommand,
      opsLogsCommand: this.opsLogsCommand,
      migrateJob: this.migrateJob,
      migrateCommand: this.migrateCommand,
      metricsService: this.metricsService,
      minReplicas: this.minReplicas,
      maxReplicas: this.maxReplicas,
      workspaceId: this.workspaceId,
      logTable: this.logTable,
    });
  }

  private addIdentity(childName: string, { resourceGroupName, tags }: BillingConsumerArgs) {
    return new managedidentity.UserAssignedIdentity(
      childName,
      { resourceGroupName, ...(tags === undefined ? {} : { tags }) },
      { parent: this },
    );
  }

  private grant(name: string, args: BillingConsumerArgs, key: StripeKeySource, registry: Registry | undefined) {
    return [
      ...grantWorker(this, name, this.identity, { args, key, registry }),
      args.ledger.grantMigrate(`${name}-ledger-owner`, {
        principalId: this.migratorIdentity.principalId,
        principalName: this.migratorIdentity.name,
      }),
    ];
  }

  /** Of what may be meant, and more often is not. */
  private warn({ environment, managedEnvironmentId, environmentSubnetId, ledger }: BillingConsumerArgs): void {
    for (const setting of Object.keys(environment ?? {})) {
      const meant = meantSetting(setting);
      if (meant === undefined) continue;
      void pulumi.log.warn(`environment has ${setting}, which nothing reads. Did you mean ${meant}?`, this);
    }
    if ((managedEnvironmentId ?? environmentSubnetId ?? ledger.environmentSubnetId) !== undefined) return;
    const wayOut = 'Give environmentSubnetId or managedEnvironmentId if the ledger is private.';
    void pulumi.log.warn(`The workers will be in no network of yours, and reach a public ledger only. ${wayOut}`, this);
  }

  private migrateContainer({ args }: Wiring) {
    return migrateContainer(args.image, migrateSettings(args, this.migratorIdentity), this.identity);
  }

  private addMigrateJob(wiring: Wiring): app.Job {
    const { name, args, place, registry, ready } = wiring;
    const identity = this.migratorIdentity;
    const pull = grantPull(this, `${name}-migrator-pull`, registry, identity);
    return addManualJob(
      this,
      `${name}-migrate`,
      {
        ...{ ...args, place, identity, jobName: physicalName(name, 'migrate'), secrets: [] },
        container: this.migrateContainer(wiring),
        registries: registryCredentials(registry, identity),
      },
      [...ready, ...pull],
    );
  }

  private addOpsJob({ name, args, place, key, registry, size, ready }: Wiring, settings: ChargingSettings): app.Job {
    const { identity } = this;
    return addManualJob(
      this,
      `${name}-ops`,
      {
        ...{ ...args, place, identity, jobName: physicalName(name, 'ops') },
        container: opsContainer(args.image, size, { ...args.environment, ...opsSettings(settings) }),
        secrets: [stripeKeySecret(key, identity)],
        registries: registryCredentials(registry, identity),
      },
      ready,
    );
  }

  private addApp(wiring: Wiring, settings: ChargingSettings): app.ContainerApp {
    const { name, args, place, size, ready } = wiring;
    const { resourceGroupName, tags } = args;
    const atStart = this.migrateJob === undefined;
    const environment = { ...args.environment, ...workerSettings(settings, this.metricsService) };
    return new app.ContainerApp(
      `${name}-app`,
      {
        resourceGroupName,
        containerAppName: this.metricsService,
        environmentId: place.environmentId,
        ...(place.workloadProfileName === undefined ? {} : { workloadProfileName: place.workloadProfileName }),
        identity: {
          type: app.ManagedServiceIdentityType.UserAssigned,
          userAssignedIdentities: [this.identity.id, ...(atStart ? [this.migratorIdentity.id] : [])],
        },
        configuration: this.configuration(wiring, atStart),
        template: {
          ...(atStart ? { initContainers: [this.migrateContainer(wiring)] } : {}),
          containers: [workerContainer(args.image, size, environment)],
          scale: this.scale(args),
          terminationGracePeriodSeconds: STOP_TIMEOUT_SECONDS,
        },
        ...(tags === undefined ? {} : { tags }),
      },
      { parent: this, dependsOn: ready, deleteBeforeReplace: true, replaceOnChanges: ['environmentId'] },
    );
  }

  /** Tokens of the owner's identity are had by the init container only, the worker's by the worker only. */
  private configuration({ key, registry }: Wiring, atStart: boolean): inputs.app.ConfigurationArgs {
    const registries = registryCredentials(registry, this.identity);
    return {
      activeRevisionsMode: app.ActiveRevisionsMode.Single,
      identitySettings: [
        { identity: this.identity.id, lifecycle: app.IdentitySettingsLifeCycle.Main },
        ...(atStart ? [{ identity: this.migratorIdentity.id, lifecycle: app.IdentitySettingsLifeCycle.Init }] : []),
      ],
      secrets: [stripeKeySecret(key, this.identity)],
      ...(registries.length === 0 ? {} : { registries }),
    };
  }

  private scale({ eventHub, checkpointStore }: BillingConsumerArgs): inputs.app.ScaleArgs {
    const { minReplicas, maxReplicas } = this;
    if (minReplicas === maxReplicas) return { minReplicas, maxReplicas };
    return { minReplicas, maxReplicas, rules: [lagRule(eventHub, checkpointStore, this.identity.id)] };
  }
}

/** What the workers use, made before they run: names alone would not say so. */
function parts({ eventHub, checkpointStore, ledger }: BillingConsumerArgs): pulumi.Resource[] {
  const group = eventHub.consumerGroup;
  return [eventHub.eventHub, ...(group === undefined ? [] : [group]), checkpointStore.container, ledger.database];
}
