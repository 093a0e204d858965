/**
 * Places in a shard: checkpoints as the lease table stores them and positions as the processor sees them.
 * Order: AT_TIMESTAMP < TRIM_HORIZON < LATEST < sequence numbers < SHARD_END.
 */
import { parseInstant } from '../../host/instant';

/** A value of the attributes `checkpoint` and `checkpointSubSequenceNumber`. */
export interface Checkpoint {
  /** Decimal sequence number, or a sentinel. */
  readonly sequence: string;
  /** Index inside an aggregated record, 0 otherwise. */
  readonly sub: number;
}

/** Where a shard without history is read from; a timestamp is ISO 8601. */
export type InitialPosition = 'TRIM_HORIZON' | 'LATEST' | `AT_TIMESTAMP:${string}`;

const SENTINELS: Readonly<Record<string, bigint>> = { AT_TIMESTAMP: -3n, TRIM_HORIZON: -2n, LATEST: -1n };

export const SHARD_END: Checkpoint = { sequence: 'SHARD_END', sub: 0 };
export const TRIM_HORIZON: Checkpoint = { sequence: 'TRIM_HORIZON', sub: 0 };

/** Whether the text is a sequence number or a sentinel. */
export function isCheckpointText(text: string): boolean {
  return text === 'SHARD_END' || Object.hasOwn(SENTINELS, text) || /^\d{1,128}$/.test(text);
}

export function isNumeric(checkpoint: Checkpoint): boolean {
  return /^\d+$/.test(checkpoint.sequence);
}

export function isShardEnd(checkpoint: Checkpoint): boolean {
  return checkpoint.sequence === 'SHARD_END';
}

/** Negative, zero or positive, as `a` is before, at or after `b`. */
export function compareCheckpoints(a: Checkpoint, b: Checkpoint): number {
  const endA = isShardEnd(a);
  const endB = isShardEnd(b);
  if (endA || endB) return Number(endA) - Number(endB);
  const left = SENTINELS[a.sequence] ?? BigInt(a.sequence);
  const right = SENTINELS[b.sequence] ?? BigInt(b.sequence);
  if (left !== right) return left < right ? -1 : 1;
  return a.sub - b.sub;
}

/** `<sequence>` for a plain record, `<sequence>/<sub>` for one inside an aggregate. */
export function formatPosition(sequence: string, sub?: number): string {
  return sub === undefined ? sequence : `${sequence}/${sub}`;
}

/** The checkpoint that says: everything up to and including this position is finished. */
export function parsePosition(position: string): Checkpoint {
  const match = /^(\d{1,128})(?:\/(\d{1,9}))?$/.exec(position);
  if (!match?.[1]) {
    throw new Error(`Kinesis position ${JSON.stringify(position)} is neither "<sequence>" nor "<sequence>/<sub>".`);
  }
  return { sequence: match[1], sub: Number(match[2] ?? 0) };
}

/** The sentinel with which a lease at the initial position is created. */
export function initialCheckpoint(initial: InitialPosition): Checkpoint {
  return { sequence: initial.startsWith('AT_TIMESTAMP:') ? 'AT_TIMESTAMP' : initial, sub: 0 };
}

/** The instant of an `AT_TIMESTAMP:` position in milliseconds since the epoch; undefined for the other positions. */
export function initialTimestamp(initial: InitialPosition): number | undefined {
  if (!initial.startsWith('AT_TIMESTAMP:')) return undefined;
  const text = initial.slice('AT_TIMESTAMP:'.length);
  const instant = parseInstant(text);
  if (instant === undefined) {
    throw new Error(
      `Initial position ${JSON.stringify(initial)} has no ISO 8601 instant; write AT_TIMESTAMP:2026-01-31T00:00:00Z.`,
    );
  }
  return instant;
}
