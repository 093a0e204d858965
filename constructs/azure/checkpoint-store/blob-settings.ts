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
  'Ownership of each partition is written every 10 seconds and each checkpoint anew; with versioning, soft delete or ' +
  'change feed each of these writes leaves something behind, until listing is too slow for workers to keep their partitions.';

/** What is switched on that must be off, in words. */
export function wrongBlobSettings(settings: BlobSettings, wayOut: string): WrongArg | undefined {
  const on = Object.entries({
    isVersioningEnabled: settings.isVersioningEnabled === true,
    deleteRetentionPolicy: isEnabled(settings.deleteRetentionPolicy),
    containerDeleteRetentionPolicy: isEnabled(settings.containerDeleteRetentionPolicy),
    changeFeed: isEnabled(settings.changeFeed),
    restorePolicy: isEnabled(settings.restorePolicy),
  }).flatMap(([setting, enabled]) => (enabled ? [setting] : []));
  if (on.length === 0) return undefined;
  return { prop: on.join(', '), received: 'switched on', allowed: 'off', wayOut: `${WHY} ${wayOut}` };
}

function isEnabled(policy: unknown): boolean {
  return typeof policy === 'object' && policy !== null && 'enabled' in policy && policy.enabled === true;
}
