/** `chargeonce publish`: lines of a file into the stream. */
import { publishToEventHub, readEventHubTarget } from './publish-event-hubs';
import { inputProblem } from './publish-files';
import { publishToKinesis, readKinesisTarget } from './publish-kinesis';
import type { Common } from './publish-report';
import { whole } from './publish-values';
import type { Verb, VerbContext } from './verb';

const HELP = `chargeonce publish <file|->: put each line of an NDJSON file into a Kinesis stream or an event hub

The bytes of a line are sent as they are, valid event or not; empty lines are skipped. The customer id is
the partition key (of a line without one: a hash of it). Only what failed is retried, and what was sent
without an answer is sent again: an event may be there twice, and order within a customer is not promised.
The ledger charges once all the same.

  --source kinesis | event-hubs
                              absent: SOURCE, or event-hubs when --hub is given, or kinesis
  --rate <n>                  at most n events a second; absent: as fast as the stream or hub takes them
  --undelivered <file>        writes the lines that could not be delivered to this file
  --json                      the report as one JSON document on stdout

Kinesis:
  --stream <name>             the stream; absent: STREAM_NAME
  --region <region>           absent: AWS_REGION or the profile
  --endpoint-url <url>        absent: AWS, or AWS_ENDPOINT_URL_KINESIS
  --max-record-bytes <n>      largest record with its key; absent: 1048576, up to 10485760 if the stream allows

Event Hubs:
  --hub <name>                the event hub; absent: EVENTHUB_NAME
  --namespace <host name>     e.g. contoso.servicebus.windows.net; absent: EVENTHUB_NAMESPACE. Logged in to with an
                              identity that may send (Azure Event Hubs Data Sender). A connection string, which is a
                              secret, is read from EVENTHUB_CONNECTION_STRING alone

Exit codes: 0 all delivered, 1 something was not, 2 could not start.
`;

const KINESIS_FLAGS = ['stream', 'region', 'endpoint-url', 'max-record-bytes'] as const;
const HUB_FLAGS = ['hub', 'namespace'] as const;

export const publishVerb: Verb = {
  name: 'publish',
  summary: 'put each line of an NDJSON file into the stream',
  help: HELP,
  options: {
    source: { type: 'string' },
    stream: { type: 'string' },
    region: { type: 'string' },
    'endpoint-url': { type: 'string' },
    hub: { type: 'string' },
    namespace: { type: 'string' },
    rate: { type: 'string' },
    'max-record-bytes': { type: 'string' },
    undelivered: { type: 'string' },
    json: { type: 'boolean' },
  },
  positionals: { min: 1, max: 1 },
  async run(context) {
    const source = readSource(context);
    if (source !== 'kinesis' && source !== 'event-hubs') return context.refuse(source.problem);
    const common = readCommon(context);
    if (typeof common === 'string') return context.refuse(common);
    if (source === 'kinesis') {
      const target = readKinesisTarget(context);
      if (typeof target === 'string') return context.refuse(target);
      const problem = await inputProblem(common.file);
      return problem === undefined ? publishToKinesis(common, target, context) : context.refuse(problem);
    }
    const target = readEventHubTarget(context);
    if (typeof target === 'string') return context.refuse(target);
    const problem = await inputProblem(common.file);
    return problem === undefined ? publishToEventHub(common, target, context) : context.refuse(problem);
  },
};

/** Where to; a flag of the other one is refused, since it would be ignored. */
function readSource({ shell, values }: VerbContext): 'kinesis' | 'event-hubs' | { readonly problem: string } {
  const said = values.source ?? (shell.env.SOURCE || undefined);
  const source = said ?? (values.hub === undefined ? 'kinesis' : 'event-hubs');
  if (source !== 'kinesis' && source !== 'event-hubs') {
    const from = values.source === undefined ? 'SOURCE' : '--source';
    return { problem: `${from}: received ${JSON.stringify(source)}; allowed: kinesis | event-hubs` };
  }
  const [others, other] = source === 'kinesis' ? [HUB_FLAGS, 'event-hubs'] : [KINESIS_FLAGS, 'kinesis'];
  const wrong = others.find((flag) => values[flag] !== undefined);
  if (wrong === undefined) return source;
  return { problem: `--${wrong}: belongs to --source ${other}, and the source is ${source}; leave one of them out` };
}

function readCommon({ values, positionals }: VerbContext): Common | string {
  const rate = whole(values.rate, 1, 1_000_000);
  if (rate === 'wrong') return `--rate: received ${values.rate}; allowed: records a second, 1 to 1000000`;
  const undelivered = values.undelivered === '' ? undefined : values.undelivered;
  return {
    file: positionals[0] ?? '-',
    json: values.json === true,
    ...(rate === undefined ? {} : { rate }),
    ...(typeof undelivered === 'string' ? { undelivered } : {}),
  };
}
