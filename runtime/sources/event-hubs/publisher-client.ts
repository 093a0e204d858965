/** The client the command line publishes with. */
import { type EventHubClientOptions, EventHubProducerClient } from '@azure/event-hubs';

export interface ProducerOptions {
  readonly eventHubName: string;
  readonly hub: { readonly fullyQualifiedNamespace: string } | { readonly connectionString: string };
  /** In place of the namespace's own address: `sb://host:port` or `host:port`. */
  readonly endpointAddress?: string;
  /** Of a user-assigned identity. Absent: what the credential finds by itself. */
  readonly clientId?: string;
  /** Milliseconds that a send waits for its answer. Absent: 15000. */
  readonly timeoutMs?: number;
}

/** Retries off, because the publisher retries by batch and counts it. With a connection string no identity is loaded. */
export async function createProducer(options: ProducerOptions): Promise<EventHubProducerClient> {
  const { hub, eventHubName, endpointAddress, clientId, timeoutMs = 15_000 } = options;
  const settings: EventHubClientOptions = {
    retryOptions: { maxRetries: 0, timeoutInMs: timeoutMs },
    ...(endpointAddress === undefined
      ? {}
      : { customEndpointAddress: endpointAddress.includes('://') ? endpointAddress : `sb://${endpointAddress}` }),
  };
  if ('connectionString' in hub) return new EventHubProducerClient(hub.connectionString, eventHubName, settings);
  const { DefaultAzureCredential } = await import('@azure/identity');
  const credential = new DefaultAzureCredential(clientId === undefined ? {} : { managedIdentityClientId: clientId });
  return new EventHubProducerClient(hub.fullyQualifiedNamespace, eventHubName, credential, settings);
}
