/** While Stripe refuses the key (401, 403) nobody asks again at full speed: one shared pause. */
import type { Host } from '../host/host';
import type { Log, Metrics } from './ports';

/** Long enough not to hammer, short enough that a repaired permission is used soon. */
const PAUSE_MS = 30_000;
/** After so long without a refusal nobody here has anything left to try, and nothing says that the key is still bad. */
const FORGOTTEN_AFTER_MS = 300_000;

export class StripeHalt {
  #until = Number.NEGATIVE_INFINITY;
  #message: string | undefined;

  constructor(
    private readonly host: Host,
    private readonly log: Log,
    private readonly metrics: Metrics,
  ) {}

  halt(message: string): void {
    if (this.#message === undefined) {
      this.log.error({ stripe: message }, 'Stripe refuses the key: consuming stops until it is accepted again');
    }
    this.#message = message;
    this.#until = this.host.monotonic() + PAUSE_MS;
    this.metrics.gauge('halted', 1);
  }

  /** A call was accepted. */
  clear(): void {
    this.#end('Stripe accepts the key again');
  }

  #end(why: string): void {
    if (this.#message === undefined) return;
    this.#message = undefined;
    this.#until = Number.NEGATIVE_INFINITY;
    this.metrics.gauge('halted', 0);
    this.log.info({}, why);
  }

  /** Milliseconds until the next try; 0 when not halted. Asked again and again, so a halt that is over ends here. */
  remainingMs(): number {
    const silence = this.host.monotonic() - this.#until;
    if (silence >= FORGOTTEN_AFTER_MS)
      this.#end('Stripe has refused nothing for a while, and nothing waits to be tried');
    return Math.max(0, this.#until - this.host.monotonic());
  }

  /** Why the worker does not charge, in words; undefined when it does. */
  reason(): string | undefined {
    return this.#message === undefined ? undefined : `Stripe refuses the key: ${this.#message}`;
  }
}
