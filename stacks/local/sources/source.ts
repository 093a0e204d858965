/** What a source gives to the screenplay: what its stack declares, brought up on this machine, and its own faults. */
import type { Client } from 'pg';
import type { StripeEmulator } from '../../../test/emulators/stripe';
import type { Screen } from '../screen';
import type { Stage } from '../stage';

export const SOURCE_NAMES = ['kinesis'] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];

/** A container as the stack declares it, with every reference resolved to the local parts. */
export interface Container {
  readonly name: string;
  readonly command: readonly string[];
  /** All that the process is given. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A login at the ledger's door. */
export interface Login {
  readonly user: string;
  /** Absent: it was let in. */
  readonly refused?: string;
}

/** The local parts of one source. */
export interface Parts {
  readonly stripe: StripeEmulator;
  /** Runs before the workers and must succeed. */
  readonly migrate: Container;
  readonly worker: Container;
  /** For people, with `--keep`. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** Logins with a token, in order. */
  readonly logins: readonly Login[];
  /** The judge's own way to the ledger's tables: past every door and fault. */
  ledgerClient(): Promise<Client>;
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly screen: Screen;
  /** For files of this source's run; exists. */
  readonly folder: string;
  /** A template to run instead of the one that the stack gives. */
  readonly template: string | undefined;
}

export interface Published {
  /** The lines that the stream accepted, in the order in which they were given. */
  readonly accepted: readonly Uint8Array[];
  /** What it did not take, in words: too large for a record, say. These are no part of the stream. */
  readonly refused: readonly string[];
}

export interface LocalSource<P extends Parts> {
  readonly name: SourceName;
  /** Reads what the stack declares and brings it up. Rejects in words when it cannot; nothing stays up then. */
  open(options: OpenOptions): Promise<P>;
  publish(lines: readonly Uint8Array[], parts: P): Promise<Published>;
  /** Starts the workers, publishes every line of the stage, and breaks things meanwhile. Answers what is looked at once everything has settled. */
  play(stage: Stage<P>): Promise<(() => Promise<void>) | undefined>;
}
