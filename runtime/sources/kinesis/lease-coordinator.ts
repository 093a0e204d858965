/**
 * Looks at the lease table again and again: creates the leases it lacks, takes those that the plan names,
 * deletes the ones that are done with. Holds what it took.
 */
import { scanSeconds } from '../../contract';
import type { Host } from '../../host/host';
import type { Log, Metrics } from '../../processor/ports';
import { errorText } from './aws-errors';
import { HeldLease, type HeldLeaseDeps, type LeaseEnd } from './held-lease';
import type { Lease } from './lease-item';
import { type Memory, planTakes, remember, type Sighted, type Take, unownedLeases } from './lease-plan';
import type { LeaseStore } from './lease-store';
import { type InitialPosition, initialCheckpoint, isNumeric, isShardEnd } from './positions';
import type { ShardCatalog } from './shard-catalog';
import { firstLeases, holes, mayDelete, missingLeases } from './shard-sync';
import { type TableView, viewTable } from './table-view';

export interface CoordinatorDeps {
  readonly store: LeaseStore;
  readonly catalog: ShardCatalog;
  readonly host: Host;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly streamName: string;
  readonly owner: string;
  readonly leaseDurationMs: number;
  readonly initialPosition: InitialPosition;
  readonly maxLeases: number;
  readonly maxSteal: number;
  /** Called with each lease that was won. */
  readonly onHeld: (held: HeldLease) => void;
}

/** The list of shards is fetched again after this long; sooner while the table names shards that are not in it. */
const CATALOG_TTL_MS = 300_000;
const CATALOG_TTL_WITH_GONE_MS = 60_000;
/** So many looks in a row must show a hole before it is repaired: a look may be a little old. */
const HOLE_LOOKS = 2;

export class LeaseCoordinator {
  private readonly held = new Map<string, HeldLease>();
  private readonly warned = new Set<string>();
  /** Shards of the table that the stream does not have. */
  private readonly gone = new Set<string>();
  private memory: Memory = new Map();
  private looksWithHole = 0;
  /** Shards that should have a lease and have none, as the last look found. */
  private missing = 0;
  /** Shards without a reader, as the last look found, and those lost to the clock since. */
  private unowned = 0;
  private refusal: string | undefined;
  private state: string | undefined = 'the lease table has not been read yet';

  constructor(private readonly deps: CoordinatorDeps) {}

  /** Undefined when the table was read and the shards are known; otherwise why not. */
  get notReady(): string | undefined {
    return this.state;
  }

  get holding(): readonly HeldLease[] {
    return [...this.held.values()];
  }

  /** Whether this very object is held (a shard won again is another one). */
  holds(held: HeldLease): boolean {
    return this.held.get(held.shardId) === held;
  }

  /** Forbids taking leases for good, with the reason; undefined forbids nothing. */
  refuse(why: string | undefined): void {
    this.refusal = why;
  }

  /** One look and what follows from it. Answers the milliseconds until the next one is due. */
  async look(signal: AbortSignal): Promise<number> {
    const { deps } = this;
    let begun = deps.host.monotonic();
    let view = this.report(viewTable(await deps.store.scan(), this.refusal));
    if (view.leases.length === 0 && view.refusal === undefined) {
      await this.createFirstLeases();
      begun = deps.host.monotonic();
      view = viewTable(await deps.store.scan(true), this.refusal);
    }
    // Seen after the last page, judged as of before the first: both err towards the holder.
    this.memory = remember(this.memory, view.leases, deps.host.monotonic());
    await this.refreshCatalog(view.leases);
    await this.audit(view.leases, view.refusal !== undefined);
    this.state = view.refusal;
    const known = view.leases.filter((lease) => deps.catalog.has(lease.key));
    if (view.refusal === undefined) {
      await this.takeAll(this.plan(known, begun), begun, signal);
      await this.cleanUp(view.leases);
    }
    this.countUnowned(this.missing + unownedLeases(this.sighted(known, begun)).length);
    const workers = new Set(known.flatMap((lease) => lease.owner ?? [])).add(deps.owner).size;
    return 1_000 * scanSeconds({ shards: known.length, workers, leaseSeconds: deps.leaseDurationMs / 1_000 });
  }

