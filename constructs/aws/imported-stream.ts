import type { Duration, Size } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { Construct } from 'constructs';
import { BillingStreamBase } from './billing-stream-base';

export interface ImportedStreamOptions {
  /**
   * Open shards, when their number is fixed: more tasks than shards are then refused at synth.
   * @default - unknown, as on demand
   */
  readonly shardCount?: number;
}

/** A stream that somebody else made. */
export class ImportedStream extends BillingStreamBase {
  readonly stream: kinesis.IStream;
  readonly shardCount?: number;
  readonly retentionPeriod?: Duration;
  readonly maxRecordSize?: Size;

  constructor(scope: Construct, id: string, stream: kinesis.IStream, options: ImportedStreamOptions) {
    super(scope, id);
    this.stream = stream;
    if (options.shardCount !== undefined) this.shardCount = options.shardCount;
  }
}
