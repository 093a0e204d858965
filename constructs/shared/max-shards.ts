import { LEASES_PER_SHARD } from '../../runtime/contract';
import { wrongProp } from './check';

/**
 * Where stream and lease table meet: a provisioned table must hold the leases of a stream that doubles.
 *
 * @throws when `maxShards` is known and fewer than three times the known `shardCount`
 */
export function checkMaxShards(path: string, maxShards: number | undefined, shardCount: number | undefined): void {
  if (maxShards === undefined || shardCount === undefined) return;
  const needed = LEASES_PER_SHARD * shardCount;
  if (maxShards >= needed) return;
  throw wrongProp({
    path,
    prop: 'leaseTable.maxShards',
    received: String(maxShards),
    allowed: `${needed} or more, for a stream of ${shardCount} shards`,
    wayOut:
      'While a stream doubles, each shard has a lease of its own and two of its children; a smaller table refuses renewals, and leases are lost. Raise it, or leave it out for an on-demand table.',
  });
}
