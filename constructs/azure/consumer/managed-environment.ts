/** Where the consumer runs, and where its logs are. */
import * as app from '@pulumi/azure-native/app';
import * as monitor from '@pulumi/azure-native/monitor';
import * as operationalinsights from '@pulumi/azure-native/operationalinsights';
import * as pulumi from '@pulumi/pulumi';
import type { ComponentArgs } from '../shared/component-args';
import { keep } from '../shared/stateful';
import type { BillingConsumerArgs, LogTable } from './billing-consumer-args';
import { physicalName } from './physical-name';

/** Name of the workload profile that every environment of this kind begins with. */
const CONSUMPTION = 'Consumption';

const LOG_RETENTION_DAYS = 90;

export interface Place {
  readonly environmentId: pulumi.Output<string>;
  /** Absent: another one's. */
  readonly environment: app.ManagedEnvironment | undefined;
  readonly workloadProfileName: string | undefined;
  readonly workspaceId: pulumi.Output<string> | undefined;
  readonly logTable: LogTable;
  /** What has to exist before anything runs there, so that its first lines are kept. */
  readonly ready: readonly pulumi.Resource[];
}

/** The given environment, or one of its own. */
export function placeOf(parent: pulumi.Resource, name: string, args: BillingConsumerArgs): Place {
  if (args.managedEnvironmentId !== undefined) {
    return {
      environmentId: pulumi.output(args.managedEnvironmentId),
      environment: undefined,
      workloadProfileName: undefined,
      workspaceId: args.workspaceId === undefined ? undefined : pulumi.output(args.workspaceId),
      logTable: args.logTable ?? 'ContainerAppConsoleLogs_CL',
      ready: [],
    };
  }
  const workspaceId = pulumi.output(args.workspaceId ?? addWorkspace(parent, `${name}-logs`, args).id);
  const environment = addEnvironment(parent, name, args);
  return {
    environmentId: environment.id,
    environment,
    workloadProfileName: CONSUMPTION,
    workspaceId,
    logTable: 'ContainerAppConsoleLogs',
    ready: [environment, addLogSetting(parent, `${name}-environment-logs`, environment, workspaceId)],
  };
}

type WorkspaceArgs = ComponentArgs & Pick<BillingConsumerArgs, 'logRetentionDays' | 'protect'>;

/** A workspace for the logs of everything. */
export function addWorkspace(parent: pulumi.Resource, childName: string, args: WorkspaceArgs) {
  return new operationalinsights.Workspace(
    childName,
    {
      resourceGroupName: args.resourceGroupName,
      sku: { name: operationalinsights.WorkspaceSkuNameEnum.PerGB2018 },
      retentionInDays: args.logRetentionDays ?? LOG_RETENTION_DAYS,
      ...(args.tags === undefined ? {} : { tags: args.tags }),
    },
    { parent, ...keep(args.protect ?? true) },
  );
}

/**
 * Nothing comes in, so it has no address outside its network. Logs go to Azure Monitor, not straight to Log Analytics:
 * the latter takes the workspace's shared key, which would be one more secret in the state.
 */
function addEnvironment(parent: pulumi.Resource, name: string, args: BillingConsumerArgs): app.ManagedEnvironment {
  const infrastructureSubnetId = args.environmentSubnetId ?? args.ledger.environmentSubnetId;
  return new app.ManagedEnvironment(
    `${name}-environment`,
    {
      resourceGroupName: args.resourceGroupName,
      // By the component's name it might have capitals, which Azure refuses in the middle of a deploy.
      environmentName: physicalName(name, 'environment'),
      appLogsConfiguration: { destination: 'azure-monitor' },
      // Init containers have identities on this profile only.
      workloadProfiles: [{ name: CONSUMPTION, workloadProfileType: CONSUMPTION }],
      ...(infrastructureSubnetId === undefined
        ? {}
        : { vnetConfiguration: { infrastructureSubnetId, internal: true } }),
      ...(args.tags === undefined ? {} : { tags: args.tags }),
    },
    // Decided when it is made. Not all of `vnetConfiguration`: what Azure adds to it must not replace anything.
    {
      parent,
      deleteBeforeReplace: true,
      replaceOnChanges: ['vnetConfiguration.infrastructureSubnetId', 'vnetConfiguration.internal'],
    },
  );
}

function addLogSetting(
  parent: pulumi.Resource,
  childName: string,
  environment: app.ManagedEnvironment,
  workspaceId: pulumi.Input<string>,
): monitor.DiagnosticSetting {
  return new monitor.DiagnosticSetting(
    childName,
    {
      resourceUri: environment.id,
      workspaceId,
      logs: ['ContainerAppConsoleLogs', 'ContainerAppSystemLogs'].map((category) => ({ category, enabled: true })),
    },
    { parent },
  );
}
