import type { WrongArg } from '../shared/wrong-args';

/** What of an account's blob service matters to checkpoints. Anything may be unknown in a preview. */
export interface BlobSettings {
  readonly isVersioningEnabled?: unknown;
  readonly deleteRetentionPolicy?: unknown;
  readonly containerDeleteRetentionPolicy?: unknown;
  readonly changeFeed?: unknown;
  readonly restorePolicy?: unknown;
}

const WHY =
  'Ownership of each partition is written every 10 seconds and each checkpoint anew, and each of these writes would leave ' +
  'something behind that listing must pass, until workers are too slow to keep their partitions.';

/** What is switched on that must be off, each in words. */
export function wrongBlobSettings(settings: BlobSettings, wayOut: string): WrongArg[] {
  const on: Readonly<Record<string, boolean>> = {
    isVersioningEnabled: settings.isVersioningEnabled === true,
    deleteRetentionPolicy: isEnabled(settings.deleteRetentionPolicy),
    containerDeleteRetentionPolicy: isEnabled(settings.containerDeleteRetentionPolicy),
    changeFeed: isEnabled(settings.changeFeed),
    restorePolicy: isEnabled(settings.restorePolicy),
  };
  return Object.keys(on)
    .filter((prop) => on[prop])
    .map((prop) => ({ prop, received: 'switched on', allowed: 'off', wayOut: `${WHY} ${wayOut}` }));
}

function isEnabled(policy: unknown): boolean {
  return typeof policy === 'object' && policy !== null && 'enabled' in policy && policy.enabled === true;
}
