import { Duration, RemovalPolicy, Size } from 'aws-cdk-lib';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { wrongProp } from '../shared/check';
import { MIN_RETENTION_HOURS } from '../shared/limits';
import { BillingStreamBase, type IBillingStream } from './billing-stream-base';
import { ImportedStream, type ImportedStreamOptions } from './imported-stream';

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
   * How long an event can still be read. At least 48 hours.
   * @default - 7 days
   */
  readonly retentionPeriod?: Duration;
  /**
   * Your own key. Needed when a producer is in another account.
   * @default - the key AWS manages for Kinesis
   */
  readonly encryptionKey?: kms.IKey;
  /**
   * Name of the stream.
   * @default - made by CloudFormation
   */
  readonly streamName?: string;
  /**
   * What becomes of the stream, and of the events in it, when the stack goes.
   * @default - kept, also when an update would replace it
   */
  readonly removalPolicy?: RemovalPolicy;
}

/** The Kinesis stream that carries billing events: encrypted, kept, retained for a week. */
export class BillingStream extends BillingStreamBase {
  /** A stream that exists already. Its retention and record size are checked by the runtime, not at synth. */
  static fromStream(
    scope: Construct,
    id: string,
    stream: kinesis.IStream,
    options: ImportedStreamOptions = {},
  ): IBillingStream {
    return new ImportedStream(scope, id, stream, options);
  }

  readonly stream: kinesis.Stream;
  readonly shardCount?: number;
  readonly retentionPeriod: Duration;
  readonly maxRecordSize: Size;

  constructor(scope: Construct, id: string, props: BillingStreamProps = {}) {
    super(scope, id);
    const mode = props.streamMode ?? kinesis.StreamMode.ON_DEMAND;
    this.retentionPeriod = props.retentionPeriod ?? Duration.days(7);
    this.maxRecordSize = Size.mebibytes(1);
    this.checkShards(mode, props.shardCount);
    this.checkRetention(this.retentionPeriod);

    this.stream = new kinesis.Stream(this, 'Resource', {
      streamMode: mode,
      ...(props.shardCount === undefined ? {} : { shardCount: props.shardCount }),
      retentionPeriod: this.retentionPeriod,
      ...(props.encryptionKey
        ? { encryption: kinesis.StreamEncryption.KMS, encryptionKey: props.encryptionKey }
        : { encryption: kinesis.StreamEncryption.MANAGED }),
      ...(props.streamName === undefined ? {} : { streamName: props.streamName }),
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    if (props.shardCount !== undefined) this.shardCount = props.shardCount;
  }

  private checkShards(mode: kinesis.StreamMode, shardCount: number | undefined): void {
    const path = this.node.path;
    const wayOut = 'One shard would stop all billing whenever it is resharded or its worker restarts.';
    if (mode === kinesis.StreamMode.PROVISIONED) {
      if (shardCount === undefined || shardCount < 2) {
        const received = shardCount === undefined ? 'not given' : String(shardCount);
        throw wrongProp({ path, prop: 'shardCount', received, allowed: '2 or more when PROVISIONED', wayOut });
      }
    } else if (shardCount !== undefined) {
      throw wrongProp({
        path,
        prop: 'shardCount',
        received: String(shardCount),
        allowed: 'none when the stream is on demand',
        wayOut: 'Leave it out, or say streamMode: StreamMode.PROVISIONED.',
      });
    }
  }

  private checkRetention(retentionPeriod: Duration): void {
    if (retentionPeriod.isUnresolved()) return;
    if (retentionPeriod.toHours({ integral: false }) < MIN_RETENTION_HOURS) {
      throw wrongProp({
        path: this.node.path,
        prop: 'retentionPeriod',
        received: `${retentionPeriod.toHours({ integral: false })} h`,
        allowed: `${MIN_RETENTION_HOURS} h or more`,
        wayOut:
          'Stripe may forget an idempotency key after 24 h, so a shorter stream would lose events before an outage is repaired. Leave it out for 7 days.',
      });
    }
  }
}
