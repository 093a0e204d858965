import * as app from '@pulumi/azure-native/app';
import type * as managedidentity from '@pulumi/azure-native/managedidentity';
import type * as inputs from '@pulumi/azure-native/types/input';
import type * as pulumi from '@pulumi/pulumi';
import type { ComponentArgs } from '../shared/component-args';
import type { Place } from './managed-environment';

/** A reconciliation of a large ledger takes hours; nothing should take a day. */
const TIMEOUT_SECONDS = 6 * 3_600;

export interface ManualJobArgs extends ComponentArgs {
  readonly jobName: string;
  readonly place: Place;
  /** As what it runs, pulls its image and reads its secrets. */
  readonly identity: managedidentity.UserAssignedIdentity;
  readonly container: inputs.app.ContainerArgs;
  readonly secrets: inputs.app.SecretArgs[];
  readonly registries: inputs.app.RegistryCredentialsArgs[];
}

/** A container of the consumer's image that a person or a pipeline starts; it is never started again by itself. */
export function addManualJob(
  parent: pulumi.Resource,
  childName: string,
  args: ManualJobArgs,
  dependsOn: pulumi.Input<pulumi.Resource>[],
): app.Job {
  const { place } = args;
  return new app.Job(
    childName,
    {
      resourceGroupName: args.resourceGroupName,
      jobName: args.jobName,
      environmentId: place.environmentId,
      ...(place.workloadProfileName === undefined ? {} : { workloadProfileName: place.workloadProfileName }),
      identity: {
        type: app.ManagedServiceIdentityType.UserAssigned,
        userAssignedIdentities: [args.identity.id],
      },
      configuration: {
        triggerType: app.TriggerType.Manual,
        manualTriggerConfig: { parallelism: 1, replicaCompletionCount: 1 },
        replicaRetryLimit: 0,
        replicaTimeout: TIMEOUT_SECONDS,
        ...(args.secrets.length === 0 ? {} : { secrets: args.secrets }),
        ...(args.registries.length === 0 ? {} : { registries: args.registries }),
      },
      template: { containers: [args.container] },
      ...(args.tags === undefined ? {} : { tags: args.tags }),
    },
    { parent, dependsOn, deleteBeforeReplace: true, replaceOnChanges: ['environmentId'] },
  );
}
