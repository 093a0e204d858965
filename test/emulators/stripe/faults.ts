/** Faults that a test arms: what goes wrong, with which request, between which two steps. */
import type { EmulatorClock } from './clock';
import {
  keyInUse,
  lockTimeout,
  type RateLimitReason,
  type Reply,
  rateLimited,
  type StripeError,
  serverError,
} from './errors';

/**
 * The gaps between the steps of a request, in order: arrive, authenticate, rate limit, look the key up, validate,
 * claim the key, execute, store the answer, respond. `after-execute` lies between execute and store.
 */
export const FAULT_POINTS = [
  'before-auth',
  'before-rate-limit',
  'before-idempotency',
  'before-validation',
  'before-claim',
  'before-execute',
  'after-execute',
  'before-respond',
] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number];

export type FaultKind =
  /** The connection ends without an answer. Before execute nothing was done; after it everything was. */
  | 'drop'
  /** Headers and nothing more; the connection stays open. */
  | 'stall-after-headers'
  /** One byte each `delayMs` (default 50). */
  | 'drip'
  /** Half of the body, as if it were whole. */
  | 'truncated-json'
  /** A gateway's page. */
  | 'html-502'
  /** An answer of status 500 that no idempotency key keeps. */
  | 'error-500'
  /** An answer of status 500 that the key keeps; at `before-execute` nothing was done, later everything was. */
  | 'error-500-cached'
  | 'in-use-409'
  | 'lock-timeout-429'
  | 'rate-429'
  /** Real time, `delayMs`, in which the request stands still. */
  | 'delay'
  /** 200 with JSON that is no Stripe object. */
  | 'wrong-shape'
  /** 200 with text that is not JSON. */
  | 'not-json';

export interface FaultInfo {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
  readonly body: string;
}

export interface FaultTarget {
  /** `create`, `confirm`, `retrieve`, `list`, `search`, `update`, `cancel` of payment intents, any other operation's name (`customers.retrieve`), or `any`. */
  readonly on: string;
  readonly when: FaultPoint;
  /** How many requests are hit. Default 1. */
  readonly times?: number;
  /** Hits only these. Default all. */
  readonly match?: (info: FaultInfo) => boolean;
  readonly onHit?: (info: FaultInfo) => void;
}

export interface Fault extends FaultTarget {
  readonly what: FaultKind;
  readonly delayMs?: number;
  /** Sent as Stripe-Should-Retry with a 500. Default: not sent. */
  readonly shouldRetry?: boolean;
  /** For `rate-429`. Default `endpoint-rate`. */
  readonly reason?: RateLimitReason;
}

export interface ArmedFault {
  /** How many requests it has hit. */
  readonly hits: number;
  remove(): void;
}

export interface Hold {
  /** Resolves when a request stands at the point. */
  readonly reached: Promise<FaultInfo>;
  /** Lets it, and all that follow, go on. */
  release(): void;
}

/** What a point does to the request. */
export interface FaultEffect {
  readonly kind: 'drop' | 'reply' | 'transport';
  readonly reply?: Reply;
  /** The idempotency key keeps this answer. */
  readonly isKept?: boolean;
  readonly transport?: Transport;
}

export interface Transport {
  readonly how: 'stall' | 'drip' | 'truncate';
  readonly delayMs: number;
}

interface Armed {
  readonly target: FaultTarget;
  readonly act: (info: FaultInfo) => Promise<FaultEffect | undefined>;
  hits: number;
}

export class Faults {
  readonly #armed = new Set<Armed>();
  readonly #names: ReadonlySet<string>;

  /** `operations`: names that a fault may be on. */
  constructor(
    private readonly clock: EmulatorClock,
    operations: readonly string[],
  ) {
    this.#names = new Set(['any', ...operations.flatMap((name) => [name, shortName(name)])]);
  }

  /** Arms a fault. Several may wait at one point: they act in the order in which they were added. */
  add(fault: Fault): ArmedFault {
    assertPossible(fault);
    return this.#arm(fault, (info) => this.#effect(fault, info));
  }

