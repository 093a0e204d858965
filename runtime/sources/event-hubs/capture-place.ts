/** Where the events of a Capture file came from: its name says so. */

export interface CapturePlace {
  readonly namespace: string;
  readonly eventHub: string;
  readonly partitionId: string;
}

/** How Capture names its files unless it is told another way; `.avro` follows. */
export const CAPTURE_NAME_FORMAT = '{Namespace}/{EventHub}/{PartitionId}/{Year}/{Month}/{Day}/{Hour}/{Minute}/{Second}';

const PLACEHOLDER = /\{(Namespace|EventHub|PartitionId|Year|Month|Day|Hour|Minute|Second)\}/;
const PATTERNS: Readonly<Record<string, string>> = {
  Namespace: '(?<Namespace>[A-Za-z0-9-]+)',
  EventHub: '(?<EventHub>[A-Za-z0-9._-]+)',
  PartitionId: '(?<PartitionId>\\d+)',
  Year: '\\d{4}',
};

/** @throws when the name does not follow the format, or the format does not say the partition */
export function capturePlace(path: string, format: string = CAPTURE_NAME_FORMAT): CapturePlace {
  const pattern = format
    .split(PLACEHOLDER)
    .map((part, index) =>
      index % 2 === 1 ? (PATTERNS[part] ?? '\\d{2}') : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    )
    .join('');
  // Of a container's name or a folder before it nothing is known.
  const found = new RegExp(`(?:^|/)${pattern}\\.avro$`).exec(path)?.groups;
  if (found?.PartitionId === undefined) {
    throw new Error(
      `${path}: the name of a Capture file was expected, as ${format}.avro. Say the archiveNameFormat of the capture if it ` +
        'is another; it must hold {PartitionId}.',
    );
  }
  return { namespace: found.Namespace ?? '', eventHub: found.EventHub ?? '', partitionId: found.PartitionId };
}
