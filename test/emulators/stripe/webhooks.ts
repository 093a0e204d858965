/** The webhook sender: hands every event to the receivers that want it. */
import type { EmulatorClock } from './clock';
import type { StripeEvent } from './objects';
import { Endpoint, type WebhookEndpoint, type WebhookOptions } from './webhook-endpoint';

export class Webhooks {
  readonly #endpoints: Endpoint[] = [];

  constructor(private readonly clock: EmulatorClock) {}

  /**
   * Posts the events that happen from now on to a receiver on this machine, signed. Throws for addresses elsewhere.
   *
   * An answer other than 2xx, or none, is tried again, a bounded number of times. Undisturbed, events arrive in order,
   * which Stripe does not promise: a receiver should be tried with `duplicate`, `reorder` and `drop`.
   */
  add(options: WebhookOptions): WebhookEndpoint {
    const endpoint = new Endpoint(options, this.clock);
    this.#endpoints.push(endpoint);
    return endpoint;
  }

  /** Tells the receivers. Counts in the event how many still have to take it. */
  announce(event: StripeEvent): void {
    const receivers = this.#endpoints.filter((endpoint) => endpoint.wants(event));
    event.pending_webhooks = receivers.length;
    for (const receiver of receivers) receiver.send(event);
  }

  /**
   * Resolves when every event has been taken or given up, those included that receivers caused meanwhile. What a
   * `reorder` holds while it waits for more is let go.
   */
  async idle(): Promise<void> {
    for (;;) {
      for (const endpoint of this.#endpoints) endpoint.release();
      const running = this.#endpoints.flatMap((endpoint) => [...endpoint.running]);
      if (running.length === 0) return;
      await Promise.all(running);
    }
  }
}
