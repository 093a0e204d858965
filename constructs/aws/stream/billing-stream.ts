import { Duration, RemovalPolicy, Size } from 'aws-cdk-lib';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { refuseSnapshot } from '../removal-check';
import { BillingStreamBase, type IBillingStream } from './billing-stream-base';
import { ImportedStream, type ImportedStreamOptions } from './imported-stream';
import { checkMaxRecordSize, checkRetention, checkShards } from './stream-checks';

export interface BillingStreamProps {
  /**
   * How the stream is scaled.
   * @default - on demand: a throttled producer would lose events
   */
  readonly streamMode?: kinesis.StreamMode;
  /**
   * Shards of a provisioned stream, at least 2.
   * @default - none: required when the mode is PROVISIONED, refused otherwise
   */
  readonly shardCount?: number;
  /**
   * How long an event can still be read, 48 hours to 365 days: time to notice an outage and to repair it.
   * @default - 7 days
   */
  readonly retentionPeriod?: Duration;
  /**
   * Your own key. Needed when a producer is in another account: no other account can use the one that AWS manages.
   * @default - the key AWS manages for Kinesis
   */
  readonly encryptionKey?: kms.IKey;
  /**
   * The largest record, and so the largest event, from 1 to 10 MiB. The decoder's limit follows.
   * @default Size.mebibytes(1)
   */
  readonly maxRecordSize?: Size;
  /**
   * Name of the stream.
   * @default - made by CloudFormation
   */
  readonly streamName?: string;
  /**
   * Metrics that CloudWatch keeps for each shard, at a price for each shard.
   * @default - none: the stream's own metrics suffice for the alarms
   */
  readonly shardLevelMetrics?: kinesis.ShardLevelMetrics[];
  /**
   * What becomes of the stream, and of the events in it, when the stack goes.
   * @default - kept, also when an update would replace it
   */
  readonly removalPolicy?: RemovalPolicy;
}

/** The Kinesis stream that carries billing events: encrypted, kept, retained for a week. */
export class BillingStream extends BillingStreamBase {
  /**
   * A stream that is made elsewhere. One of this app is refused when it keeps events for less than 48 hours; of any
   * other a worker warns when it starts.
   */
  static fromStream(
    scope: Construct,
    id: string,
    stream: kinesis.IStream,
    options: ImportedStreamOptions = {},
  ): IBillingStream {
    return new ImportedStream(scope, id, stream, options);
  }

  /** The stream itself. */
  readonly stream: kinesis.Stream;
  readonly shardCount?: number;
  readonly retentionPeriod: Duration;
  readonly maxRecordSize: Size;
  protected readonly key?: kms.IKey;
  protected readonly encrypted = true;

  /**
   * @throws when a provisioned stream has fewer than 2 shards or an on-demand one is told how many; when events are kept
   * for less than 48 hours or more than 365 days; when records are to be smaller than 1 MiB or larger than 10 MiB;
   * when a snapshot is to be left behind
   */
  constructor(scope: Construct, id: string, props: BillingStreamProps = {}) {
    super(scope, id);
    const mode = props.streamMode ?? kinesis.StreamMode.ON_DEMAND;
    this.retentionPeriod = props.retentionPeriod ?? Duration.days(7);
    this.maxRecordSize = props.maxRecordSize ?? Size.mebibytes(1);
    checkShards(this.node.path, mode, props.shardCount);
    checkRetention(this.node.path, this.retentionPeriod);
    checkMaxRecordSize(this.node.path, this.maxRecordSize);
    refuseSnapshot(this.node.path, props.removalPolicy);

    this.stream = new kinesis.Stream(this, 'Resource', {
      streamMode: mode,
      ...(props.shardCount === undefined ? {} : { shardCount: props.shardCount }),
      retentionPeriod: this.retentionPeriod,
      ...(props.encryptionKey
        ? { encryption: kinesis.StreamEncryption.KMS, encryptionKey: props.encryptionKey }
        : { encryption: kinesis.StreamEncryption.MANAGED }),
      ...(props.streamName === undefined ? {} : { streamName: props.streamName }),
      ...(props.shardLevelMetrics === undefined ? {} : { shardLevelMetrics: props.shardLevelMetrics }),
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    if (props.maxRecordSize !== undefined) {
      (this.stream.node.defaultChild as kinesis.CfnStream).maxRecordSizeInKiB = props.maxRecordSize.toKibibytes();
    }
    if (props.encryptionKey !== undefined) this.key = props.encryptionKey;
    if (props.shardCount !== undefined) this.shardCount = props.shardCount;
  }
}
