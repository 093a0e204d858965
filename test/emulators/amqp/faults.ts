/** What goes wrong in production, armed by tests. Nothing goes wrong by itself. */

export interface Place {
  /** Absent: every hub. */
  readonly hub?: string;
  /** Absent: every partition. */
  readonly partition?: string;
}

/** What a fault does to a send. */
export type SendFault = 'lose-ack' | 'busy';

interface Armed {
  readonly what: SendFault;
  readonly place: Place;
  left: number;
}

export class AmqpFaults {
  private readonly armed: Armed[] = [];
  private readonly silenced = new Set<Place>();
  private tokensRefusedUntil = 0;
  /** Delay of each answer to a send and of each event, in milliseconds. */
  delayMs = 0;

  constructor(
    private readonly now: () => number,
    private readonly wake: () => void,
    private readonly act: { dropSockets(): number; detach(place: Place): number },
  ) {}

  /** Accepts and keeps the next sends, then cuts the connection instead of saying so: the client sends again. */
  loseAck(times = 1, place: Place = {}): void {
    this.armed.push({ what: 'lose-ack', place, left: times });
  }

  /** Refuses the next sends with `com.microsoft:server-busy`. */
  busy(times = 1, place: Place = {}): void {
    this.armed.push({ what: 'busy', place, left: times });
  }

  /** Links to these partitions stay open and send nothing, until the answer is called. */
  silence(place: Place = {}): () => void {
    this.silenced.add(place);
    return () => {
      this.silenced.delete(place);
      this.wake();
    };
  }

  /** Every token is refused for this long. */
  refuseTokens(milliseconds: number): void {
    this.tokensRefusedUntil = this.now() + milliseconds;
  }

  /** Cuts every connection; answers how many. */
  dropSockets(): number {
    return this.act.dropSockets();
  }

  /** Closes consumers' links as the service does when it moves a partition; answers how many. */
  detach(place: Place = {}): number {
    return this.act.detach(place);
  }

  /** Slows every send and every event down; 0 ends it. */
  slow(milliseconds: number): void {
    this.delayMs = milliseconds;
  }

  get refusesTokens(): boolean {
    return this.now() < this.tokensRefusedUntil;
  }

  isSilent(place: Required<Place>): boolean {
    return [...this.silenced].some((each) => covers(each, place));
  }

  /** The fault that strikes this send, once. */
  takeSend(hub: string): SendFault | undefined {
    const found = this.armed.find(({ place, left }) => left > 0 && (place.hub ?? hub) === hub);
    if (found === undefined) return undefined;
    found.left -= 1;
    return found.what;
  }
}

export function covers(fault: Place, place: Required<Place>): boolean {
  return (fault.hub ?? place.hub) === place.hub && (fault.partition ?? place.partition) === place.partition;
}
