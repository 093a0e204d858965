/**
 * What is done with one held lease, from winning it to its end: wait for the parents, read, and at the end of
 * the shard hand over to the children. The order at the end is binding: children first, then their names on
 * the parent, then SHARD_END; a crash in between repeats, and never loses a child.
 */
import type { ChildShard } from '@aws-sdk/client-kinesis';
import type { PartitionConsumer } from '../../processor/ports';
import { errorText } from './aws-errors';
import type { HeldLease } from './held-lease';
import type { LeaseStore } from './lease-store';
import { isShardEnd, TRIM_HORIZON } from './positions';
import type { ShardCatalog } from './shard-catalog';
import { type ReadEnd, readShard, type ShardReaderDeps } from './shard-reader';
import { newLease, unstarted } from './shard-sync';
import type { ShardView } from './shards';

export interface ShardWorkerDeps extends ShardReaderDeps {
  readonly store: LeaseStore;
  readonly catalog: ShardCatalog;
  /** How often a child asks whether its parents are read to their end. */
  readonly parentPollMs: number;
}

const RETRY_MS = 1_000;

/** Runs until the lease ends, `stop` aborts, or there is nothing left to do for it but to keep it. */
export async function workShard(
  deps: ShardWorkerDeps,
  held: HeldLease,
  consumer: PartitionConsumer,
  stop: AbortSignal,
): Promise<void> {
  const signal = AbortSignal.any([held.signal, stop]);
  if (isShardEnd(held.progress)) return;
  await parentsFinished(deps, held, signal);
  while (!signal.aborted) {
    const end = await readShard(deps, held, consumer, signal);
    if (end.kind === 'stopped') return;
    if (await settleEnd(deps, held, consumer, end, signal)) return;
    await deps.host.sleep(RETRY_MS, signal);
  }
}

/** True: done with this shard. False: read on, from what is finished by now. */
async function settleEnd(
  deps: ShardWorkerDeps,
  held: HeldLease,
  consumer: PartitionConsumer,
  end: Exclude<ReadEnd, { kind: 'stopped' }>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    if (end.kind === 'gone') return await leaveGoneShard(deps, held);
    if (!(await consumer.finished(held))) return signal.aborted;
    const children = await childrenOf(deps, held, end.children);
    if (children.length === 0) {
      deps.log.error({ partition: held.id }, 'the shard ended but Kinesis names no children; asking again');
      return false;
    }
    for (const child of children) {
      if (!(await createChild(deps, held, child))) return false;
    }
    const names = children.map((child) => child.id);
    await deps.store.setChildren(held.shardId, names);
    if (await held.finish()) deps.log.info({ partition: held.id, children: names }, 'shard read to its end');
    return true;
  } catch (error) {
    deps.log.warn({ partition: held.id, error: errorText(error) }, 'the end of a shard could not be recorded yet');
    return signal.aborted;
  }
}

/**
 * The child of a merge is created only when its other parent has a lease, or the gate would let it overtake that
 * parent. False: not yet; whoever reads the other line will get there, or the audit will.
 */
async function createChild(deps: ShardWorkerDeps, held: HeldLease, child: ShardView): Promise<boolean> {
  const others = child.parents.filter((parent) => parent !== held.shardId && deps.catalog.has(parent));
  if (others.length > 0 && (await deps.store.read(child.id)) === undefined) {
    for (const parent of others) {
      if ((await deps.store.read(parent)) !== undefined) continue;
      deps.log.info({ partition: held.id, child: child.id, parent }, 'waiting for the lease of the other parent');
      return false;
    }
  }
  await deps.store.create(newLease(child, TRIM_HORIZON));
  return true;
}

/** A shard that is not in the stream's list any more is given up; its item stays for people to judge. */
async function leaveGoneShard(deps: ShardWorkerDeps, held: HeldLease): Promise<boolean> {
  await deps.catalog.refresh();
  if (deps.catalog.has(held.shardId)) return false;
  deps.log.error(
    { partition: held.id, checkpoint: held.progress.sequence },
    'the lease table names a shard that the stream does not have; it is left alone. What it held is past retention, or the table belongs to another stream.',
  );
  await held.release();
  return true;
}

/** From the answer of Kinesis, else from the list. */
async function childrenOf(
  deps: ShardWorkerDeps,
  held: HeldLease,
  named: readonly ChildShard[],
): Promise<readonly ShardView[]> {
  const children = named.flatMap((child): ShardView[] => {
    const { ShardId: id, ParentShards: parents, HashKeyRange: range } = child;
    if (!id || !range?.StartingHashKey || !range.EndingHashKey) return [];
    const hashRange = { start: BigInt(range.StartingHashKey), end: BigInt(range.EndingHashKey) };
    return [{ id, parents: parents ?? [held.shardId], hashRange, open: true }];
  });
  if (children.length > 0) return children;
  await deps.catalog.refresh();
  return deps.catalog.childrenOf(held.shardId);
}

/** Resolves when no parent is left to be read before this shard, so that each key keeps its order. */
async function parentsFinished(deps: ShardWorkerDeps, held: HeldLease, signal: AbortSignal): Promise<void> {
  const parents = held.current.parents.length > 0 ? held.current.parents : deps.catalog.parentsOf(held.shardId);
  for (const parent of parents) {
    while (!signal.aborted && (await blocks(deps, held, parent))) await deps.host.sleep(deps.parentPollMs, signal);
  }
}

async function blocks(deps: ShardWorkerDeps, held: HeldLease, parent: string): Promise<boolean> {
  if (!deps.catalog.has(parent)) return false;
  try {
    const lease = await deps.store.read(parent);
    if (lease) return !isShardEnd(lease.checkpoint);
    return unstarted(held.current) && !(await anyChildBegan(deps, parent));
  } catch (error) {
    deps.log.warn({ parent, error: errorText(error) }, 'the lease of a parent shard could not be read; waiting');
    return true;
  }
}

/**
 * A parent without a lease was read to its end if some child has begun. If none has, the lease was deleted by
 * accident: the audit creates it again by this very rule, so the wait ends.
 */
async function anyChildBegan(deps: ShardWorkerDeps, parent: string): Promise<boolean> {
  for (const child of deps.catalog.childrenOf(parent)) {
    const lease = await deps.store.read(child.id);
    if (lease && !unstarted(lease)) return true;
  }
  return false;
}
