/** What `chargeonce/runtime/event-hubs` gives: Event Hubs as a source of billing events, for a worker of your own. */
import './event-hubs-peers';

export {
  type AzureClients,
  type AzureClientsOptions,
  azureClients,
  type BlobStore,
  createEventHubsSource,
  type EventHubsSourceOptions,
} from './sources/event-hubs';
export { type CapturedDelivery, type CaptureFile, readCapture } from './sources/event-hubs/capture';
export { CaptureFileError } from './sources/event-hubs/capture-container';
export { CAPTURE_NAME_FORMAT } from './sources/event-hubs/capture-place';
