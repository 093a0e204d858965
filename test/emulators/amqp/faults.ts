/** What goes wrong in production, armed by tests. Nothing goes wrong by itself. */

/** Names are compared as the service does: in any case. */
export interface Place {
  /** Name of a hub or of a queue. Absent: every one. */
  readonly entity?: string;
  /** Partition of a hub. Absent: every one. */
  readonly partition?: string;
}

/** What a fault does to a send. */
export type SendFault = 'lose-ack' | 'busy';
type Fault = SendFault | 'lose-settlement';

interface Armed {
  readonly what: Fault;
  readonly place: Place;
  left: number;
}

/** What only the broker itself can do. */
export interface FaultActions {
  wake(): void;
  dropSockets(): number;
  detach(place: Place): number;
  stall(place: Place): number;
}

export class AmqpFaults {
  private armed: Armed[] = [];
  private readonly silenced = new Set<Place>();
  private tokensRefusedUntil = 0;
  private linksRefusedUntil = 0;
  private delay = 0;

  constructor(
    private readonly now: () => number,
    private readonly actions: FaultActions,
  ) {}

  /**
   * Accepts and keeps the next sends, then cuts the connection instead of saying so: the client sends again. It may take
   * its whole try timeout to notice.
   */
  loseAck(times = 1, place: Place = {}): void {
    this.armed.push({ what: 'lose-ack', place, left: times });
  }

  /** Refuses the next sends with `com.microsoft:server-busy`, and keeps nothing of them. */
  busy(times = 1, place: Place = {}): void {
    this.armed.push({ what: 'busy', place, left: times });
  }

  /** Applies the next settlements of a queue's messages, then cuts the connection instead of saying so. */
  loseSettlement(times = 1, place: Place = {}): void {
    this.armed.push({ what: 'lose-settlement', place, left: times });
  }

  /** Links here stay open and send nothing, new ones too, until the answer is called. */
  silence(place: Place = {}): () => void {
    this.silenced.add(place);
    return () => {
      this.silenced.delete(place);
      this.actions.wake();
    };
  }

  /** Links that are open here now stay open and never send again; a new one is not affected. Answers how many. */
  stall(place: Place = {}): number {
    return this.actions.stall(place);
  }

  /** Every token is refused for this long, as a wrong key is. */
  refuseTokens(milliseconds: number): void {
    this.tokensRefusedUntil = this.now() + milliseconds;
  }

  /** Tokens are good, and every new link is refused for this long: what a role that is not assigned yet looks like. */
  refuseLinks(milliseconds: number): void {
    this.linksRefusedUntil = this.now() + milliseconds;
  }

  /** Cuts every connection without a word; answers how many. */
  dropSockets(): number {
    return this.actions.dropSockets();
  }

  /** Closes receivers' links as the service does when it moves an entity; answers how many. */
  detach(place: Place = {}): number {
    return this.actions.detach(place);
  }

  /** Milliseconds by which each answer to a send comes later, and which a link takes for each message; 0 ends it. */
  slow(milliseconds: number): void {
    this.delay = milliseconds;
  }

  get delayMs(): number {
    return this.delay;
  }

  get refusesTokens(): boolean {
    return this.now() < this.tokensRefusedUntil;
  }

  get refusesLinks(): boolean {
    return this.now() < this.linksRefusedUntil;
  }

  isSilent(at: Place): boolean {
    return [...this.silenced].some((place) => covers(place, at));
  }

  /** The fault that strikes this send; it is used up by it. */
  takeSend(at: Place): SendFault | undefined {
    return this.takeFault(at, ['lose-ack', 'busy']) as SendFault | undefined;
  }

  /** Whether the answer to this settlement is lost; the fault is used up by it. */
  takeSettlement(at: Place): boolean {
    return this.takeFault(at, ['lose-settlement']) !== undefined;
  }

  private takeFault(at: Place, kinds: readonly Fault[]): Fault | undefined {
    const found = this.armed.find(({ what, place }) => kinds.includes(what) && covers(place, at));
    if (found === undefined) return undefined;
    found.left -= 1;
    this.armed = this.armed.filter(({ left }) => left > 0);
    return found.what;
  }
}

export function covers(place: Place, at: Place): boolean {
  const same = (wanted: string | undefined, name: string | undefined) =>
    wanted === undefined || wanted.toLowerCase() === name?.toLowerCase();
  return same(place.entity, at.entity) && same(place.partition, at.partition);
}
