/** Kinesis as the pipeline's source. */
import type { CommonConfig } from './config';
import type { KinesisConfig } from './config/kinesis';
import { type OpenedSource, type SourceContext, workerName } from './opened-source';
import { awsClients, createKinesisSource } from './sources/kinesis';

export interface KinesisSettings {
  readonly kinesis: KinesisConfig;
  readonly process: Pick<CommonConfig['process'], 'drainTimeoutMs'>;
}

export function openKinesis({ kinesis, process }: KinesisSettings, context: SourceContext): OpenedSource {
  const worker = workerName(kinesis.workerId, context.host);
  const aws = awsClients({ ...kinesis });
  const { drainTimeoutMs } = process;
  return {
    source: createKinesisSource({ ...kinesis, workerId: worker, ...aws, drainTimeoutMs, ...context }),
    worker,
    ownershipMarginMs: kinesis.ownershipMarginMs,
    close: () => aws.destroy(),
  };
}
