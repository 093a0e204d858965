/** Limits of alarms that are the same in every cloud, as pure functions of what is known. */
import { MAX_HEALTHY_PERCENT } from './limits';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A checkpoint may wait for a delivery until it is parked, which takes five minutes unless it is told otherwise. */
export const STALL_LIMIT_MS = 15 * MINUTE_MS;

/** Of a processor: above it statements become slow, and little is left for a burst. */
export const BUSY_PERCENT = 80;

/** Of the retention: enough of it is left to notice, to repair and to catch up. */
const CRITICAL_PART = 0.25;

/** How far reading may lag before somebody is woken. */
export const lagCriticalMs = (retentionHours: number): number => retentionHours * HOUR_MS * CRITICAL_PART;

/** A process that stands still for longer than a fifth of a lease is on its way to lose it. */
export const standstillLimitMs = (leaseMs: number): number => Math.round(leaseMs / 5);

/** About four fifths of what the smallest server takes. */
const CONNECTIONS_LIMIT = 80;
/** What one worker opens at most. */
const CONNECTIONS_OF_A_WORKER = 4;

/** Twice what the workers of a rolling deploy open together. */
export const connectionsLimit = (workers: number): number =>
  Math.max(CONNECTIONS_LIMIT, (2 * workers * CONNECTIONS_OF_A_WORKER * MAX_HEALTHY_PERCENT) / 100);
