/** `chargeonce publish`: lines of a file into the stream. */
import { createReadStream } from 'node:fs';
import type { Shell } from '../host';
import { inputProblem, type NamedLine, openLeftOver } from './publish-files';
import { publishProgress } from './publish-progress';
import type { ExitCode, Verb, VerbContext } from './verb';

const HELP = `chargeonce publish <file|->: put each line of an NDJSON file into a Kinesis stream

The bytes of a line are sent as they are, valid event or not; empty lines are skipped. The customer id is
the partition key (of a line without one: a hash of it). Only entries that failed are retried, so a record
may arrive twice and order within a customer is not promised: the ledger charges once all the same.

  --stream <name>             the stream; absent: STREAM_NAME
  --region <region>           absent: AWS_REGION or the profile
  --endpoint-url <url>        absent: AWS, or AWS_ENDPOINT_URL_KINESIS
  --rate <n>                  at most n records a second; absent: as fast as the stream takes them
  --max-record-bytes <n>      largest record with its key; absent: 1048576, up to 10485760 if the stream allows
  --undelivered <file>        writes the lines that could not be delivered to this file
  --json                      the report as one JSON document on stdout

Exit codes: 0 all delivered, 1 something was not, 2 could not start.
`;

const LONGEST_LINE = 10 * 1024 * 1024;
const STREAM_NAME = /^[a-zA-Z0-9_.-]{1,128}$/;

interface Settings {
  readonly file: string;
  readonly stream: string;
  readonly json: boolean;
  readonly region?: string;
  readonly endpoint?: string;
  readonly rate?: number;
  readonly maxRecordBytes?: number;
  readonly undelivered?: string;
}

export const publishVerb: Verb = {
  name: 'publish',
  summary: 'put each line of an NDJSON file into the stream',
  help: HELP,
  options: {
    stream: { type: 'string' },
    region: { type: 'string' },
    'endpoint-url': { type: 'string' },
    rate: { type: 'string' },
    'max-record-bytes': { type: 'string' },
    undelivered: { type: 'string' },
    json: { type: 'boolean' },
  },
  positionals: { min: 1, max: 1 },
  async run(context) {
    const settings = readSettings(context);
    if (typeof settings === 'string') return context.refuse(settings);
    const problem = await inputProblem(settings.file);
    return problem === undefined ? publish(settings, context) : context.refuse(problem);
  },
};

function readSettings({ shell, values, positionals }: VerbContext): Settings | string {
  const text = (name: string) => (typeof values[name] === 'string' && values[name] !== '' ? values[name] : undefined);
  const stream = values.stream ?? (shell.env.STREAM_NAME || undefined);
  if (stream === undefined) {
    return 'received no --stream, and STREAM_NAME is not set; say which stream to publish to, e.g. --stream usage';
  }
  if (typeof stream !== 'string' || !STREAM_NAME.test(stream)) {
    const from = values.stream === undefined ? 'STREAM_NAME' : '--stream';
    return `${from}: received ${JSON.stringify(stream)}; allowed: the name of a stream (not its ARN), up to 128 letters, digits, dots, dashes and underscores`;
  }
  const rate = whole(text('rate'), 1, 1_000_000);
  if (rate === 'wrong') return `--rate: received ${text('rate')}; allowed: records a second, 1 to 1000000`;
  const most = whole(text('max-record-bytes'), 1, LONGEST_LINE);
  if (most === 'wrong')
    return `--max-record-bytes: received ${text('max-record-bytes')}; allowed: 1 to ${LONGEST_LINE}`;
  const endpoint = text('endpoint-url');
  if (endpoint !== undefined && !URL.canParse(endpoint)) {
    return `--endpoint-url: received ${endpoint}; allowed: an address such as http://127.0.0.1:4568`;
  }
  const [region, undelivered] = [text('region') ?? (shell.env.AWS_REGION || undefined), text('undelivered')];
  return {
    file: positionals[0]!,
    stream,
    json: values.json === true,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(rate === undefined ? {} : { rate }),
    ...(most === undefined ? {} : { maxRecordBytes: most }),
    ...(undelivered === undefined ? {} : { undelivered }),
  };
}

function whole(text: string | undefined, min: number, max: number): number | undefined | 'wrong' {
  if (text === undefined) return undefined;
  const number = Number(text);
  return /^\d{1,9}$/.test(text) && number >= min && number <= max ? number : 'wrong';
}

async function publish(settings: Settings, { shell, host, refuse }: VerbContext): Promise<ExitCode> {
  // Loaded only here, so that the other verbs work without the AWS SDK.
  const { createPublisherClient } = await import('../sources/kinesis/publisher-client.js');
  const { createPublisher } = await import('../sources/kinesis/publisher.js');
  const { splitLines } = await import('../sources/kinesis/publisher-lines.js');
  const client = createPublisherClient(settings);
  if ((await client.config.region().catch(() => '')) === '')
    return refuse('no region: give --region or set AWS_REGION');
  const left = await openLeftOver(settings.undelivered, settings.file);
  if (typeof left === 'string') return refuse(left);
  const progress = publishProgress(shell, host);
  const publisher = createPublisher({
    client,
    streamName: settings.stream,
    host,
    ...(settings.maxRecordBytes === undefined ? {} : { maxRecordBytes: settings.maxRecordBytes }),
    ...(settings.rate === undefined ? {} : { recordsPerSecond: settings.rate }),
    onProgress: progress.show,
    onUndelivered: left.add,
  });
  const result = await publisher.publish(splitLines(input(settings.file, shell), LONGEST_LINE));
  progress.end(result);
  left.close();
  client.destroy();
  const report = { stream: settings.stream, ...result, lines: left.named };
  shell.out(settings.json ? `${JSON.stringify(report)}\n` : words(report));
  return result.undelivered === 0 ? 0 : 1;
}

function input(file: string, shell: Shell): AsyncIterable<Uint8Array> {
  return file === '-' ? shell.stdin() : (createReadStream(file) as AsyncIterable<Uint8Array>);
}

interface Report {
  readonly stream: string;
  readonly read: number;
  readonly sent: number;
  readonly retried: number;
  readonly undelivered: number;
  readonly requests: number;
  readonly lines: readonly NamedLine[];
}

function words(report: Report): string {
  const unnamed = report.undelivered - report.lines.length;
  return [
    `${report.stream}: sent ${report.sent} of ${report.read} records; requests: ${report.requests}, retried: ${report.retried}`,
    ...(report.undelivered === 0 ? [] : [`not delivered: ${report.undelivered}`]),
    ...report.lines.map(({ line, reason }) => `  line ${line}: ${reason}`),
    ...(unnamed > 0 ? [`  and ${unnamed} more`] : []),
    '',
  ].join('\n');
}
