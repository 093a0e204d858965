import { Duration, type Size } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { Construct, type IConstruct } from 'constructs';

/** A stream of billing events. */
export interface IBillingStream extends IConstruct {
  readonly stream: kinesis.IStream;
  /** Open shards, when they are fixed: absent on demand. */
  readonly shardCount?: number;
  /** How long an event can still be read. Absent: unknown, as of an imported stream. */
  readonly retentionPeriod?: Duration;
  /** The largest record, which is the largest event. Absent: unknown, as of an imported stream. */
  readonly maxRecordSize?: Size;
  /** Lets a producer put events: PutRecord and PutRecords on this stream, and the use of its key. */
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

  grantPublish(grantee: iam.IGrantable): iam.Grant {
    this.stream.encryptionKey?.grantEncrypt(grantee);
    return this.stream.grant(grantee, 'kinesis:PutRecord', 'kinesis:PutRecords');
  }

  grantConsume(grantee: iam.IGrantable): iam.Grant {
    this.stream.encryptionKey?.grantDecrypt(grantee);
    return this.stream.grant(
      grantee,
      'kinesis:DescribeStreamSummary',
      'kinesis:GetRecords',
      'kinesis:GetShardIterator',
      'kinesis:ListShards',
    );
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
}
