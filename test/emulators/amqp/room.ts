/** How many more messages a link may be given. The library queues what has no credit yet, and would take 2,048 of them. */
import type { Sender } from 'rhea';

/** What the library's typings leave out. */
interface Counted {
  readonly delivery_count: number;
  readonly credit: number;
}

export class Room {
  private handed: number;

  constructor(private readonly sender: Sender) {
    this.handed = this.counted.delivery_count;
  }

  /** Whether the client gave credit for one more, and the session can take it. */
  get isThere(): boolean {
    return this.sender.is_open() && this.handed < this.limit && this.sender.sendable();
  }

  /** Call it for each message that the sender is given. */
  use(): void {
    this.handed += 1;
  }

  /** Gives the rest of the credit back. */
  drain(): void {
    this.handed = this.limit;
    this.sender.set_drained(true);
  }

  /** The delivery count at which the credit ends. */
  private get limit(): number {
    return this.counted.delivery_count + this.counted.credit;
  }

  private get counted(): Counted {
    return this.sender as unknown as Counted;
  }
}
