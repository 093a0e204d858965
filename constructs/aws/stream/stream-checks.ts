import { type Duration, type Size, SizeRoundingBehavior, Token } from 'aws-cdk-lib';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { MIN_RETENTION_HOURS } from '../../../runtime/contract';
import { wrongProp } from '../../shared/check';
import { MAX_RETENTION_HOURS } from '../../shared/limits';

const SMALLEST_RECORD_KIB = 1_024;
const LARGEST_RECORD_KIB = 10_240;

/** @throws when a provisioned stream has no shards or too few, or when an on-demand one is told how many */
export function checkShards(path: string, mode: kinesis.StreamMode, shardCount: number | undefined): void {
  const prop = 'shardCount';
  if (mode !== kinesis.StreamMode.PROVISIONED) {
    if (shardCount === undefined) return;
    const wayOut = 'Leave it out, or say streamMode: StreamMode.PROVISIONED.';
    throw wrongProp({ path, prop, received: String(shardCount), allowed: 'none when the stream is on demand', wayOut });
  }
  if (Token.isUnresolved(shardCount)) return;
  if (shardCount === undefined || shardCount < 2 || !Number.isInteger(shardCount)) {
    const received = shardCount === undefined ? 'not given' : String(shardCount);
    const wayOut = 'One shard would stop all billing whenever it is resharded or its worker restarts.';
    throw wrongProp({ path, prop, received, allowed: 'a whole number from 2 when PROVISIONED', wayOut });
  }
}

/** @throws when events would be gone before an outage is repaired, or when Kinesis does not keep them that long */
export function checkRetention(path: string, retentionPeriod: Duration): void {
  if (retentionPeriod.isUnresolved()) return;
  const hours = retentionPeriod.toHours({ integral: false });
  const given = { path, prop: 'retentionPeriod', received: `${hours} h` };
  if (hours < MIN_RETENTION_HOURS) {
    throw wrongProp({
      ...given,
      allowed: `${MIN_RETENTION_HOURS} h or more`,
      wayOut:
        'Stripe may forget an idempotency key after 24 h, so a shorter stream would lose events before an outage is repaired. Leave it out for 7 days.',
    });
  }
  if (hours > MAX_RETENTION_HOURS || !Number.isInteger(hours)) {
    const allowed = `whole hours from ${MIN_RETENTION_HOURS} to ${MAX_RETENTION_HOURS}`;
    throw wrongProp({ ...given, allowed, wayOut: 'Kinesis takes no other. Leave it out for 7 days.' });
  }
}

/** @throws when Kinesis takes no records of that size */
export function checkMaxRecordSize(path: string, maxRecordSize: Size): void {
  if (maxRecordSize.isUnresolved()) return;
  const kibibytes = maxRecordSize.toKibibytes({ rounding: SizeRoundingBehavior.NONE });
  if (!Number.isInteger(kibibytes) || kibibytes < SMALLEST_RECORD_KIB || kibibytes > LARGEST_RECORD_KIB) {
    throw wrongProp({
      path,
      prop: 'maxRecordSize',
      received: `${kibibytes} KiB`,
      allowed: 'whole KiB from 1 MiB to 10 MiB',
      wayOut: 'Kinesis takes no other. Leave it out for 1 MiB.',
    });
  }
}
