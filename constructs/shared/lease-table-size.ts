/** What the lease table has to carry. */
export interface LeaseTableLoad {
  /** Leases at the worst moment: count the children too while a stream is being resharded. */
  readonly shards: number;
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
  /** How often a worker scans the table. */
  readonly scanSeconds: number;
}

/** Survives a table blocked for 2.5 s at leases of 10 s. For longer storms lengthen the lease, not the table. */
const WRITE_HEADROOM = 1.5;
const READ_HEADROOM = 2;
const SMALLEST = 5;
const MAXIMUM_FACTOR = 3;
/** Reads a second that the scans of a whole fleet may cost before they slow down. */
const SCAN_BUDGET = 50;
/** A fleet that restarts changes every owner within about this time; a change deletes one key and inserts one. */
const OWNER_CHANGE_SECONDS = 20;

/** Seconds between two renewals of one lease: a third of its duration, less 25 ms for the clock's grain. */
export function renewalSeconds(leaseSeconds: number): number {
  return leaseSeconds / 3 - 0.025;
}

/**
 * Size of the lease table. Renewals and checkpoints share one item write, so writes follow from the number of
 * leases alone, whatever the load: one write (of one unit a started kilobyte) for each lease and renewal.
 */
export function leaseTableSize(load: LeaseTableLoad): LeaseTableSize {
  const { shards, leaseSeconds, itemKilobytes = 0.5, workers = Math.max(2, Math.ceil(shards / 10)) } = load;
  const steadyWrites = (Math.ceil(itemKilobytes) * shards) / renewalSeconds(leaseSeconds);
  const writeMinimum = Math.max(SMALLEST, Math.ceil(WRITE_HEADROOM * steadyWrites));

  const oneRound = workers * 0.5 * Math.ceil((shards * itemKilobytes) / 4);
  const scanSeconds = Math.min(Math.max(oneRound / SCAN_BUDGET, 2), 2 * leaseSeconds);
  const readMinimum = Math.max(SMALLEST, Math.ceil((READ_HEADROOM * oneRound) / scanSeconds));

  return {
    steadyWrites,
    writeMinimum,
    writeMaximum: MAXIMUM_FACTOR * writeMinimum,
    readMinimum,
    readMaximum: MAXIMUM_FACTOR * readMinimum,
    indexWrite: Math.max(SMALLEST, Math.ceil((WRITE_HEADROOM * 2 * shards) / OWNER_CHANGE_SECONDS)),
    scanSeconds,
  };
}
