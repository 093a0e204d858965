/** Tiers of Event Hubs. A Dedicated cluster is never made here; an existing namespace may live in one. */
export type EventHubSku = 'Standard' | 'Premium' | 'Dedicated';

export interface TierLimits {
  /** Partitions of one hub. */
  readonly partitions: number;
  readonly retentionHours: number;
  /** Throughput, processing or capacity units of one namespace. */
  readonly capacity: number;
}

const DAY_HOURS = 24;

/** Premium is sold in these sizes only. */
export const PREMIUM_UNITS: readonly number[] = [1, 2, 4, 8, 16];

/** From Microsoft's table of quotas by tier. Basic is not among them: one day and one consumer group are too few. */
export const TIER_LIMITS: Readonly<Record<EventHubSku, TierLimits>> = {
  Standard: { partitions: 32, retentionHours: 7 * DAY_HOURS, capacity: 40 },
  Premium: { partitions: 100, retentionHours: 90 * DAY_HOURS, capacity: 16 },
  Dedicated: { partitions: 1_024, retentionHours: 90 * DAY_HOURS, capacity: 20 },
};

/** Every hub has this consumer group from the start; nobody can create it. */
export const DEFAULT_CONSUMER_GROUP = '$Default';
