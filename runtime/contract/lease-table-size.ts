/**
 * The lease table's capacity, worked out instead of guessed. A table that is too small refuses renewals, refused
 * renewals lose leases, and a lost lease means events that are read twice.
 *
 * N leases, L seconds a lease lasts, r seconds between two renewals (L / 3 - 0.025), u units a write (one a started
 * kilobyte; an item has 0.4 to 0.5), W workers, T seconds between two scans of a worker:
 *
 * - writes a second: u * N / r. Renewal and checkpoint are one write, so they depend on the number of leases alone:
 *   no load, and no checkpoint mode, can crowd renewals out. (The Kinesis Client Library writes them apart:
 *   u * N * (1 / r + checkpoints a second).)
 * - minimum: 1.5 times that. It survives a table that is blocked for 2.5 s at L = 10. For longer storms lengthen the
 *   lease, not the table. Renewals are jittered, or the peak second would be N writes.
 * - maximum: 3 times the minimum, for application auto scaling (a fixed write capacity is refused for such a table),
 *   and no more than an account gives one table.
 * - index by owner: written only when a lease changes hands, two writes each (one key goes, one comes). A fleet that
 *   restarts changes every owner within about 20 s.
 * - reads: every worker scans the whole table, W * 0.5 * ceil(N * s / 4) units a round, s kilobytes an item. T grows
 *   so that the fleet stays at 50 units a second, from 2 s up to two leases; a dead worker is not noticed later.
 */

/** What the lease table has to carry. */
export interface LeaseTableLoad {
  /** Leases at the worst moment: three times the open shards while a stream doubles (parents and children). */
  readonly shards: number;
  /** How long a lease lasts without renewal. */
  readonly leaseSeconds: number;
  /** Workers that scan the table. Absent: one for every ten shards, at least two. */
  readonly workers?: number;
  /** Size of one lease item. Absent: 0.5, measured at 0.4 to 0.5. */
  readonly itemKilobytes?: number;
}

/** Capacity units. The table scales between minimum and maximum by itself. */
export interface LeaseTableSize {
  /** Writes a second when nothing goes wrong: every lease renewed once a period, its checkpoint in the same write. */
  readonly steadyWrites: number;
  readonly writeMinimum: number;
  readonly writeMaximum: number;
  readonly readMinimum: number;
  readonly readMaximum: number;
  /** Of the index by owner, which is written only when a lease changes hands. */
  readonly indexWrite: number;
  readonly indexWriteMaximum: number;
  /** How often a worker scans the table. */
  readonly scanSeconds: number;
}

/** Survives a table blocked for 2.5 s at leases of 10 s. For longer storms lengthen the lease, not the table. */
const WRITE_HEADROOM = 1.5;
const READ_HEADROOM = 2;
/** Below this, one burst of a restart would be throttled to save cents. */
const SMALLEST = 5;
const MAXIMUM_FACTOR = 3;
/** Reads a second that the scans of a whole fleet may cost before they slow down. */
const SCAN_BUDGET = 50;
/** A fleet that restarts changes every owner within about this time; a change deletes one key and inserts one. */
const OWNER_CHANGE_SECONDS = 20;

/** Of one lease item, at the most; measured at 0.4 to 0.5. */
const ITEM_KILOBYTES = 0.5;

/** Units a second that an account gives one table, reads and writes each, unless AWS raised it. */
export const TABLE_QUOTA = 40_000;
/** Writes a second that a new on-demand table serves from the first second; it grows from there. */
export const ON_DEMAND_START_WRITES = 4_000;
/** Leases for one open shard at the worst moment: itself and the two children that replace it while a stream doubles. */
export const LEASES_PER_SHARD = 3;

/** Seconds between two renewals of one lease: a third of its duration, less 25 ms for the clock's grain. */
export function renewalSeconds(leaseSeconds: number): number {
  return leaseSeconds / 3 - 0.025;
}

/** Seconds between two scans of one worker: longer for a larger table and a larger fleet, two leases at the most. */
export function scanSeconds(load: LeaseTableLoad): number {
  return Math.min(Math.max(unitsOfARound(load) / SCAN_BUDGET, 2), 2 * load.leaseSeconds);
}

/** Reads of a fleet whose workers each scan the whole table once. */
function unitsOfARound(load: LeaseTableLoad): number {
  const { shards, itemKilobytes = ITEM_KILOBYTES, workers = Math.max(2, Math.ceil(shards / 10)) } = load;
  return workers * 0.5 * Math.ceil((shards * itemKilobytes) / 4);
}

/** Size of the lease table for a load. Pure; whole units, never below 5. */
export function leaseTableSize(load: LeaseTableLoad): LeaseTableSize {
  const { shards, leaseSeconds, itemKilobytes = ITEM_KILOBYTES } = load;
  const steadyWrites = (Math.ceil(itemKilobytes) * shards) / renewalSeconds(leaseSeconds);
  const writeMinimum = Math.max(SMALLEST, Math.ceil(WRITE_HEADROOM * steadyWrites));

  const oneRound = unitsOfARound(load);
  // One round every `scanSeconds`, said without dividing by it: 50.000000000000007 units would round up to one more.
  const reads = Math.max(Math.min(oneRound / 2, SCAN_BUDGET), oneRound / (2 * leaseSeconds));
  const readMinimum = Math.max(SMALLEST, Math.ceil(READ_HEADROOM * reads));

  const indexWrite = Math.max(SMALLEST, Math.ceil((WRITE_HEADROOM * 2 * shards) / OWNER_CHANGE_SECONDS));
  return {
    steadyWrites,
    writeMinimum,
    writeMaximum: maximumOf(writeMinimum),
    readMinimum,
    readMaximum: maximumOf(readMinimum),
    indexWrite,
    indexWriteMaximum: maximumOf(indexWrite),
    scanSeconds: scanSeconds(load),
  };
}

function maximumOf(minimum: number): number {
  return Math.max(minimum, Math.min(MAXIMUM_FACTOR * minimum, TABLE_QUOTA));
}

/** Writes a second of the Kinesis Client Library on the same load, for comparison: its checkpoints are writes too. */
export function kclWrites(load: LeaseTableLoad, checkpointsPerSecond: number): number {
  const { shards, leaseSeconds, itemKilobytes = ITEM_KILOBYTES } = load;
  return Math.ceil(itemKilobytes) * shards * (1 / renewalSeconds(leaseSeconds) + checkpointsPerSecond);
}

/** The most leases that a new on-demand table carries from the first second, headroom included. */
export function onDemandShards(leaseSeconds: number): number {
  return Math.floor((ON_DEMAND_START_WRITES / WRITE_HEADROOM) * renewalSeconds(leaseSeconds));
}

/** Whether one table may have what a load needs to begin with, by the default quota of an account. */
export function fitsOneTable(load: LeaseTableLoad): boolean {
  const { writeMinimum, readMinimum, indexWrite } = leaseTableSize(load);
  return Math.max(writeMinimum, readMinimum, indexWrite) <= TABLE_QUOTA;
}

/** The largest `shards` that fits one table with leases of this length. */
export function mostShards(leaseSeconds: number): number {
  let fits = 1;
  let tooMany = 2 ** 24;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (fitsOneTable({ shards: middle, leaseSeconds })) fits = middle;
    else tooMany = middle;
  }
  return fits;
}
