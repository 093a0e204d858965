import { Duration, type Size, Token } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as kms from 'aws-cdk-lib/aws-kms';
import { Construct, type IConstruct } from 'constructs';
import { wrongProp } from '../../shared/check';
import { isMadeHere } from '../made-here';
import { foreignAccounts } from './foreign-accounts';

/** A stream of billing events. */
export interface IBillingStream extends IConstruct {
  /** The stream itself. */
  readonly stream: kinesis.IStream;
  /** Open shards, when they are fixed: absent on demand. */
  readonly shardCount?: number;
  /** How long an event can still be read. Absent: unknown, as of an imported stream. */
  readonly retentionPeriod?: Duration;
  /** The largest record, which is the largest event. Absent: unknown, as of an imported stream. */
  readonly maxRecordSize?: Size;
  /**
   * Lets a producer put events: PutRecord and PutRecords on this stream, and the use of its key. For a producer of
   * another account the policies of stream and key are opened too; it names the stream by ARN, and its own account
   * grants it kinesis:PutRecord, kinesis:PutRecords and kms:GenerateDataKey on the two ARNs.
   *
   * @throws when the producer is of another account and nothing that is made here can let it in
   */
  grantPublish(grantee: iam.IGrantable): iam.Grant;
  /** Lets a worker read events by polling, and nothing else. */
  grantConsume(grantee: iam.IGrantable): iam.Grant;
  /** Age of the oldest event that was just read, in ms: how far the slowest shard lags behind. Maximum a minute. */
  metricIteratorAge(options?: cloudwatch.MetricOptions): cloudwatch.Metric;
  /** Writes that the stream refused because a shard was full. Sum a minute. */
  metricWriteThrottled(options?: cloudwatch.MetricOptions): cloudwatch.Metric;
  /** Records of PutRecords calls that were refused inside the stream, throttling apart. Sum a minute. */
  metricPutRecordsFailed(options?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** What a stream of events can do, whoever made it. */
export abstract class BillingStreamBase extends Construct implements IBillingStream {
  abstract readonly stream: kinesis.IStream;
  abstract readonly shardCount?: number;
  abstract readonly retentionPeriod?: Duration;
  abstract readonly maxRecordSize?: Size;
  /** The key that the records are encrypted with, if it is the user's own. */
  protected abstract readonly key?: kms.IKey;
  /** Whether records are encrypted at all, as far as it is known. */
  protected abstract readonly encrypted: boolean;

  grantPublish(grantee: iam.IGrantable): iam.Grant {
    this.checkPublisher(foreignAccounts(grantee, this.stream.env.account));
    const put = this.stream.grant(grantee, 'kinesis:PutRecord', 'kinesis:PutRecords');
    return this.key ? put.combine(this.key.grant(grantee, 'kms:GenerateDataKey')) : put;
  }

  grantConsume(grantee: iam.IGrantable): iam.Grant {
    const read = this.stream.grant(
      grantee,
      'kinesis:DescribeStreamSummary',
      'kinesis:GetRecords',
      'kinesis:GetShardIterator',
      'kinesis:ListShards',
    );
    return this.key ? read.combine(this.key.grant(grantee, 'kms:Decrypt')) : read;
  }

  metricIteratorAge(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('GetRecords.IteratorAgeMilliseconds', 'Maximum', options);
  }

  metricWriteThrottled(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteProvisionedThroughputExceeded', 'Sum', options);
  }

  metricPutRecordsFailed(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('PutRecords.FailedRecords', 'Sum', options);
  }

  /** The stream's own metric, with its name as dimension: one without would match nothing. */
  private metric(name: string, statistic: string, options: cloudwatch.MetricOptions = {}): cloudwatch.Metric {
    return this.stream.metric(name, { statistic, period: Duration.minutes(1), ...options });
  }

  /** Another account gets in by the policies of stream and key alone; those of imported ones cannot be changed here. */
  private checkPublisher(foreign: readonly string[]): void {
    if (foreign.length === 0) return;
    const refuse = (allowed: string, wayOut: string): Error =>
      wrongProp({ path: this.node.path, prop: 'grantPublish', received: `for ${foreign.join(', ')}`, allowed, wayOut });
    const { account } = this.stream.env;
    const here = `principals of the stream’s own account${Token.isUnresolved(account) ? '' : ` (${account})`}`;
    if (!isMadeHere(this.stream)) {
      throw refuse(
        here,
        'The stream is imported, so that its resource policy cannot be changed here: grant where it is made.',
      );
    }
    if (this.encrypted && this.key === undefined) {
      throw refuse(
        here,
        'No other account can use the key that AWS manages: give the stream an encryptionKey, or grant to a role of this account that the producer assumes.',
      );
    }
    if (this.key !== undefined && !isMadeHere(this.key)) {
      throw refuse(
        here,
        'The encryptionKey is imported, so that its policy cannot be changed here: give a kms.Key that is made in this app, or grant to a role of this account that the producer assumes.',
      );
    }
  }
}
