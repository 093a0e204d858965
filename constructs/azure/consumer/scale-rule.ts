import type * as inputs from '@pulumi/azure-native/types/input';
import type * as pulumi from '@pulumi/pulumi';
import type { CheckpointStore } from '../checkpoint-store/checkpoint-store';
import type { BillingEventHub } from '../event-hub/billing-event-hub';

/** Events behind, for each replica, above which there is one more. */
const UNPROCESSED_EVENTS = 64;

/**
 * More replicas while the hub has events that no checkpoint has passed. The scaler reads checkpoints and hub as `identity`,
 * which therefore may read both; the layout of the checkpoints is the one that all clients of Microsoft's share.
 */
export function lagRule(
  eventHub: BillingEventHub,
  checkpointStore: CheckpointStore,
  identity: pulumi.Input<string>,
): inputs.app.ScaleRuleArgs {
  return {
    name: 'unprocessed-events',
    custom: {
      type: 'azure-eventhub',
      identity,
      metadata: {
        eventHubNamespace: eventHub.fullyQualifiedNamespace.apply((host) => host.split('.')[0] ?? host),
        eventHubName: eventHub.eventHub.name,
        consumerGroup: eventHub.consumerGroupName,
        storageAccountName: checkpointStore.accountName,
        blobContainer: checkpointStore.containerName,
        checkpointStrategy: 'blobMetadata',
        unprocessedEventThreshold: String(UNPROCESSED_EVENTS),
      },
    },
  };
}
