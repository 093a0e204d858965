import type * as authorization from '@pulumi/azure-native/authorization';
import * as eventhub from '@pulumi/azure-native/eventhub';
import * as monitor from '@pulumi/azure-native/monitor';
import * as pulumi from '@pulumi/pulumi';
import { ENVIRONMENT } from '../../../runtime/contract';
import { guard } from '../shared/guard';
import { onceMade } from '../shared/once-made';
import { assignRole } from '../shared/role-assignment';
import { keep } from '../shared/stateful';
import { refusal } from '../shared/wrong-args';
import type { BillingEventHubArgs } from './billing-event-hub-args';
import { captureDescription } from './capture';
import { type EventHubPlan, planEventHub } from './event-hub-checks';
import { DEFAULT_CONSUMER_GROUP } from './event-hub-limits';
import { existingNamespace, type NamespaceParts, ownNamespace } from './event-hub-namespace';
import { refusePartitionChange } from './partition-guard';

/** The event hub that carries billing events: kept for a week, read by a consumer group of its own, no shared keys. */
export class BillingEventHub extends pulumi.ComponentResource {
  /** The namespace, when it is made here. */
  readonly namespace: eventhub.Namespace | undefined;
  /** Resource id of the namespace, made here or elsewhere. */
  readonly namespaceId: pulumi.Output<string>;
  /** The hub itself. */
  readonly eventHub: eventhub.EventHub;
  /** The consumer group, unless it is `$Default`, which every hub has. */
  readonly consumerGroup: eventhub.ConsumerGroup | undefined;
  /** Where clients connect, such as `contoso.servicebus.windows.net`. */
  readonly fullyQualifiedNamespace: pulumi.Output<string>;
  /** The consumer group that workers read with. */
  readonly consumerGroupName: string;
  /** Partitions of the hub: the most workers that read at once. */
  readonly partitionCount: number;
  /** How long an event can still be read, in hours. */
  readonly retentionHours: number;
  /** Whether Capture is on. */
  readonly capturing: boolean;
  /** What a worker is told about the hub. */
  readonly connectionEnvironment: Readonly<Record<string, pulumi.Output<string>>>;

  /**
   * @throws when the tier is Basic, or has fewer partitions, units or days than asked; when events would be kept for less
   * than 48 hours; when Event Hubs takes no such name; when a unit is asked of an existing namespace
   */
  constructor(name: string, args: BillingEventHubArgs, opts?: pulumi.ComponentResourceOptions) {
    super('chargeonce:azure:BillingEventHub', name, {}, opts);
    const plan = planEventHub(name, args);
    const space =
      args.namespaceName === undefined
        ? ownNamespace(this, name, args, plan)
        : existingNamespace(this, name, args.namespaceName, args);

    this.namespace = space.namespace;
    this.namespaceId = space.id;
    this.fullyQualifiedNamespace = space.fullyQualifiedName;
    this.consumerGroupName = plan.consumerGroupName;
    this.partitionCount = plan.partitionCount;
    this.retentionHours = plan.retentionHours;
    this.capturing = args.capture !== undefined;
    this.eventHub = this.hub(name, args, plan, space);
    this.consumerGroup = this.group(name, args, space);
    this.diagnostics(name, args, space);
    this.connectionEnvironment = {
      [ENVIRONMENT.EVENTHUB_NAME]: onceMade(this.eventHub, plan.eventHubName),
      [ENVIRONMENT.EVENTHUB_NAMESPACE]: this.fullyQualifiedNamespace,
      [ENVIRONMENT.EVENTHUB_CONSUMER_GROUP]: onceMade(this.consumerGroup ?? this.eventHub, this.consumerGroupName),
    };
    this.registerOutputs({ fullyQualifiedNamespace: this.fullyQualifiedNamespace, eventHubName: this.eventHub.name });
  }

  /**
   * Lets a producer send events to this hub, and nothing else.
   *
   * @param name child name in the program, static
   * @param principalId object id of the producer's identity
   */
  grantPublish(name: string, principalId: pulumi.Input<string>): authorization.RoleAssignment {
    return assignRole(this, name, { scope: this.eventHub.id, principalId, role: 'Azure Event Hubs Data Sender' });
  }

  /**
   * Lets a worker read events of this hub, and nothing else.
   *
   * @param name child name in the program, static
   * @param principalId object id of the worker's identity
   */
  grantConsume(name: string, principalId: pulumi.Input<string>): authorization.RoleAssignment {
    return assignRole(this, name, { scope: this.eventHub.id, principalId, role: 'Azure Event Hubs Data Receiver' });
  }

  private hub(name: string, args: BillingEventHubArgs, plan: EventHubPlan, space: NamespaceParts): eventhub.EventHub {
    const hooks = guard(`${name}-hub-partitions`, refusePartitionChange);
    const { capture } = args;
    const mayWrite = capture && [
      assignRole(this, `${name}-capture`, {
        scope: capture.containerId,
        principalId: space.principalId.apply((id) => id ?? notYetMade(name)),
        role: 'Storage Blob Data Contributor',
      }),
    ];
    return new eventhub.EventHub(
      `${name}-hub`,
      {
        resourceGroupName: args.resourceGroupName,
        namespaceName: space.name,
        eventHubName: plan.eventHubName,
        partitionCount: plan.partitionCount,
        retentionDescription: {
          cleanupPolicy: eventhub.CleanupPolicyRetentionDescription.Delete,
          retentionTimeInHours: plan.retentionHours,
        },
        ...(capture ? { captureDescription: captureDescription(capture.containerId) } : {}),
      },
      {
        parent: this,
        ...keep(args.protect ?? true),
        ...(mayWrite ? { dependsOn: mayWrite } : {}),
        ...(hooks ? { hooks } : {}),
      },
    );
  }

  private group(
    name: string,
    { resourceGroupName, protect }: BillingEventHubArgs,
    space: NamespaceParts,
  ): eventhub.ConsumerGroup | undefined {
    const { consumerGroupName } = this;
    if (consumerGroupName === DEFAULT_CONSUMER_GROUP) return undefined;
    return new eventhub.ConsumerGroup(
      `${name}-group`,
      { resourceGroupName, namespaceName: space.name, eventHubName: this.eventHub.name, consumerGroupName },
      { parent: this, ...keep(protect ?? true) },
    );
  }

  private diagnostics(name: string, { workspaceId }: BillingEventHubArgs, space: NamespaceParts): void {
    if (workspaceId === undefined) return;
    new monitor.DiagnosticSetting(
      `${name}-diagnostics`,
      {
        resourceUri: space.id,
        name: `chargeonce-${name}`,
        workspaceId,
        logs: [{ categoryGroup: 'allLogs', enabled: true }],
      },
      { parent: this },
    );
  }
}

/** The identity of a namespace that is about to be made: a preview has what was asked for, not who it will be. */
function notYetMade(name: string): string {
  if (pulumi.runtime.isDryRun()) return pulumi.unknown as string;
  throw refusal(`[BillingEventHub ${name}] The namespace came without an identity that Capture could write as.`);
}
