/**
 * The lease plan: what I see of the table, and what I remember of earlier looks, decide what I take.
 * Pure. Nobody writes a time into the table: a lease has expired when *this* observer saw its counter
 * unchanged, on its own monotonic clock, for longer than the lease lasts. One look is never enough.
 */
import type { Lease } from './lease-item';
import { isShardEnd } from './positions';

/** What an observer remembers of one lease. */
export interface Sighting {
  readonly counter: bigint;
  readonly owner: string | undefined;
  /** Monotonic milliseconds at which the counter or the owner was last seen to differ; or the first look. */
  readonly changedAt: number;
}
export type Memory = ReadonlyMap<string, Sighting>;

/** The memory after one more look, over at `now`. Leases that are gone are forgotten. */
export function remember(memory: Memory, leases: readonly Lease[], now: number): Memory {
  const next = new Map<string, Sighting>();
  for (const lease of leases) {
    const before = memory.get(lease.key);
    const same = before !== undefined && before.counter === lease.counter && before.owner === lease.owner;
    next.set(lease.key, same ? before : { counter: lease.counter, owner: lease.owner, changedAt: now });
  }
  return next;
}

export type HowTaken = 'unowned' | 'expired' | 'stolen';
export interface Take {
  readonly lease: Lease;
  readonly how: HowTaken;
}

/** A look at the table, as one observer judges it. */
export interface Sighted {
  readonly leases: readonly Lease[];
  /** After `remember` of the same look. */
  readonly memory: Memory;
  /** Monotonic milliseconds before the look began. */
  readonly now: number;
  readonly leaseDurationMs: number;
  /** This worker's owner name. */
  readonly me: string;
  /** Keys of the leases this worker holds and trusts. One that bears my name but is not here is up for grabs. */
  readonly held: ReadonlySet<string>;
}

export interface PlanInput extends Sighted {
  /** The most leases this worker may hold. */
  readonly maxLeases: number;
  /** The most leases to steal in one look; each steal disturbs a worker that does its job. */
  readonly maxSteal: number;
  /** In [0, 1). */
  readonly random: () => number;
}

/** How many multiples of the lease duration a lease may stay untaken before everybody may go past the fair share. */
const VERY_OLD = 3;

/** What to take now, in this order. */
export function planTakes(input: PlanInput): Take[] {
  const { leases, me, held, maxLeases } = input;
  const available = leases.flatMap((lease) => {
    const how = availability(input, lease);
    return how ? [{ lease, how }] : [];
  });
  const free = new Set(available.map((take) => take.lease.key));
  const load = countByOwner(leases.filter((lease) => !free.has(lease.key)));
  const mine = leases.filter((lease) => held.has(lease.key)).length;
  load.set(me, mine);
  const room = Math.max(0, maxLeases - mine);

  const neglected = available.filter(({ lease }) => age(input, lease) > VERY_OLD * input.leaseDurationMs);
  if (neglected.length > 0) return shuffle(neglected, input.random).slice(0, room);

  const target = Math.ceil(leases.length / load.size);
  const needed = Math.min(room, Math.max(0, target - mine));
  if (available.length > 0) return shuffle(available, input.random).slice(0, needed);
  return steals(input, load, target, needed);
}

function steals(input: PlanInput, load: ReadonlyMap<string, number>, target: number, needed: number): Take[] {
  if (needed === 0) return [];
  const others = [...load].filter(([owner]) => owner !== input.me);
  const [victim, count] = others.reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0]);
  const excess = count - target;
  const amount = excess > 0 ? Math.min(needed, excess, input.maxSteal) : needed >= 2 && count > 1 ? 1 : 0;
  const candidates = input.leases.filter((lease) => lease.owner === victim && !input.held.has(lease.key));
  return shuffle(candidates, input.random)
    .slice(0, amount)
    .map((lease) => ({ lease, how: 'stolen' }));
}

/** Leases with something left to read that nobody holds, as far as this look can tell. */
export function unownedLeases(input: Sighted): Lease[] {
  return input.leases.filter((lease) => !isShardEnd(lease.checkpoint) && availability(input, lease) !== undefined);
}

function availability(input: Sighted, lease: Lease): HowTaken | undefined {
  if (input.held.has(lease.key)) return undefined;
  if (lease.owner === undefined) return 'unowned';
  if (lease.owner === input.me) return 'expired';
  return age(input, lease) > input.leaseDurationMs ? 'expired' : undefined;
}

function age(input: Sighted, lease: Lease): number {
  return input.now - (input.memory.get(lease.key)?.changedAt ?? input.now);
}

function countByOwner(leases: readonly Lease[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { owner } of leases) {
    if (owner !== undefined) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  return counts;
}

function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const pick = Math.floor(random() * (last + 1));
    const held = result[last] as T;
    result[last] = result[pick] as T;
    result[pick] = held;
  }
  return result;
}
