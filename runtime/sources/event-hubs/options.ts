/** What the source needs, and what each part of it is given. */
import type { EventHubConsumerClient } from '@azure/event-hubs';
import type { ContainerClient } from '@azure/storage-blob';
import type { Host } from '../../host/host';
import type { Log, Metrics } from '../../processor/ports';
import type { BlobStore } from './blob-store';

export interface EventHubsSourceOptions {
  /** Makes a client on a connection of its own; called again when the watchdog replaces one. */
  readonly connect: (store: BlobStore) => EventHubConsumerClient;
  readonly eventHubName: string;
  readonly consumerGroup: string;
  /** Ownership and checkpoints: a container that nothing else uses. */
  readonly container: ContainerClient;
  /** Host name of the namespace, which blobs are filed under. Default: what the client calls it. */
  readonly namespace?: string;
  /** Start of the owner name; the rest is random, so that no two starts share a name. */
  readonly workerId: string;
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Ownership that is not claimed anew for so long is free. The same for every worker. Default: 60,000. */
  readonly ownershipMs?: number;
  /** Events of a batch at most, and as many more in the client's queue, for each partition. Default: 250. */
  readonly batchSize?: number;
  /** How long work in flight and the rest may take after the stop. Default: 100,000. */
  readonly drainTimeoutMs?: number;
  /** A partition that is silent for so long although the hub has more is connected anew. Default: 60,000. */
  readonly silenceMs?: number;
  /** How long an identity may be refused at the start. Default: 600,000. */
  readonly patienceMs?: number;
  /** Between two writes of a partition's checkpoint. Default: 3,000: a write is three requests, which cost money. */
  readonly checkpointEveryMs?: number;
}

/**
 * Microsoft says of a new role assignment that it may take up to ten minutes to be known everywhere; a worker that gave
 * up earlier would be restarted by its platform, and begin to wait again.
 */
const PATIENCE_MS = 600_000;

/** A renewal may fail several times in a row before others may take the partition. */
export const LOOKS_PER_OWNERSHIP = 6;

export type SourceSettings = Required<Omit<EventHubsSourceOptions, 'namespace'>> &
  Pick<EventHubsSourceOptions, 'namespace'>;

/** Throws when an option is out of range. */
export function withDefaults(options: EventHubsSourceOptions): SourceSettings {
  const settings = {
    ownershipMs: 60_000,
    batchSize: 250,
    drainTimeoutMs: 100_000,
    silenceMs: 60_000,
    patienceMs: PATIENCE_MS,
    checkpointEveryMs: 3_000,
    ...options,
  };
  const inRange = (name: 'ownershipMs' | 'batchSize' | 'silenceMs', low: number, high: number): void => {
    const value = settings[name];
    if (value >= low && value <= high) return;
    throw new Error(`Event Hubs source: ${name} is ${value}; allowed are ${low} to ${high}.`);
  };
  inRange('ownershipMs', 2_000, 600_000);
  inRange('batchSize', 1, 5_000);
  inRange('silenceMs', 200, 3_600_000);
  if (settings.workerId === '') throw new Error('Event Hubs source: workerId is empty; give each process a name.');
  return settings;
}
