/** Before the first partition is claimed: hub and container must be there and let this identity in. */
import type { EventHubConsumerClient } from '@azure/event-hubs';
import { errorText, isEntityMissing, isNotFound, isRefused } from './azure-errors';
import type { BlobStore } from './blob-store';
import type { SourceSettings } from './options';

const RETRY_MS = 2_000;
const SAY_EVERY_MS = 60_000;
export const ROLES =
  'It needs the roles “Azure Event Hubs Data Receiver” on the hub and “Storage Blob Data Contributor” on the checkpoint container';

/**
 * Resolves when both answer, or when the signal aborts. Rejects at once when one does not exist, and when the identity
 * is still refused after the patience has ended.
 */
export async function awaitAccess(
  { client, store, settings }: { client: EventHubConsumerClient; store: BlobStore; settings: SourceSettings },
  waiting: (reason: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { host, log, patienceMs, eventHubName, container } = settings;
  const parts = [
    { name: `the container ${container.containerName}`, ask: () => store.check(), missing: isNotFound },
    {
      name: `the hub ${eventHubName}`,
      ask: () => client.getEventHubProperties({ abortSignal: signal }),
      missing: isEntityMissing,
    },
  ];
  const since = host.monotonic();
  let saidAt: number | undefined;
  for (const part of parts) {
    while (!signal.aborted) {
      try {
        await part.ask();
        break;
      } catch (error) {
        if (signal.aborted) return;
        const text = errorText(error);
        if (part.missing(error))
          throw new Error(`${part.name} does not exist (${text}). Create it, or correct its name.`);
        const waited = Math.round((host.monotonic() - since) / 1_000);
        const refused = isRefused(error);
        if (refused && waited * 1_000 >= patienceMs) {
          throw new Error(`${part.name} has refused this identity for ${waited} s: ${text}. ${ROLES}.`);
        }
        const reason = refused
          ? `${part.name} refuses this identity: ${text}`
          : `${part.name} does not answer: ${text}`;
        waiting(reason);
        if (saidAt === undefined || host.monotonic() - saidAt >= SAY_EVERY_MS) {
          saidAt = host.monotonic();
          log.warn(
            { waitedSeconds: waited },
            refused ? `${reason}. ${ROLES}; a new one takes minutes to arrive` : reason,
          );
        }
      }
      await host.sleep(RETRY_MS, signal);
    }
  }
}
