import * as eventhub from '@pulumi/azure-native/eventhub';
import type { input } from '@pulumi/azure-native/types';
import * as pulumi from '@pulumi/pulumi';
import { refusal } from '../shared/wrong-args';

const CONTAINER_ID =
  /^(\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.Storage\/storageAccounts\/[^/]+)\/blobServices\/default\/containers\/([^/]+)$/i;

/** Event Hubs wants all nine parts; in this order files sort by time within a partition. */
const ARCHIVE_NAME = '{Namespace}/{EventHub}/{PartitionId}/{Year}/{Month}/{Day}/{Hour}/{Minute}/{Second}';
const INTERVAL_SECONDS = 300;
const SIZE_LIMIT_BYTES = 300 * 1_024 * 1_024;

export interface ContainerId {
  readonly accountId: string;
  readonly container: string;
}

/** The two halves of a container's id, or nothing when it is another resource's. */
export function parseContainerId(id: string): ContainerId | undefined {
  const [, accountId, container] = CONTAINER_ID.exec(id) ?? [];
  return accountId === undefined || container === undefined ? undefined : { accountId, container };
}

/** Writes every event to the container with the namespace's own identity: no key, no connection string. */
export function captureDescription(containerId: pulumi.Input<string>): input.eventhub.CaptureDescriptionArgs {
  const target = pulumi.output(containerId).apply((id) => {
    const parsed = parseContainerId(id);
    if (parsed === undefined) throw refusal(`capture.containerId is "${id}", which is no blob container’s id.`);
    return parsed;
  });
  return {
    enabled: true,
    encoding: eventhub.EncodingCaptureDescription.Avro,
    intervalInSeconds: INTERVAL_SECONDS,
    sizeLimitInBytes: SIZE_LIMIT_BYTES,
    skipEmptyArchives: true,
    destination: {
      name: 'EventHubArchive.AzureBlockBlob',
      storageAccountResourceId: target.accountId,
      blobContainer: target.container,
      archiveNameFormat: ARCHIVE_NAME,
      identity: { type: eventhub.CaptureIdentityType.SystemAssigned },
    },
  };
}
