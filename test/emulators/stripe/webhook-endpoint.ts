/** One receiver of events: what it gets, in which order, how often. */
import { randomBytes } from 'node:crypto';
import type { EmulatorClock } from './clock';
import { toJson } from './errors';
import type { StripeEvent } from './objects';
import { loopbackUrl, post } from './webhook-post';
import { signatureHeader } from './webhook-signature';

export interface WebhookOptions {
  /** On this machine: `http://127.0.0.1:<port>/…`. Any other is refused. */
  readonly url: string;
  /** Signs the events; several while a secret is rolled. Absent: a new `whsec_…`, to be read from `secrets`. */
  readonly secret?: string | readonly string[];
  /** Types as Stripe names them, `payment_intent.*` for all of a kind. Absent: every type. */
  readonly events?: readonly string[];
  /** Absent: events of both modes, so that a receiver's own check of the mode can be tried. */
  readonly livemode?: boolean;
  /** How often an event is tried in all, until an answer of 2xx. Absent: 3, as Stripe does in a sandbox. */
  readonly attempts?: number;
  /** Real time before each further try; Stripe takes hours. Absent: 10. */
  readonly retryDelayMs?: number;
  /** Real time that a receiver may stay silent. Absent: 10000. */
  readonly timeoutMs?: number;
}

/** Which of the coming events a disturbance is for. */
export interface EventMatch {
  /** As in `events`. Absent: any type. */
  readonly type?: string;
  /** How many events. Absent: 1. */
  readonly times?: number;
}

/** One try to hand an event over. */
export interface WebhookDelivery {
  readonly eventId: string;
  readonly type: string;
  /** 1: the first. */
  readonly attempt: number;
  /** Undefined: no answer. */
  readonly status: number | undefined;
}

export interface WebhookEndpoint {
  readonly url: string;
  readonly secrets: readonly string[];
  /** Every try, oldest first. */
  readonly deliveries: readonly WebhookDelivery[];
  /** Ids of events that were lost: dropped on purpose, or tried as often as allowed. */
  readonly lost: readonly string[];
  /** The next matching events arrive twice, with the same id. */
  duplicate(match?: EventMatch): void;
  /** The next matching events never arrive. */
  drop(match?: EventMatch): void;
  /** The next events, 2 when absent, are held until all of them are there, then arrive newest first. */
  reorder(count?: number): void;
  /** Signs with these from now on. */
  useSecrets(...secrets: string[]): void;
}

/** Whether a type is one of those named. */
export function matchesType(type: string, wanted: string): boolean {
  return wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

interface Parcel {
  readonly event: StripeEvent;
  /** As the event was when it happened. */
  readonly body: string;
}

export class Endpoint implements WebhookEndpoint {
  readonly deliveries: WebhookDelivery[] = [];
  readonly lost: string[] = [];
  secrets: readonly string[];
  readonly #url: URL;
  readonly #attempts: number;
  readonly #taken = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  readonly #duplicates = new Arms();
  readonly #drops = new Arms();
  #held: Parcel[] = [];
  #holdFor = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly options: WebhookOptions,
    private readonly clock: EmulatorClock,
  ) {
    this.#url = loopbackUrl(options.url);
    this.#attempts = options.attempts ?? 3;
    if (!Number.isInteger(this.#attempts) || this.#attempts < 1 || this.#attempts > 100) {
      throw new RangeError(`webhooks.add: attempts: received ${options.attempts}; allowed: whole numbers, 1 to 100`);
    }
    this.secrets = checkedSecrets([options.secret ?? `whsec_${randomBytes(24).toString('base64url')}`].flat());
  }

  get url(): string {
    return this.#url.href;
  }

  duplicate(match: EventMatch = {}): void {
    this.#duplicates.add(match);
  }

  drop(match: EventMatch = {}): void {
    this.#drops.add(match);
  }

  reorder(count = 2): void {
    if (!Number.isInteger(count) || count < 2) {
      throw new RangeError(`reorder: received ${count}; allowed: 2 or more events, since one has no order`);
    }
    this.#holdFor = count;
  }

  useSecrets(...secrets: string[]): void {
    this.secrets = checkedSecrets(secrets);
  }

  wants(event: StripeEvent): boolean {
    const { events = ['*'], livemode = event.livemode } = this.options;
    return livemode === event.livemode && events.some((wanted) => matchesType(event.type, wanted));
  }

  /** Takes an event over. Returns at once. */
  send(event: StripeEvent): void {
    if (this.#drops.take(event)) {
      this.lost.push(event.id);
      return;
    }
    const parcel = { event, body: toJson(event) };
    const parcels = this.#duplicates.take(event) ? [parcel, parcel] : [parcel];
    if (this.#holdFor === 0) {
      this.#start(parcels);
      return;
    }
    this.#held.push(...parcels);
    this.#holdFor -= 1;
    if (this.#holdFor === 0) this.release();
  }

  /** Lets go of what a `reorder` holds, complete or not. */
  release(): void {
    const held = this.#held.reverse();
    this.#held = [];
    this.#holdFor = 0;
    this.#start(held);
  }

  /** Deliveries that are under way or wait for their next try. */
  get running(): ReadonlySet<Promise<void>> {
    return this.#running;
  }

  #start(parcels: readonly Parcel[]): void {
    for (const parcel of parcels) {
      const delivery = this.#deliver(parcel).finally(() => this.#running.delete(delivery));
      this.#running.add(delivery);
    }
  }

  /** One at a time, in order. A further try takes its turn after its pause, so that other events overtake it. */
  async #deliver(parcel: Parcel): Promise<void> {
    for (let attempt = 1; attempt <= this.#attempts; attempt += 1) {
      if (attempt > 1) await this.clock.sleep(this.options.retryDelayMs ?? 10);
      const turn = this.#last.then(() => this.#try(parcel, attempt));
      this.#last = turn;
      if (await turn) return;
    }
    this.lost.push(parcel.event.id);
  }

  /** Whether it is over: taken, or the emulator has closed. */
  async #try({ event, body }: Parcel, attempt: number): Promise<boolean> {
    const signal = this.clock.stopped;
    if (signal.aborted) return true;
    const status = await post({
      url: this.#url,
      body,
      signature: signatureHeader(body, this.secrets, this.clock.seconds()),
      timeoutMs: this.options.timeoutMs ?? 10_000,
      signal,
    });
    this.deliveries.push({ eventId: event.id, type: event.type, attempt, status });
    const isTaken = status !== undefined && status >= 200 && status < 300;
    if (isTaken && !this.#taken.has(event.id)) {
      this.#taken.add(event.id);
      event.pending_webhooks -= 1;
    }
    return isTaken || signal.aborted;
  }
}

/** Disturbances that wait for their events. */
class Arms {
  readonly #armed: { type: string; left: number }[] = [];

  add({ type = '*', times = 1 }: EventMatch): void {
    this.#armed.push({ type, left: times });
  }

  take(event: StripeEvent): boolean {
    const found = this.#armed.find(({ type, left }) => left > 0 && matchesType(event.type, type));
    if (found !== undefined) found.left -= 1;
    return found !== undefined;
  }
}

function checkedSecrets(secrets: readonly string[]): readonly string[] {
  if (secrets.length > 0 && secrets.every((secret) => secret.trim() !== '')) return [...secrets];
  throw new TypeError(
    `webhooks: received ${secrets.length === 0 ? 'no secret' : 'an empty secret'}; give one or more texts such as whsec_…, or leave it out for a new one`,
  );
}
