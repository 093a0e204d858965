/** The longest that Kinesis keeps a record: 365 days. */
export const MAX_RETENTION_HOURS = 8_760;

/** Below 5 s a pause of the process loses its leases; above 60 s a dead worker's shards wait too long. */
export const MIN_LEASE_SECONDS = 5;
export const MAX_LEASE_SECONDS = 60;

/** The most a container may take to stop; longer than any drain of the runtime. */
export const STOP_TIMEOUT_SECONDS = 120;

/** Requests a second that a whole fleet may send to one Stripe endpoint, below Stripe's own limit of 25. */
export const FLEET_STRIPE_RPS = 20;

/** A rolling deploy may run this many times the desired count. */
export const MAX_HEALTHY_PERCENT = 200;
