/** A lease as the table stores it, and the way from and to a DynamoDB item. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Checkpoint, isCheckpointText } from './positions';

/** One lease: who reads a shard, and how far it was read. */
export interface Lease {
  /** The shard id; the table serves one stream. */
  readonly key: string;
  readonly owner?: string;
  /** Grows with every write of an owner: optimistic lock and heartbeat in one. */
  readonly counter: bigint;
  readonly checkpoint: Checkpoint;
  /** Parent and child shard ids; sets, in no order. */
  readonly parents: readonly string[];
  readonly children: readonly string[];
  readonly hashRange?: HashRange;
  /**
   * Milliseconds since the epoch at which a lease at LATEST was created (an attribute of ours, which the Java
   * client ignores): reading begins there, so that what arrives before the first record is read is not skipped.
   */
  readonly latestSince?: number;
}

/** Inclusive, 0 to 2^128 - 1. */
export interface HashRange {
  readonly start: bigint;
  readonly end: bigint;
}

export type Item = Record<string, AttributeValue>;

/** What an item of the lease table turned out to be. */
export type ParsedItem =
  | { readonly kind: 'lease'; readonly lease: Lease }
  /** Something that no version of the protocol calls a lease of this stream: skipped, reported, never touched. */
  | { readonly kind: 'foreign'; readonly key: string; readonly why: string };

const KEY_NAME = 'leaseKey';
export const MIGRATION_KEY = 'Migration3.0';

/** The key of the table and of every request that names one item. */
export function itemKey(leaseKey: string): Item {
  return { [KEY_NAME]: { S: leaseKey } };
}

/** Reads an item. Never throws: what cannot be read is foreign, with the reason. */
export function parseItem(item: Item): ParsedItem {
  const key = item[KEY_NAME]?.S ?? '(no leaseKey)';
  const foreign = (why: string): ParsedItem => ({ kind: 'foreign', key, why });
  const entityType = item.entityType?.S;
  if (item.entityType !== undefined && entityType !== 'LEASE') {
    return foreign(`its entityType is ${entityType ?? 'not text'}, not LEASE`);
  }
  if (item.leaseCounter === undefined) return foreign('it has no leaseCounter');
  if (!/^shardId-\d{1,20}$/.test(key)) return foreign('its leaseKey is no shard id of a single stream');
  const counter = item.leaseCounter.N;
  if (counter === undefined || !/^\d+$/.test(counter)) return foreign('its leaseCounter is no whole number');
  const checkpoint = item.checkpoint?.S;
  if (checkpoint === undefined || !isCheckpointText(checkpoint)) {
    return foreign(`its checkpoint is ${checkpoint === undefined ? 'missing' : JSON.stringify(checkpoint)}`);
  }
  const sub = item.checkpointSubSequenceNumber?.N ?? '0';
  if (!/^\d{1,9}$/.test(sub)) return foreign('its checkpointSubSequenceNumber is no whole number');
  const owner = item.leaseOwner?.S;
  const hashRange = parseHashRange(item);
  const since = item.latestSince?.N ?? '';
  return {
    kind: 'lease',
    lease: {
      key,
      ...(owner ? { owner } : {}),
      counter: BigInt(counter),
      checkpoint: { sequence: checkpoint, sub: Number(sub) },
      parents: item.parentShardId?.SS ?? [],
      children: item.childShardIds?.SS ?? [],
      ...(hashRange ? { hashRange } : {}),
      ...(/^\d{1,15}$/.test(since) ? { latestSince: Number(since) } : {}),
    },
  };
}

/** The item of a new lease without an owner. */
export function newLeaseItem(lease: NewLease): Item {
  return {
    ...itemKey(lease.key),
    leaseCounter: { N: '0' },
    ownerSwitchesSinceCheckpoint: { N: '0' },
    checkpoint: { S: lease.checkpoint.sequence },
    checkpointSubSequenceNumber: { N: String(lease.checkpoint.sub) },
    ...(lease.parents.length > 0 ? { parentShardId: { SS: [...lease.parents] } } : {}),
    ...(lease.hashRange ? hashAttributes(lease.hashRange) : {}),
    ...(lease.latestSince === undefined ? {} : { latestSince: { N: String(lease.latestSince) } }),
  };
}

/** What a lease is created from. */
export type NewLease = Pick<Lease, 'key' | 'checkpoint' | 'parents' | 'hashRange' | 'latestSince'>;

/** What the item `Migration3.0` says about the version of the fleet; undefined when it says nothing. */
export function migrationVersion(item: Item): string | undefined {
  return item.cv?.S;
}

function hashAttributes(range: HashRange): Item {
  return { startingHashKey: { S: String(range.start) }, endingHashKey: { S: String(range.end) } };
}

function parseHashRange(item: Item): HashRange | undefined {
  const start = item.startingHashKey?.S;
  const end = item.endingHashKey?.S;
  if (!start || !end || !/^\d+$/.test(start) || !/^\d+$/.test(end)) return undefined;
  return { start: BigInt(start), end: BigInt(end) };
}
