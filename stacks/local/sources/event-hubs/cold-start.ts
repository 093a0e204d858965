/** All workers claim on an empty container at the same moment: one of them wins each partition. */
import { systemHost } from '../../../../runtime/host';
import type { BlobRequest } from '../../../../test/support/blob-fault-proxy';
import type { FaultLog } from '../../faults/context';
import { until } from '../../fleet';
import type { Stage } from '../../stage';
import type { EventHubsParts } from './parts';

/** Less than a worker waits for an answer: what is held is still wanted. */
const HOLD_MS = 3_500;
const START_MS = 20_000;
/** A worker that lost the race for its first partition looks again a while later. */
const READY_MS = 45_000;

export async function startTogether(stage: Stage<EventHubsParts>): Promise<void> {
  const { parts, screen, log } = stage;
  const gate = parts.storageProxy.inject({ matches: claims, action: { kind: 'hang' } });
  const collisions = () => [...byBlob(gate.hits)].filter(([, requests]) => ownersOf(requests).size > 1);
  try {
    const started = stage.startWorkers({ readyMs: READY_MS });
    started.catch(() => undefined);
    await until(() => gate.hits.length > 0, START_MS);
    await until(() => collisions().length > 0, HOLD_MS, 20);
    // The claims of one worker come one right after the other.
    await systemHost.sleep(200);
    gate.remove();
    await started;
  } finally {
    gate.remove();
  }
  judgeClaims(gate.hits, log);
  const names = collisions().map(([blob]) => nameOf(blob));
  const wanted = names.length === 0 ? 'no partition' : `partition ${names.join(', ')}`;
  screen.fault('cold-start', `${wanted} was claimed by several workers at once, on an empty container`);
}

/** Of several workers that claim a partition at once, exactly one is told that it has it. */
export function judgeClaims(claims: readonly BlobRequest[], log: FaultLog): void {
  for (const [blob, requests] of byBlob(claims)) {
    if (ownersOf(requests).size < 2) continue;
    const won = ownersOf(requests.filter(({ status = 599 }) => status < 300));
    log.injected('cold-start');
    if (won.size === 1) log.seen('cold-start');
    if (won.size > 1) log.problems.push(`Partition ${nameOf(blob)} was claimed by ${won.size} workers at once.`);
  }
}

function claims({ method, path, query }: BlobRequest): boolean {
  return method === 'PUT' && path.includes('/ownership/') && query.get('comp') !== 'lease';
}

function byBlob(requests: readonly BlobRequest[]): Map<string, BlobRequest[]> {
  const blobs = new Map<string, BlobRequest[]>();
  for (const each of requests) blobs.set(each.path, [...(blobs.get(each.path) ?? []), each]);
  return blobs;
}

function ownersOf(requests: readonly BlobRequest[]): Set<string> {
  return new Set(requests.map(({ headers }) => String(headers['x-ms-meta-ownerid'])));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
