/** How fast messages go out on a link: as the client's credit allows, slowed down or silenced by a fault. */
import type { AmqpFaults, Place } from './faults';
import type { Room } from './room';

export interface FlowOptions {
  readonly room: Room;
  readonly place: Place;
  readonly faults: AmqpFaults;
  /** Sends one, for which there is room. Answers whether there was one. */
  readonly sendNext: () => boolean;
}

export class Flow {
  private resting: NodeJS.Timeout | undefined;
  private stalled = false;

  constructor(private readonly options: FlowOptions) {}

  get isSilent(): boolean {
    const { faults, place } = this.options;
    return this.stalled || faults.isSilent(place);
  }

  pump(): void {
    const { room, faults, sendNext } = this.options;
    if (this.isSilent || this.resting !== undefined) return;
    while (room.isThere) {
      if (!sendNext()) return;
      if (faults.delayMs > 0) {
        this.rest(faults.delayMs);
        return;
      }
    }
  }

  drain(): void {
    if (this.isSilent) return;
    this.pump();
    this.options.room.drain();
  }

  stall(): void {
    this.stalled = true;
  }

  stop(): void {
    clearTimeout(this.resting);
  }

  private rest(milliseconds: number): void {
    this.resting = setTimeout(() => {
      this.resting = undefined;
      this.pump();
    }, milliseconds);
  }
}
