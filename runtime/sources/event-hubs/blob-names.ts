/** Where ownership and checkpoint of a partition are kept: the layout that .NET, Java, Python and KEDA read. */

/** One consumer group of one hub. */
export interface GroupName {
  readonly fullyQualifiedNamespace: string;
  readonly eventHubName: string;
  readonly consumerGroup: string;
}

export type BlobKind = 'ownership' | 'checkpoint';

/** Ends with a slash; what follows is the partition's id. */
export function blobPrefix(group: GroupName, kind: BlobKind): string {
  const { fullyQualifiedNamespace, eventHubName, consumerGroup } = group;
  const folder = [fullyQualifiedNamespace, eventHubName, consumerGroup].join('/').toLowerCase();
  return `${folder}/${kind}/`;
}

export function blobName(group: GroupName, kind: BlobKind, partitionId: string): string {
  return blobPrefix(group, kind) + partitionId;
}