  private plan(leases: readonly Lease[], now: number): Take[] {
    const { maxLeases, maxSteal, host } = this.deps;
    return planTakes({ ...this.sighted(leases, now), maxLeases, maxSteal, random: () => host.random() });
  }

  private sighted(leases: readonly Lease[], now: number): Sighted {
    const { owner: me, leaseDurationMs } = this.deps;
    return { leases, memory: this.memory, now, me, held: new Set(this.held.keys()), leaseDurationMs };
  }

  private async takeAll(takes: readonly Take[], begun: number, signal: AbortSignal): Promise<void> {
    for (const { lease: seen, how } of takes) {
      if (signal.aborted) return;
      // A live lease is renewed all the time: after a long look its counter is out of date, and no steal would succeed.
      const stale = how === 'stolen' && this.deps.host.monotonic() - begun > this.deps.leaseDurationMs / 6;
      const lease = stale ? await this.deps.store.read(seen.key) : seen;
      if (!lease || lease.owner !== seen.owner) continue;
      const sentAt = this.deps.host.monotonic();
      let outcome = await this.deps.store.take(lease);
      if (outcome.kind === 'retry') outcome = await this.deps.store.take(lease, outcome.unsure);
      if (outcome.kind !== 'written') {
        this.deps.log.debug({ lease: lease.key, outcome: outcome.kind }, 'a lease was not taken this time');
        continue;
      }
      this.deps.metrics.count('leasesTaken', { how });
      this.deps.log.info({ lease: lease.key, how, previousOwner: lease.owner }, 'lease taken');
      this.hold(outcome.lease, sentAt);
    }
  }

  private hold(lease: Lease, takenAt: number): void {
    const { store, host, log, metrics, streamName, leaseDurationMs } = this.deps;
    const onEnd = (held: HeldLease, reason: LeaseEnd) => this.ended(held, reason);
    const heldDeps: HeldLeaseDeps = { store, host, log, metrics, streamName, leaseDurationMs, onEnd };
    const held = new HeldLease(heldDeps, lease, takenAt);
    this.held.set(lease.key, held);
    metrics.gauge('leasesHeld', this.held.size);
    void held.keep();
    this.deps.onHeld(held);
  }

  private ended(held: HeldLease, reason: LeaseEnd): void {
    if (this.holds(held)) this.held.delete(held.shardId);
    this.deps.metrics.gauge('leasesHeld', this.held.size);
    if (reason === 'released') return;
    this.deps.metrics.count('leasesLost', { reason });
    // The table may be what is away: then no look says that the shard has lost its reader.
    if (reason === 'expired') this.countUnowned(this.unowned + 1);
    this.deps.log.warn({ partition: held.id, reason }, 'lease lost');
    if (reason === 'deleted') void this.restore(held);
  }

  private countUnowned(count: number): void {
    this.unowned = count;
    this.deps.metrics.gauge('leasesUnowned', count);
  }

  /** The item of a lease in use was deleted: put it back where the work stands, before others start it anew. */
  private async restore(held: HeldLease): Promise<void> {
    if (!isNumeric(held.progress)) return;
    const { key, parents, hashRange } = held.current;
    try {
      await this.deps.store.create({ key, parents, checkpoint: held.progress, ...(hashRange ? { hashRange } : {}) });
    } catch (error) {
      this.deps.log.warn({ lease: key, error: errorText(error) }, 'a deleted lease could not be put back');
    }
  }

