/** `chargeonce publish` to an event hub. */
import { EVENT_HUB_NAME, NAMESPACE_HOST } from '../contract/event-hub-names';
import { openLeftOver } from './publish-files';
import { publishProgress } from './publish-progress';
import { type Common, input, LONGEST_LINE, words } from './publish-report';
import type { ExitCode, VerbContext } from './verb';

export interface EventHubTarget {
  readonly eventHubName: string;
  readonly hub: { readonly fullyQualifiedNamespace: string } | { readonly connectionString: string };
  readonly endpointAddress?: string;
  readonly clientId?: string;
}

/** Which hub, or what is wrong with how it was said. Nothing of a connection string is shown. */
export function readEventHubTarget({ shell, values }: VerbContext): EventHubTarget | string {
  const { env } = shell;
  const hubName = values.hub ?? (env.EVENTHUB_NAME || undefined);
  if (hubName === undefined) {
    return 'received no --hub, and EVENTHUB_NAME is not set; say which event hub to publish to, e.g. --hub usage';
  }
  if (typeof hubName !== 'string' || !EVENT_HUB_NAME.test(hubName)) {
    const from = values.hub === undefined ? 'EVENTHUB_NAME' : '--hub';
    return `${from}: received ${JSON.stringify(hubName)}; allowed: the name of an event hub, up to 256 letters, digits, dots, dashes and underscores`;
  }
  const hub = readHub(env, values.namespace, hubName);
  if (typeof hub === 'string') return hub;
  const { EVENTHUB_ENDPOINT_ADDRESS: endpointAddress, AZURE_CLIENT_ID: clientId } = env;
  return {
    eventHubName: hubName,
    hub,
    ...(endpointAddress ? { endpointAddress } : {}),
    ...(clientId ? { clientId } : {}),
  };
}

function readHub(
  env: VerbContext['shell']['env'],
  flag: string | boolean | undefined,
  hubName: string,
): EventHubTarget['hub'] | string {
  const connectionString = env.EVENTHUB_CONNECTION_STRING || undefined;
  const namespace = flag ?? (env.EVENTHUB_NAMESPACE || undefined);
  const from = flag === undefined ? 'EVENTHUB_NAMESPACE' : '--namespace';
  if (namespace !== undefined && connectionString !== undefined) {
    return `${from}: received ${JSON.stringify(namespace)}; allowed: nothing beside EVENTHUB_CONNECTION_STRING; keep one of them`;
  }
  if (connectionString !== undefined) return readConnectionString(connectionString, hubName);
  if (namespace === undefined) {
    return 'received no --namespace, and neither EVENTHUB_NAMESPACE nor EVENTHUB_CONNECTION_STRING is set; say where the event hub is, e.g. --namespace contoso.servicebus.windows.net';
  }
  if (typeof namespace !== 'string' || !NAMESPACE_HOST.test(namespace)) {
    return `${from}: received ${JSON.stringify(namespace)}; allowed: the full host name of a namespace, e.g. contoso.servicebus.windows.net, without sb:// and without a port`;
  }
  return { fullyQualifiedNamespace: namespace };
}

function readConnectionString(connectionString: string, hubName: string): EventHubTarget['hub'] | string {
  const named = /(?:^|;)\s*EntityPath=([^;]*)/i.exec(connectionString)?.[1];
  if (named !== undefined && named !== hubName) {
    return `EVENTHUB_CONNECTION_STRING: received EntityPath=${named}; allowed: none, or ${hubName}, which is the hub to publish to`;
  }
  // The client takes these names in this very spelling.
  const has = (name: string) => new RegExp(`(?:^|;)\\s*${name}\\s*=\\s*[^;\\s]`).test(connectionString);
  const key = has('SharedAccessSignature') || (has('SharedAccessKeyName') && has('SharedAccessKey'));
  if (!key || !/(?:^|;)\s*Endpoint\s*=\s*sb:\/\/[^;]+/.test(connectionString)) {
    return 'EVENTHUB_CONNECTION_STRING: allowed: Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…; copy it from the shared access policy of the namespace';
  }
  return { connectionString };
}

export async function publishToEventHub(
  common: Common,
  target: EventHubTarget,
  context: VerbContext,
): Promise<ExitCode> {
  const { shell, host, refuse } = context;
  // Loaded only here, so that the other verbs work without the Azure SDK.
  const { createProducer } = await import('../sources/event-hubs/publisher-client.js');
  const { createHubPublisher } = await import('../sources/event-hubs/publisher.js');
  const { splitLines } = await import('../sources/publishing/lines.js');
  const left = await openLeftOver(common.undelivered, common.file);
  if (typeof left === 'string') return refuse(left);
  const producer = await createProducer(target);
  const progress = publishProgress(shell, host);
  const publisher = createHubPublisher({
    producer,
    host,
    ...(common.rate === undefined ? {} : { eventsPerSecond: common.rate }),
    onProgress: progress.show,
    onUndelivered: left.add,
  });
  try {
    const result = await publisher.publish(splitLines(input(common.file, shell), LONGEST_LINE));
    progress.end(result);
    const report = { eventHub: target.eventHubName, ...result, lines: left.named };
    shell.out(
      common.json ? `${JSON.stringify(report)}\n` : words({ ...report, target: target.eventHubName, noun: 'events' }),
    );
    return result.undelivered === 0 ? 0 : 1;
  } finally {
    left.close();
    await producer.close();
  }
}
