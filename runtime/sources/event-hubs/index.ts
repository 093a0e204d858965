/** Event Hubs as a source of billing events. */
export { type AzureClients, type AzureClientsOptions, azureClients } from './azure-clients';
export type { BlobStore } from './blob-store';
export { createEventHubsSource, type EventHubsSourceOptions } from './source';
