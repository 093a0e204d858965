/**
 * Which leases the table lacks, given the stream's shards. Pure. The aim: no record is ever left without a
 * reader, and no shard is started twice. Creating a lease is idempotent, so every worker may run this.
 */
import type { HashRange, Lease, NewLease } from './lease-item';
import { type Checkpoint, isShardEnd, TRIM_HORIZON } from './positions';
import type { ShardView } from './shards';

const HASH_KEYS: HashRange = { start: 0n, end: 2n ** 128n - 1n };

/** The parts of the whole hash key space that these ranges do not cover. */
export function uncovered(ranges: readonly HashRange[], within: HashRange = HASH_KEYS): HashRange[] {
  const gaps: HashRange[] = [];
  let next = within.start;
  for (const range of [...ranges].sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0))) {
    if (range.start > next) gaps.push({ start: next, end: range.start - 1n });
    if (range.end >= next) next = range.end + 1n;
  }
  if (next <= within.end) gaps.push({ start: next, end: within.end });
  return gaps;
}

/** Parts of the hash key space that no unfinished lease reads. Ranges missing in a lease come from the shard list. */
export function holes(leases: readonly Lease[], shards: readonly ShardView[]): HashRange[] {
  const known = new Map(shards.map((shard) => [shard.id, shard.hashRange]));
  return uncovered(
    leases.flatMap((lease) => {
      if (isShardEnd(lease.checkpoint)) return [];
      const range = lease.hashRange ?? known.get(lease.key);
      return range ? [range] : [];
    }),
  );
}

/**
 * The leases of a table that has none yet. `listed` is what Kinesis lists for the initial position; only the
 * oldest generation of it is created, since children follow when their parents end. When that generation does
 * not cover every hash key, all of it is created, and the gate between parents and children keeps the order.
 */
export function firstLeases(listed: readonly ShardView[], initial: Checkpoint): NewLease[] {
  const candidates = initial.sequence === 'LATEST' ? listed.filter((shard) => shard.open) : listed;
  const ids = new Set(candidates.map((shard) => shard.id));
  const oldest = candidates.filter((shard) => !shard.parents.some((parent) => ids.has(parent)));
  const whole = uncovered(oldest.map((shard) => shard.hashRange)).length === 0;
  return (whole ? oldest : candidates).map((shard) => newLease(shard, initial));
}

/** The leases that a table with leases lacks. `shards` is the whole list, closed ones included. */
export function missingLeases(shards: readonly ShardView[], leases: readonly Lease[], initial: Checkpoint): NewLease[] {
  const walk = new LineWalk(shards, leases, initial);
  for (const shard of shards) walk.visit(shard);
  return [...walk.created.values()];
}

/** At the first record still, so its parents may have to be read first. */
export function unstarted(lease: Lease): boolean {
  return lease.checkpoint.sequence === 'TRIM_HORIZON' || lease.checkpoint.sequence === 'AT_TIMESTAMP';
}

/** Walks from the shards that need a reader towards their ancestors until it meets the table. */
class LineWalk {
  readonly created = new Map<string, NewLease>();
  private readonly shardById: ReadonlyMap<string, ShardView>;
  private readonly leaseById: ReadonlyMap<string, Lease>;
  /** Parents with a child that has begun: they were read to their end. */
  private readonly passed: ReadonlySet<string>;
  private readonly trackedById = new Map<string, boolean>();

  constructor(
    shards: readonly ShardView[],
    leases: readonly Lease[],
    private readonly initial: Checkpoint,
  ) {
    this.shardById = new Map(shards.map((shard) => [shard.id, shard]));
    this.leaseById = new Map(leases.map((lease) => [lease.key, lease]));
    const begun = shards.filter((shard) => {
      const lease = this.leaseById.get(shard.id);
      return lease !== undefined && !unstarted(lease);
    });
    this.passed = new Set(begun.flatMap((shard) => shard.parents));
  }

  /** Creates what this shard needs first: an ancestor that is missing, or the shard itself. */
  visit(shard: ShardView): void {
    const lease = this.leaseById.get(shard.id);
    if (lease) {
      // Its parents must stay in the table until it has begun; one that is gone was deleted by accident.
      if (unstarted(lease)) this.parentsRead(shard);
    } else if (shard.open) {
      if (!this.tracked(shard)) this.startLine(shard);
      else if (this.parentsRead(shard)) this.create(shard, this.continuing());
    }
  }

  /** Whether every parent was read to its end; the ones that the table lacks are created. */
  private parentsRead(shard: ShardView): boolean {
    let read = true;
    for (const parent of this.parentsOf(shard)) {
      const lease = this.leaseById.get(parent.id);
      if (lease) read &&= isShardEnd(lease.checkpoint);
      else if (!this.passed.has(parent.id)) {
        read = false;
        this.recreate(parent);
      }
    }
    return read;
  }

  /** A closed shard in the middle of a line that the table knows. */
  private recreate(shard: ShardView): void {
    if (this.created.has(shard.id)) return;
    const upwards = this.tracked(shard) || this.initial.sequence !== 'LATEST';
    if (!upwards || this.parentsRead(shard)) this.create(shard, this.continuing());
  }

  /** No ancestor has a lease: a line that the table does not know, so the initial position rules. */
  private startLine(shard: ShardView): void {
    if (this.created.has(shard.id)) return;
    const older = this.initial.sequence === 'LATEST' ? [] : this.parentsOf(shard);
    const unread = older.filter((parent) => !this.passed.has(parent.id));
    if (unread.length === 0) this.create(shard, this.initial);
    for (const parent of unread) this.startLine(parent);
  }

  /** Whether some ancestor has a lease. Remembered, since lines of splits and merges meet again and again. */
  private tracked(shard: ShardView): boolean {
    const known = this.trackedById.get(shard.id);
    if (known !== undefined) return known;
    const answer = this.parentsOf(shard).some((parent) => this.leaseById.has(parent.id) || this.tracked(parent));
    this.trackedById.set(shard.id, answer);
    return answer;
  }

  /** Where a shard begins whose line is being read: with its first record, or at the timestamp configured. */
  private continuing(): Checkpoint {
    return this.initial.sequence === 'AT_TIMESTAMP' ? this.initial : TRIM_HORIZON;
  }

  private parentsOf(shard: ShardView): ShardView[] {
    return shard.parents.flatMap((id) => this.shardById.get(id) ?? []);
  }

  private create(shard: ShardView, checkpoint: Checkpoint): void {
    this.created.set(shard.id, newLease(shard, checkpoint));
  }
}

export function newLease(shard: ShardView, checkpoint: Checkpoint): NewLease {
  return { key: shard.id, checkpoint, parents: shard.parents, hashRange: shard.hashRange };
}

/**
 * Whether the lease of a shard that was read to its end may be deleted: every child has begun, and its own
 * parents are gone from the table. A child at a sentinel might still need its parent as the gate.
 */
export function mayDelete(lease: Lease, leases: ReadonlyMap<string, Lease>, children: readonly string[]): boolean {
  if (!isShardEnd(lease.checkpoint) || children.length === 0) return false;
  if (lease.parents.some((parent) => leases.has(parent))) return false;
  return children.every((id) => {
    const child = leases.get(id);
    return child !== undefined && !unstarted(child);
  });
}
