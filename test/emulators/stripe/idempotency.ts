/** What Stripe remembers of each idempotency key. Keys are scoped to an account and a mode. */
import type { EmulatorClock } from './clock';
import { keyInUse, keyMismatch, type Reply } from './errors';

interface Entry {
  readonly fingerprint: string;
  readonly requestId: string;
  readonly startedAt: number;
  reply: Reply | undefined;
}

/** A key claimed by the request that executes. */
export interface KeyClaim {
  /** Keeps the answer for every later request with the key; may be called again to replace it. */
  store(reply: Reply): void;
  /** Forgets the key, as when nothing was executed. No effect after `store`. */
  release(): void;
}

export class IdempotencyStore {
  readonly #entries = new Map<string, Entry>();

  constructor(
    private readonly clock: EmulatorClock,
    private readonly retentionMs: number,
  ) {}

  /** The kept answer, or undefined for a new key. Throws 400 for other parameters, 409 while the first one runs. */
  lookup(scope: string, key: string, fingerprint: string): { reply: Reply; requestId: string } | undefined {
    const entry = this.#find(scope, key);
    if (entry === undefined) return undefined;
    if (entry.fingerprint !== fingerprint) throw keyMismatch(key);
    if (entry.reply === undefined) throw keyInUse(key);
    return { reply: entry.reply, requestId: entry.requestId };
  }

  /** Takes the key. Another request may have come first since the lookup: then 409, or 400. */
  claim(scope: string, key: string, fingerprint: string, requestId: string): KeyClaim {
    const found = this.#find(scope, key);
    if (found !== undefined) throw found.fingerprint === fingerprint ? keyInUse(key) : keyMismatch(key);
    const entry: Entry = { fingerprint, requestId, startedAt: this.clock.now(), reply: undefined };
    const name = storeName(scope, key);
    this.#entries.set(name, entry);
    return {
      store: (reply) => {
        entry.reply = reply;
      },
      release: () => {
        if (entry.reply === undefined && this.#entries.get(name) === entry) this.#entries.delete(name);
      },
    };
  }

  /** How many keys are remembered now. */
  get size(): number {
    for (const [name, entry] of this.#entries) if (this.#isPruned(entry)) this.#entries.delete(name);
    return this.#entries.size;
  }

  #find(scope: string, key: string): Entry | undefined {
    const name = storeName(scope, key);
    const entry = this.#entries.get(name);
    if (entry === undefined || !this.#isPruned(entry)) return entry;
    this.#entries.delete(name);
    return undefined;
  }

  /** A request still running is never forgotten. */
  #isPruned(entry: Entry): boolean {
    return entry.reply !== undefined && this.clock.now() - entry.startedAt >= this.retentionMs;
  }
}

const storeName = (scope: string, key: string) => `${scope}\n${key}`;
