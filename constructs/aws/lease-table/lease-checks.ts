import { type Duration, Token } from 'aws-cdk-lib';
import { LEASES_PER_SHARD, mostShards, TABLE_QUOTA } from '../../../runtime/contract';
import { wrongProp } from '../../shared/check';
import { MAX_LEASE_SECONDS, MIN_LEASE_SECONDS } from '../../shared/limits';

/** @throws when a lease is too short for a pause of the process, too long for its shards, or not known at synth */
export function checkLeaseDuration(path: string, leaseDuration: Duration): void {
  const prop = 'leaseDuration';
  const allowed = `${MIN_LEASE_SECONDS} to ${MAX_LEASE_SECONDS} s`;
  if (leaseDuration.isUnresolved()) {
    const wayOut = 'The size of the table and the deadlines of its workers are worked out from it at synth.';
    throw wrongProp({ path, prop, received: 'a token', allowed, wayOut });
  }
  const seconds = leaseDuration.toMilliseconds({ integral: false }) / 1000;
  if (seconds < MIN_LEASE_SECONDS || seconds > MAX_LEASE_SECONDS) {
    const wayOut = 'Shorter leases are lost to pauses of the process, longer ones leave a dead worker’s shards unread.';
    throw wrongProp({ path, prop, received: `${seconds} s`, allowed, wayOut });
  }
}

/** @throws when it is no number of shards, or one that no single table is given the capacity for */
export function checkProvisionable(path: string, maxShards: number, leaseDuration: Duration): void {
  const seconds = leaseDuration.toSeconds({ integral: false });
  const most = mostShards(seconds);
  const prop = 'maxShards';
  const received = Token.isUnresolved(maxShards) ? 'a token' : String(maxShards);
  if (Token.isUnresolved(maxShards) || !Number.isInteger(maxShards) || maxShards < 1) {
    const wayOut =
      'Count three times the open shards if the stream may double, or leave it out for an on-demand table.';
    throw wrongProp({ path, prop, received, allowed: 'a whole number from 1', wayOut });
  }
  if (maxShards > most) {
    throw wrongProp({
      path,
      prop,
      received,
      allowed: `at most ${most} with leases of ${seconds} s`,
      wayOut: `More would need over ${TABLE_QUOTA} units a second, the most that an account gives one table. Lengthen leaseDuration, or leave maxShards out for an on-demand table.`,
    });
  }
}

/**
 * Where stream and lease table meet: a provisioned table must hold the leases of a stream that doubles.
 *
 * @throws when `maxShards` is known and fewer than three times the known `shardCount`
 */
export function checkMaxShards(path: string, maxShards: number | undefined, shardCount: number | undefined): void {
  if (maxShards === undefined || shardCount === undefined || Token.isUnresolved(shardCount)) return;
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
