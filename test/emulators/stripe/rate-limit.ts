/** Stripe's request limits: tokens that refill each second, for the account and for each endpoint. */
import type { EmulatorClock } from './clock';
import { rateLimited } from './errors';

export interface RateLimits {
  /** Requests a second for an account and mode. Absent: no limit. */
  readonly perSecond?: number;
  /** Requests a second for one endpoint. Absent: no limit. */
  readonly perEndpointPerSecond?: number;
  /** Requests that may come together before the rates bite. Absent: as many as come in a second. */
  readonly burst?: number;
  /** Requests at once. Absent: no limit. */
  readonly concurrent?: number;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>();
  readonly #running = new Map<string, number>();

  constructor(
    private readonly clock: EmulatorClock,
    private readonly limits: RateLimits,
  ) {}

  /** Admits a request or throws 429. Call the answer when the request has ended. */
  admit(scope: string, endpoint: string): () => void {
    const running = this.#running.get(scope) ?? 0;
    if (this.limits.concurrent !== undefined && running >= this.limits.concurrent) {
      throw rateLimited('global-concurrency');
    }
    if (!this.#take(scope, this.limits.perSecond)) throw rateLimited('global-rate');
    if (!this.#take(`${scope} ${endpoint}`, this.limits.perEndpointPerSecond)) throw rateLimited('endpoint-rate');
    this.#running.set(scope, running + 1);
    return () => {
      this.#running.set(scope, (this.#running.get(scope) ?? 1) - 1);
    };
  }

  #take(name: string, perSecond: number | undefined): boolean {
    if (perSecond === undefined) return true;
    const now = this.clock.now();
    const most = this.limits.burst ?? perSecond;
    const bucket = this.#buckets.get(name) ?? { tokens: most, filledAt: now };
    bucket.tokens = Math.min(most, bucket.tokens + ((now - bucket.filledAt) / 1000) * perSecond);
    bucket.filledAt = now;
    this.#buckets.set(name, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}
