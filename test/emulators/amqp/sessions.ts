/** Sessions of a queue: who holds each, until when, and the state that clients keep with it. */

export interface SessionHolder {
  /** The lock of the session is lost. */
  lost(): void;
}

interface Session {
  holder: SessionHolder | undefined;
  lockedUntil: number;
  state: Buffer | undefined;
}

export class Sessions {
  private readonly sessions = new Map<string, Session>();

  constructor(
    private readonly lockMs: number,
    private readonly now: () => number,
  ) {}

  isFree(id: string): boolean {
    return this.sessions.get(id)?.holder === undefined;
  }

  accept(id: string, holder: SessionHolder): void {
    const session = this.of(id);
    session.holder = holder;
    session.lockedUntil = this.now() + this.lockMs;
  }

  /** Undefined: nobody holds it. */
  lockedUntil(id: string): number | undefined {
    const session = this.sessions.get(id);
    return session?.holder === undefined ? undefined : session.lockedUntil;
  }

  /** Answers until when; undefined when nobody holds it. */
  renew(id: string): number | undefined {
    const session = this.sessions.get(id);
    if (session?.holder === undefined) return undefined;
    session.lockedUntil = this.now() + this.lockMs;
    return session.lockedUntil;
  }

  /** Answers whether it was the holder. */
  release(id: string, holder: SessionHolder): boolean {
    const session = this.sessions.get(id);
    if (session?.holder !== holder) return false;
    session.holder = undefined;
    return true;
  }

  state(id: string): Buffer | undefined {
    return this.sessions.get(id)?.state;
  }

  setState(id: string, state: Buffer | undefined): void {
    this.of(id).state = state;
  }

  /** Takes the sessions whose locks have run out from their holders; answers their ids. */
  expire(): string[] {
    const expired = [...this.sessions].filter(
      ([, { holder, lockedUntil }]) => holder !== undefined && lockedUntil <= this.now(),
    );
    for (const [, session] of expired) {
      const { holder } = session;
      // First, so that its link, which ends now, releases nothing.
      session.holder = undefined;
      holder?.lost();
    }
    return expired.map(([id]) => id);
  }

  /** When the next lock runs out. */
  get nextExpiry(): number {
    const held = [...this.sessions.values()].filter(({ holder }) => holder !== undefined);
    return Math.min(Number.POSITIVE_INFINITY, ...held.map(({ lockedUntil }) => lockedUntil));
  }

  private of(id: string): Session {
    const found = this.sessions.get(id) ?? { holder: undefined, lockedUntil: 0, state: undefined };
    this.sessions.set(id, found);
    return found;
  }
}
