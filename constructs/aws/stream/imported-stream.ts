import { Annotations, Duration, Size } from 'aws-cdk-lib';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { wrongProp } from '../../shared/check';
import { resourceOf } from '../made-here';
import { BillingStreamBase } from './billing-stream-base';
import { checkRetention } from './stream-checks';

/** What is known of a stream that somebody else made. */
export interface ImportedStreamOptions {
  /**
   * Open shards, when their number is fixed: more tasks than shards are then refused at synth.
   * @default - what the stream is made with in this app, otherwise unknown
   */
  readonly shardCount?: number;
  /**
   * The key of your own that the stream is encrypted with.
   * @default - the stream's `encryptionKey`, as `fromStreamAttributes` is told
   */
  readonly encryptionKey?: kms.IKey;
  /**
   * How the stream is encrypted. Say MANAGED or UNENCRYPTED, and nothing warns of a missing `encryptionKey`.
   * @default - unknown without a key
   */
  readonly encryption?: kinesis.StreamEncryption;
}

/** A stream that is not made by a BillingStream. */
export class ImportedStream extends BillingStreamBase {
  readonly stream: kinesis.IStream;
  readonly shardCount?: number;
  readonly retentionPeriod?: Duration;
  readonly maxRecordSize?: Size;
  protected readonly key?: kms.IKey;
  protected readonly encrypted: boolean;

  constructor(scope: Construct, id: string, stream: kinesis.IStream, options: ImportedStreamOptions) {
    super(scope, id);
    this.stream = stream;
    const made = resourceOf(stream) as kinesis.CfnStream | undefined;

    const shardCount = options.shardCount ?? made?.shardCount;
    if (shardCount !== undefined) this.shardCount = shardCount;
    if (made?.retentionPeriodHours !== undefined) {
      this.retentionPeriod = Duration.hours(made.retentionPeriodHours);
      checkRetention(this.node.path, this.retentionPeriod);
    }
    if (made?.maxRecordSizeInKiB !== undefined) this.maxRecordSize = Size.kibibytes(made.maxRecordSizeInKiB);

    const key = options.encryptionKey ?? stream.encryptionKey;
    if (key !== undefined) this.key = key;
    this.encrypted =
      options.encryption === undefined
        ? made === undefined || made.streamEncryption !== undefined
        : options.encryption !== kinesis.StreamEncryption.UNENCRYPTED;
    this.checkEncryption(options.encryption, made === undefined);
  }

  /** What is encrypted with a key that nobody names cannot be read: AWS would say so to the first worker. */
  private checkEncryption(said: kinesis.StreamEncryption | undefined, imported: boolean): void {
    const path = this.node.path;
    if (said === kinesis.StreamEncryption.KMS && this.key === undefined) {
      throw wrongProp({
        path,
        prop: 'encryptionKey',
        received: 'not given',
        allowed: 'the key, when encryption is KMS',
        wayOut: 'Without it no worker may decrypt and no producer may encrypt. Give kms.Key.fromKeyArn(…).',
      });
    }
    if (said !== undefined && said !== kinesis.StreamEncryption.KMS && this.key !== undefined) {
      throw wrongProp({
        path,
        prop: 'encryption',
        received: `${said} beside an encryptionKey`,
        allowed: 'KMS, or none',
        wayOut: 'Leave it out: it follows from the key.',
      });
    }
    if (imported && this.key === undefined && said === undefined) {
      Annotations.of(this).addWarningV2(
        'chargeonce:stream-key-unknown',
        'The stream is imported without its key. If it is encrypted with a key of your own, workers cannot read it ' +
          'until that key is given: BillingStream.fromStream(…, { encryptionKey }). If it is not, say ' +
          '{ encryption: StreamEncryption.MANAGED }, or UNENCRYPTED.',
      );
    }
  }
}
