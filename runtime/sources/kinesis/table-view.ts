/** One look at the lease table, sorted into leases, foreign items and what forbids taking leases. */
import { type Item, type Lease, MIGRATION_KEY, migrationVersion, parseItem } from './lease-item';

export interface TableView {
  readonly leases: readonly Lease[];
  readonly foreign: readonly { readonly key: string; readonly why: string }[];
  /** Why no lease may be taken, in words. */
  readonly refusal?: string;
}

/** Versions of the Java client that assign leases from one leader: a worker of our kind must not take any. */
const REFUSED_VERSIONS = new Set(['CLIENT_VERSION_3X', 'CLIENT_VERSION_3X_WITH_ROLLBACK']);

/** @param known a refusal that is known from elsewhere. */
export function viewTable(items: readonly Item[], known: string | undefined): TableView {
  const leases: Lease[] = [];
  const foreign: { key: string; why: string }[] = [];
  let refusal = known;
  for (const item of items) {
    if (item.leaseKey?.S === MIGRATION_KEY) refusal ??= migrationRefusal(item);
    const parsed = parseItem(item);
    if (parsed.kind === 'lease') leases.push(parsed.lease);
    else foreign.push({ key: parsed.key, why: parsed.why });
  }
  return { leases, foreign, ...(refusal === undefined ? {} : { refusal }) };
}

/** What the marker of a migration to version 3 forbids; undefined when it forbids nothing. */
export function migrationRefusal(item: Item): string | undefined {
  const version = migrationVersion(item);
  if (version === undefined || !REFUSED_VERSIONS.has(version)) return undefined;
  return (
    `${MIGRATION_KEY} says ${version}: a Kinesis Client Library 3.x fleet assigns the leases of this table. ` +
    'No lease is taken. Use a lease table of its own, or set the Java fleet back to a 2.x-compatible mode.'
  );
}
