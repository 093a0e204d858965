/** What a source gives to the screenplay: what its stack declares, brought up on this machine, and its own faults. */
import type { Stage } from '../stage';
import type { OpenOptions, Parts, Published, SourceName } from './parts';

export interface LocalSource<P extends Parts> {
  readonly name: SourceName;
  /** Reads what the stack declares and brings it up. Rejects in words when it cannot; nothing stays up then. */
  open(options: OpenOptions): Promise<P>;
  publish(lines: readonly Uint8Array[], parts: P): Promise<Published>;
  /** Starts the workers, publishes every line of the stage, and breaks things meanwhile. Answers what is looked at once everything has settled. */
  play(stage: Stage<P>): Promise<(() => Promise<void>) | undefined>;
}
