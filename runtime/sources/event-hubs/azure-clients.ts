/** The clients of the source: how they log in, and how long and how often they try. */
import {
  EventHubConsumerClient,
  type EventHubConsumerClientOptions,
  parseEventHubConnectionString,
  RetryMode,
  type RetryOptions,
} from '@azure/event-hubs';
import type { TokenCredential } from '@azure/identity';
import { ContainerClient, type StoragePipelineOptions } from '@azure/storage-blob';
import type { BlobStore } from './blob-store';
import { LOOKS_PER_OWNERSHIP } from './options';

export interface AzureClientsOptions {
  readonly eventHubName: string;
  readonly consumerGroup: string;
  readonly hub: { readonly fullyQualifiedNamespace: string } | { readonly connectionString: string };
  readonly checkpoints:
    | { readonly containerUrl: string }
    | { readonly connectionString: string; readonly container: string };
  /** In place of the namespace's own address: a private endpoint's, or a local one. */
  readonly endpointAddress?: string;
  /** Of a user-assigned identity. Default: what the credential finds by itself. */
  readonly clientId?: string;
  /** Ownership that is not renewed for so long is free for others. The same for every worker. */
  readonly ownershipMs: number;
}

export interface AzureClients {
  readonly container: ContainerClient;
  /** Host name of the namespace, wherever the connection goes. */
  readonly namespace: string;
  /** A client on a connection of its own. */
  readonly connect: (store: BlobStore) => EventHubConsumerClient;
}

/** All tries of one request end before the ownership does: it is renewed on the same connection, in turn. */
const HUB_RETRIES: RetryOptions = {
  mode: RetryMode.Exponential,
  maxRetries: 2,
  timeoutInMs: 10_000,
  retryDelayInMs: 500,
  maxRetryDelayInMs: 5_000,
};
/** A lost answer is asked for once more; whether a repeated write met its own first copy is seen by reading. */
const BLOB_PIPELINE: StoragePipelineOptions = {
  retryOptions: { maxTries: 2, tryTimeoutInMs: 4_000, retryDelayInMs: 200, maxRetryDelayInMs: 1_000 },
};

/**
 * With a connection string no identity is asked for, and none is loaded. Otherwise the credential is
 * what `DefaultAzureCredential` finds: the environment's, the workload's, a managed identity, a login of `az`.
 */
export async function azureClients(options: AzureClientsOptions): Promise<AzureClients> {
  const { hub, checkpoints, eventHubName, consumerGroup, clientId } = options;
  let identity: Promise<TokenCredential> | undefined;
  const login = () => {
    identity ??= credential(clientId);
    return identity;
  };
  const container =
    'connectionString' in checkpoints
      ? new ContainerClient(checkpoints.connectionString, checkpoints.container, BLOB_PIPELINE)
      : new ContainerClient(checkpoints.containerUrl, await login(), BLOB_PIPELINE);
  if ('connectionString' in hub) {
    const { connectionString } = hub;
    const connect = (store: BlobStore) =>
      new EventHubConsumerClient(consumerGroup, connectionString, eventHubName, store, hubOptions(options, store));
    return { container, connect, namespace: hostOf(connectionString) };
  }
  const hubLogin = await login();
  const { fullyQualifiedNamespace: namespace } = hub;
  const connect = (store: BlobStore) =>
    new EventHubConsumerClient(consumerGroup, namespace, eventHubName, hubLogin, store, hubOptions(options, store));
  return { container, connect, namespace };
}

async function credential(clientId: string | undefined): Promise<TokenCredential> {
  const { DefaultAzureCredential } = await import('@azure/identity');
  return new DefaultAzureCredential(clientId === undefined ? {} : { managedIdentityClientId: clientId });
}

function hubOptions(options: AzureClientsOptions, store: BlobStore): EventHubConsumerClientOptions {
  const { ownershipMs, endpointAddress } = options;
  return {
    identifier: store.owner,
    retryOptions: HUB_RETRIES,
    ...(endpointAddress === undefined ? {} : { customEndpointAddress: withScheme(endpointAddress) }),
    loadBalancingOptions: {
      // The other one takes a single partition in each look: minutes until 32 are read.
      strategy: 'greedy',
      updateIntervalInMs: ownershipMs / LOOKS_PER_OWNERSHIP,
      partitionOwnershipExpirationIntervalInMs: ownershipMs,
    },
  };
}

/** Without a port, as the client files blobs. */
function hostOf(connectionString: string): string {
  return new URL(parseEventHubConnectionString(connectionString).endpoint).hostname;
}

function withScheme(address: string): string {
  return address.includes('://') ? address : `sb://${address}`;
}
