/** Event Hubs as the pipeline's source. */
import type { CommonConfig } from './config';
import type { EventHubsConfig } from './config/event-hubs';
import { type OpenedSource, type SourceContext, workerName } from './opened-source';
import { azureClients, createEventHubsSource } from './sources/event-hubs';

export interface EventHubsSettings {
  readonly eventHubs: EventHubsConfig;
  readonly process: Pick<CommonConfig['process'], 'drainTimeoutMs'>;
}

export async function openEventHubs(
  { eventHubs, process }: EventHubsSettings,
  context: SourceContext,
): Promise<OpenedSource> {
  const worker = workerName(eventHubs.workerId, context.host);
  const clients = await azureClients(eventHubs);
  const { drainTimeoutMs } = process;
  const { host, log, metrics } = context;
  return {
    source: createEventHubsSource({ ...eventHubs, ...clients, workerId: worker, drainTimeoutMs, host, log, metrics }),
    worker,
    ownershipMarginMs: eventHubs.ownershipMarginMs,
    close: () => undefined,
  };
}
