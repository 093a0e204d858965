/** `chargeonce publish` to a Kinesis stream. */
import { openLeftOver } from './publish-files';
import { publishProgress } from './publish-progress';
import { type Common, input, LONGEST_LINE, words } from './publish-report';
import { textOf, whole } from './publish-values';
import type { ExitCode, VerbContext } from './verb';

export interface KinesisTarget {
  readonly stream: string;
  readonly region?: string;
  readonly endpoint?: string;
  readonly maxRecordBytes?: number;
}

const STREAM_NAME = /^[a-zA-Z0-9_.-]{1,128}$/;

/** Which stream, or what is wrong with how it was said. */
export function readKinesisTarget({ shell, values }: VerbContext): KinesisTarget | string {
  const stream = values.stream ?? (shell.env.STREAM_NAME || undefined);
  if (stream === undefined) {
    return 'received no --stream, and STREAM_NAME is not set; say which stream to publish to, e.g. --stream usage';
  }
  if (typeof stream !== 'string' || !STREAM_NAME.test(stream)) {
    const from = values.stream === undefined ? 'STREAM_NAME' : '--stream';
    return `${from}: received ${JSON.stringify(stream)}; allowed: the name of a stream (not its ARN), up to 128 letters, digits, dots, dashes and underscores`;
  }
  const most = whole(values['max-record-bytes'], 1, LONGEST_LINE);
  if (most === 'wrong') {
    return `--max-record-bytes: received ${values['max-record-bytes']}; allowed: 1 to ${LONGEST_LINE}`;
  }
  const endpoint = textOf(values['endpoint-url']);
  if (endpoint !== undefined && !URL.canParse(endpoint)) {
    return `--endpoint-url: received ${endpoint}; allowed: an address such as http://127.0.0.1:4568`;
  }
  const region = textOf(values.region) ?? (shell.env.AWS_REGION || undefined);
  return {
    stream,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(most === undefined ? {} : { maxRecordBytes: most }),
  };
}

export async function publishToKinesis(common: Common, target: KinesisTarget, context: VerbContext): Promise<ExitCode> {
  const { shell, host, refuse } = context;
  // Loaded only here, so that the other verbs work without the AWS SDK.
  const { createPublisherClient } = await import('../sources/kinesis/publisher-client.js');
  const { createPublisher } = await import('../sources/kinesis/publisher.js');
  const { splitLines } = await import('../sources/publishing/lines.js');
  const client = createPublisherClient(target);
  if ((await client.config.region().catch(() => '')) === '')
    return refuse('no region: give --region or set AWS_REGION');
  const left = await openLeftOver(common.undelivered, common.file);
  if (typeof left === 'string') return refuse(left);
  const progress = publishProgress(shell, host);
  const publisher = createPublisher({
    client,
    streamName: target.stream,
    host,
    ...(target.maxRecordBytes === undefined ? {} : { maxRecordBytes: target.maxRecordBytes }),
    ...(common.rate === undefined ? {} : { recordsPerSecond: common.rate }),
    onProgress: progress.show,
    onUndelivered: left.add,
  });
  const result = await publisher.publish(splitLines(input(common.file, shell), LONGEST_LINE));
  progress.end(result);
  left.close();
  client.destroy();
  const report = { stream: target.stream, ...result, lines: left.named };
  shell.out(common.json ? `${JSON.stringify(report)}\n` : words({ ...report, target: target.stream, noun: 'records' }));
  return result.undelivered === 0 ? 0 : 1;
}