  private async createFirstLeases(): Promise<void> {
    const checkpoint = initialCheckpoint(this.deps.initialPosition);
    const listed = await this.deps.catalog.initial(this.deps.initialPosition, checkpoint);
    const since = checkpoint.sequence === 'LATEST' ? { latestSince: Math.floor(this.deps.host.now()) } : {};
    for (const lease of firstLeases(listed, checkpoint)) await this.deps.store.create({ ...lease, ...since });
  }

  /** A shard that was never seen before is looked up at once; one that the stream does not have, now and then. */
  private async refreshCatalog(leases: readonly Lease[]): Promise<void> {
    const { catalog, log } = this.deps;
    const absent = leases.filter((lease) => !catalog.has(lease.key));
    const ttl = this.gone.size > 0 ? CATALOG_TTL_WITH_GONE_MS : CATALOG_TTL_MS;
    if (catalog.ageMs > ttl || absent.some((lease) => !this.gone.has(lease.key))) await catalog.refresh();
    for (const { key, checkpoint } of absent) {
      if (catalog.has(key)) this.gone.delete(key);
      else if (!this.gone.has(key)) {
        this.gone.add(key);
        if (isShardEnd(checkpoint)) continue;
        const text = 'the lease table names a shard that the stream does not have; its lease is left alone';
        log.warn({ leaseKey: key, checkpoint: checkpoint.sequence }, text);
      }
    }
  }

  /** Finds shards that no lease reads, whoever lost them, and gives them one. */
  private async audit(leases: readonly Lease[], refused: boolean): Promise<void> {
    const { catalog, store, log, host, initialPosition } = this.deps;
    const current = leases.filter((lease) => catalog.has(lease.key));
    const checkpoint = initialCheckpoint(initialPosition);
    this.missing = missingLeases(catalog.shards, current, checkpoint).length;
    const whole = this.missing === 0 && holes(current, catalog.shards).length === 0;
    this.looksWithHole = whole ? 0 : this.looksWithHole + 1;
    if (refused || this.looksWithHole < HOLE_LOOKS) return;
    // Workers that see the same hole should not all list the shards at once.
    if (this.looksWithHole < HOLE_LOOKS + 2 && host.random() < 0.5) return;
    await catalog.refresh();
    const fresh = viewTable(await store.scan(true), undefined).leases.filter((lease) => catalog.has(lease.key));
    for (const lease of missingLeases(catalog.shards, fresh, checkpoint)) {
      const since = lease.checkpoint.sequence === 'LATEST' ? { latestSince: Math.floor(host.now()) } : {};
      const created = await store.create({ ...lease, ...since });
      if (created) log.warn({ lease: lease.key, from: lease.checkpoint.sequence }, 'a shard had no lease; created it');
    }
    this.looksWithHole = 0;
  }

  /** Deletes the leases of shards that were read to their end, once their children have begun or Kinesis forgot them. */
  private async cleanUp(leases: readonly Lease[]): Promise<void> {
    const byKey = new Map(leases.map((lease) => [lease.key, lease]));
    for (const held of this.holding) {
      if (!isShardEnd(held.current.checkpoint)) continue;
      const fromList = this.deps.catalog.childrenOf(held.shardId).map((child) => child.id);
      const children = held.current.children.length > 0 ? held.current.children : fromList;
      if (!this.gone.has(held.shardId) && !mayDelete(held.current, byKey, children)) continue;
      if (await held.remove()) {
        this.deps.log.info({ lease: held.shardId }, 'lease of a finished shard deleted');
      }
    }
  }

  private report(view: TableView): TableView {
    const { metrics, log } = this.deps;
    metrics.gauge('foreignItems', view.foreign.length);
    for (const { key, why } of view.foreign) {
      if (this.warned.has(key)) continue;
      this.warned.add(key);
      log.warn({ leaseKey: key }, `an item of the lease table is no lease of this stream and is skipped: ${why}`);
    }
    if (view.refusal !== undefined && this.state !== view.refusal) log.error({}, view.refusal);
    return view;
  }
}