  /** Stops a request at a point until it is released, without a clock. */
  hold(target: FaultTarget): Hold {
    let release = () => {};
    let arrive: (info: FaultInfo) => void = () => {};
    const reached = new Promise<FaultInfo>((resolve) => {
      arrive = resolve;
    });
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.clock.stopped.addEventListener('abort', release);
    this.#arm(target, async (info) => {
      arrive(info);
      await released;
      return undefined;
    });
    return { reached, release: () => release() };
  }

  /** Disarms everything. */
  clear(): void {
    this.#armed.clear();
  }

  /** What happens to this request at this point: nothing (undefined), or one effect. */
  async at(when: FaultPoint, info: FaultInfo): Promise<FaultEffect | undefined> {
    for (const armed of [...this.#armed]) {
      if (!isHit(armed, when, info)) continue;
      armed.hits += 1;
      if (armed.hits >= (armed.target.times ?? 1)) this.#armed.delete(armed);
      armed.target.onHit?.(info);
      const effect = await armed.act(info);
      if (effect !== undefined) return effect;
    }
    return undefined;
  }

  #arm(target: FaultTarget, act: Armed['act']): ArmedFault {
    if (!this.#names.has(target.on)) {
      throw new Error(`faults: on '${target.on}' would never hit; use one of ${[...this.#names].join(', ')}`);
    }
    const armed: Armed = { target, act, hits: 0 };
    this.#armed.add(armed);
    return {
      get hits() {
        return armed.hits;
      },
      remove: () => this.#armed.delete(armed),
    };
  }

  async #effect(fault: Fault, info: FaultInfo): Promise<FaultEffect | undefined> {
    if (fault.what === 'delay') {
      await this.clock.sleep(fault.delayMs ?? 0);
      return undefined;
    }
    return effectOf(fault, info);
  }
}

/** `confirm` for `payment_intents.confirm`. */
function shortName(operation: string): string {
  return operation.replace(/^payment_intents\./, '');
}

function isHit({ target, hits }: Armed, when: FaultPoint, info: FaultInfo): boolean {
  if (target.when !== when || hits >= (target.times ?? 1)) return false;
  const names = [info.operation, shortName(info.operation), 'any'];
  return names.includes(target.on) && (target.match?.(info) ?? true);
}

function assertPossible(fault: Fault): void {
  const canKeep = ['before-execute', 'after-execute', 'before-respond'].includes(fault.when);
  if (fault.what === 'error-500-cached' && !canKeep) {
    throw new Error(
      `faults.add: at ${fault.when} no key is claimed yet, so nothing can be cached; use before-execute, after-execute or before-respond`,
    );
  }
}

function effectOf(fault: Fault, info: FaultInfo): FaultEffect {
  const retry: Record<string, string> =
    fault.shouldRetry === undefined ? {} : { 'stripe-should-retry': String(fault.shouldRetry) };
  const error = (refusal: StripeError): FaultEffect => ({ kind: 'reply', reply: refusal.toReply() });
  const raw = (status: number, body: string, type: string): FaultEffect => ({
    kind: 'reply',
    reply: { status, body, headers: { 'content-type': type } },
  });
  const transport = (how: Transport['how']): FaultEffect => ({
    kind: 'transport',
    transport: { how, delayMs: fault.delayMs ?? 50 },
  });
  switch (fault.what) {
    case 'drop':
      return { kind: 'drop' };
    case 'stall-after-headers':
      return transport('stall');
    case 'drip':
      return transport('drip');
    case 'truncated-json':
      return transport('truncate');
    case 'html-502':
      return raw(502, '<html><head><title>502 Bad Gateway</title></head><body></body></html>', 'text/html');
    case 'error-500-cached':
      return { ...error(serverError(retry)), isKept: true };
    case 'in-use-409':
      return error(keyInUse(info.idempotencyKey ?? ''));
    case 'lock-timeout-429':
      return error(lockTimeout());
    case 'rate-429':
      return error(rateLimited(fault.reason ?? 'endpoint-rate'));
    case 'wrong-shape':
      return raw(200, '{"ok":true}', 'application/json');
    case 'not-json':
      return raw(200, 'OK', 'text/plain');
    default:
      return error(serverError(retry));
  }
}
